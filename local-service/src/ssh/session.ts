/** One session of a connection. Each request of the client for a shell or a command starts a shell in the sandbox. */
import type { Socket } from 'node:net';
import type { ServerChannel, Session } from 'ssh2';
import { MachineError } from '../machine/machine-error.js';
import type { InteractiveShell, ShellSpec, Terminal } from '../machine/shell/interactive-shell.js';
import { createChannelOutput } from './channel-output.js';

interface SessionOptions {
  readonly socket: Socket;
  readonly openShell: (spec: ShellSpec) => Promise<InteractiveShell>;
  /** Receives failures that the client did not cause. */
  readonly onFailure: (cause: unknown) => void;
}

export interface ServedSession {
  /** Closes the channel and returns when the processes are gone. Safe to repeat. */
  end(): Promise<void>;
}

/** The exit code that OpenSSH reports for a command that could not start. */
const notStartedExitCode = 255;
const endingSignals = ['HUP', 'INT', 'QUIT', 'TERM', 'KILL'];
/** The characters that make a terminal send the signal. */
const terminalSignals = new Map([
  ['INT', '\x03'],
  ['QUIT', '\x1c'],
]);

/**
 * Serves `shell` and `exec`, with a terminal if the client requested it before. Variables, X11, the agent and
 * subsystems (and so sftp) are refused. A changed window size is not passed on.
 */
export function serveSession(session: Session, options: SessionOptions): ServedSession {
  const gone = new AbortController();
  let terminal: Terminal | undefined;
  let shell: InteractiveShell | undefined;
  let finished: Promise<void> = Promise.resolve();

  const endShell = (): Promise<void> => shell?.end().catch(options.onFailure) ?? Promise.resolve();

  const work = async (channel: ServerChannel, command?: string): Promise<void> => {
    try {
      shell = await options.openShell({ command, terminal });
    } catch (cause) {
      refuse(channel, cause, options.onFailure);
      return;
    }
    const { stdin, stdout, stderr, exited } = shell;
    // Input that the shell no longer takes is dropped, so that it does not fill the window.
    stdin.once('error', () => channel.resume());
    channel.pipe(stdin);
    const output = createChannelOutput(channel, options.socket, gone.signal);
    const pumps = [output.pump(stdout, 'stdout'), output.pump(stderr, 'stderr')];
    gone.signal.addEventListener('abort', endShell, { once: true });
    if (gone.signal.aborted) await endShell();
    await Promise.all(pumps);
    const { exitCode, signal } = await exited;
    gone.signal.removeEventListener('abort', endShell);
    if (gone.signal.aborted) return await endShell();
    if (signal === null) channel.exit(exitCode ?? notStartedExitCode);
    else channel.exit(signal.replace(/^SIG/, ''), false, '');
    channel.end();
  };

  const start = (accept: () => ServerChannel | undefined, command?: string): void => {
    // `accept` returns nothing if the session already has a shell.
    const channel = accept();
    if (!channel) return;
    channel.on('error', () => gone.abort());
    channel.stderr.on('error', () => gone.abort());
    finished = work(channel, command).catch(options.onFailure);
  };

  const end = async (): Promise<void> => {
    gone.abort();
    await finished;
  };

  session.on('pty', (accept, _reject, { term, cols, rows }) => {
    terminal = { type: terminalType(term), columns: size(cols, 80), rows: size(rows, 24) };
    accept?.();
  });
  session.on('shell', (accept) => start(accept));
  session.on('exec', (accept, _reject, { command }) => start(accept, command));
  session.on('signal', (accept, reject, { name }) => {
    const key = terminal && terminalSignals.get(name);
    if (key !== undefined && shell) shell.stdin.write(key);
    else if (shell && endingSignals.includes(name)) void endShell();
    else return reject?.();
    accept?.();
  });
  session.on('close', () => void end());
  return { end };
}

/** A client without its own terminal sends 0. */
function size(requested: number, otherwise: number): number {
  return Number.isInteger(requested) && requested >= 1 && requested <= 10_000 ? requested : otherwise;
}

function terminalType(requested: unknown): string {
  return typeof requested === 'string' && /^[A-Za-z0-9.+_-]{1,64}$/.test(requested) ? requested : 'dumb';
}

function refuse(channel: ServerChannel, cause: unknown, onFailure: (cause: unknown) => void): void {
  if (!(cause instanceof MachineError)) onFailure(cause);
  const reason = cause instanceof MachineError ? cause.message : 'The shell could not be started.';
  channel.stderr.write(`${reason}\r\n`, () => {
    channel.exit(notStartedExitCode);
    channel.end();
  });
}
