/**
 * The desktops of sandboxes: a display with a VNC server, and a window manager. They are processes of the sandbox, and
 * end with it. Only the sandbox itself and this service reach the VNC server, so it asks for no password.
 */
import { endedMeanwhile, MachineError } from '../machine-error.js';
import type { Shells, StartedShell } from '../shell/shells.js';

const display = ':1';
/** The port of the VNC server inside the sandbox. */
export const vncPort = 5901;
const vncServer = [
  `Xvnc ${display} -displayfd 1 -rfbport ${vncPort} -localhost -SecurityTypes None -AlwaysShared`,
  '-nolisten tcp -geometry 1280x800 -depth 24 -desktop Sandbox',
].join(' ');
const maxComplaintCharacters = 1_000;
/** Ends the group of this command: without its window manager, the display ends too, and the next call starts both. */
const endDisplay = 'kill 0';
const windowManager = `DISPLAY=${display} openbox >/dev/null 2>&1`;
const command = `${vncServer} | { read -r number || exit 1; echo ready; ${windowManager}; ${endDisplay}; }`;

export interface RunningDesktop {
  /** True while it needs no token. */
  readonly isPublic: () => boolean;
}

interface Desktop {
  readonly started: Promise<StartedShell>;
  isRunning: boolean;
  isPublic: () => boolean;
}

export function createDesktops(shells: Shells) {
  const desktops = new Map<string, Desktop>();

  const start = (sandboxId: string): Desktop => {
    const started = startDesktop(shells, sandboxId);
    const desktop: Desktop = { started, isRunning: false, isPublic: () => false };
    const forget = (): void => {
      if (desktops.get(sandboxId) === desktop) desktops.delete(sandboxId);
    };
    started.then(({ exited }) => {
      desktop.isRunning = true;
      void exited.then(forget);
    }, forget);
    desktops.set(sandboxId, desktop);
    return desktop;
  };

  const running = (sandboxId: string): Desktop | undefined => {
    const desktop = desktops.get(sandboxId);
    return desktop?.isRunning ? desktop : undefined;
  };

  return {
    /** @param isPublic asked at each use. Left out: it stays as it is, at first false */
    async open(sandboxId: string, isPublic?: () => boolean): Promise<void> {
      const desktop = desktops.get(sandboxId) ?? start(sandboxId);
      await desktop.started;
      desktop.isPublic = isPublic ?? desktop.isPublic;
    },
    running: (sandboxId: string): RunningDesktop | undefined => running(sandboxId),
    /** The variables with which a program shows its windows there. */
    variables: (sandboxId: string) => (running(sandboxId) ? { DISPLAY: display } : {}),
  };
}

/** Resolves when the display is there. */
async function startDesktop(shells: Shells, sandboxId: string): Promise<StartedShell> {
  const shell = await shells.start(sandboxId, { command });
  let complaint = '';
  shell.stderr.on('data', (chunk: Buffer) => {
    complaint = `${complaint}${chunk}`.slice(-maxComplaintCharacters);
  });
  shell.stdin.on('error', () => undefined);
  shell.stdin.end();
  const isReady = new Promise<boolean>((resolve) => {
    shell.stdout.once('data', () => resolve(true));
    void shell.exited.then(() => resolve(false));
  });
  void shell.exited.then(() => shell.settle());
  if (await isReady) {
    shell.stdout.resume();
    return shell;
  }
  if (shell.wasEnded()) throw endedMeanwhile();
  const reason = complaint.trim().split('\n').at(-1) || 'it printed no reason';
  throw new MachineError('no_desktop', `The desktop of the sandbox does not start: ${reason}`);
}
