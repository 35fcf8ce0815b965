/** One running sandbox: a process outside, on which all of its processes depend, and the commands inside. */
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { sandboxHome } from '../disk/directories.js';
import { type CommandSpec, sandboxEnvironment } from '../isolation/launch.js';
import { endProcessesMatching } from '../processes/end-processes.js';
import { type ProcessEntry, readProcessTable } from '../processes/table.js';
import type { ShellExit, StartedShell } from '../shell/shells.js';
import { createCommands } from './commands.js';
import { shownPipes } from './init.js';
import { processesInside } from './inside.js';
import type { PipeMaker } from './pipe-maker.js';
import { openShellPipes, type ShellPipes } from './shell-pipes.js';
import { startScript } from './start-script.js';

/** A sandbox starts a command within milliseconds. One that takes this long has been stopped from inside. */
const startTimeoutMs = 60_000;
const maxStatusCharacters = 1_000;
const maxProblemCharacters = 1_000;

export type RunningMachine = ReturnType<typeof createRunningMachine>;

interface MachineOptions {
  readonly sandboxId: string;
  /** Bubblewrap, which has just been started and has a pid. */
  readonly child: ChildProcessWithoutNullStreams;
  /** Where the pipes of commands can be, the best first. */
  readonly pipes: readonly PipesPlace[];
}

export interface PipesPlace {
  /** The sandbox sees it. */
  readonly folder: string;
  readonly maker: PipeMaker;
}

export function createRunningMachine({ sandboxId, child, pipes: places }: MachineOptions) {
  const { pid = 0 } = child;
  let [isGone, wasEnded, problem] = [false, false, ''];
  let lastNumber = 0;
  const gone = new Promise<void>((resolve) => {
    child.once('exit', () => {
      isGone = true;
      resolve();
    });
  });
  // Later, another process may have its pid.
  const inside = (table?: readonly ProcessEntry[]) => (isGone ? [] : processesInside(pid, table));
  const commands = createCommands(inside);
  child.stdin.on('error', () => undefined);
  child.stdout.resume();
  child.stderr.on('data', (chunk: Buffer) => {
    problem = `${problem}${chunk}`.slice(0, maxProblemCharacters);
  });

  const kill = (): void => {
    child.stdin.destroy();
    child.kill('SIGKILL');
  };

  const shellOf = (pipes: ShellPipes, session: number, exited: Promise<ShellExit>): StartedShell => {
    let wasCut = false;
    let hasExited = false;
    const { stdin, stdout, stderr } = pipes;
    void exited.then(() => {
      hasExited = true;
      stdin.destroy();
    });
    return {
      stdin,
      stdout,
      stderr,
      exited,
      closed: Promise.all([exited, pipes.outputClosed]).then(() => undefined),
      async end() {
        // Later, the number of the session could be that of another process.
        if (hasExited || isGone) return;
        wasCut = true;
        const find = commands.search(session);
        await endProcessesMatching({ find, groupsWithoutTable: [], monitors: new Set() });
      },
      wasEnded: () => wasCut || wasEnded,
      settle: () => undefined,
    };
  };

  return {
    gone,
    isGone: () => isGone,
    commands,
    /** True once its processes were told to end. */
    wasEnded: () => wasEnded,
    /** What bubblewrap has printed. */
    problem: () => problem.trim(),
    /**
     * Starts a command.
     * @returns undefined if the sandbox ended before it started the command
     * @throws MachineError `bad_command`, `isolation_unavailable`
     */
    async start(spec: CommandSpec, limits: string): Promise<StartedShell | undefined> {
      lastNumber += 1;
      const number = lastNumber;
      let made: MadePipes;
      let script: string;
      let pipes: ShellPipes;
      try {
        made = await makePipesIn(places, number);
        const variables = sandboxEnvironment(sandboxId, sandboxHome, spec);
        script = startScript(spec, { at: shownPipes(made.name), variables, limits });
        pipes = await openShellPipes(made.folder);
      } catch (error) {
        // Its folder is removed.
        if (isGone) return undefined;
        throw error;
      }
      commands.add(number);
      const report = watchStatus(pipes.status, gone);
      const exited = report.exited.then((exitCode): ShellExit => {
        commands.remove(number);
        pipes.status.destroy();
        return { exitCode, signal: exitCode === null ? 'SIGKILL' : null };
      });
      pipes.script.end(script);
      child.stdin.write(`${made.name}\n`);
      const timeout = new AbortController();
      const tooLate = delay(startTimeoutMs, undefined, { signal: timeout.signal, ref: false }).then(
        kill,
        () => undefined,
      );
      const session = await Promise.race([report.started, tooLate.then(() => report.started)]);
      timeout.abort();
      if (session === undefined) {
        await pipes.destroy();
        await exited;
        return undefined;
      }
      commands.begun(number, session, spec.commandId);
      await pipes.opened();
      return shellOf(pipes, session, exited);
    },
    /** Ends the sandbox, and returns when its processes are gone. Its commands then have no exit code. Safe to repeat. */
    async end(): Promise<void> {
      const left = new Set(inside().map(keyOf));
      kill();
      await gone;
      const find = () => (readProcessTable() ?? []).filter((entry) => left.has(keyOf(entry)));
      await endProcessesMatching({ find, groupsWithoutTable: [], monitors: new Set() }, { graceMs: 0 });
    },
    /** Notes that the sandbox was told to end, so that its commands have no exit code. */
    markEnded: () => {
      wasEnded = true;
    },
    /** Ends the sandbox: the kernel ends all of its processes with the first one. Safe to repeat. */
    kill() {
      wasEnded = true;
      kill();
    },
  };
}

interface MadePipes {
  readonly folder: string;
  /** The name of the folder in the sandbox. */
  readonly name: string;
}

/** Makes the pipes of a command in the first place where that works: memory may be full, or have been cleared. */
async function makePipesIn(places: readonly PipesPlace[], number: number): Promise<MadePipes> {
  let failure: unknown;
  for (const [place, { folder: parent, maker }] of places.entries()) {
    const folder = join(parent, String(number));
    try {
      await maker.make(folder);
      return { folder, name: `${place}/${number}` };
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

function keyOf({ pid, startTime }: ProcessEntry): string {
  return `${pid} ${startTime}`;
}

/** Reads what a script reports. Its processes can forge that, but only about themselves. */
function watchStatus(status: Readable, gone: Promise<void>) {
  const started = deferred<number | undefined>();
  const exited = deferred<number | null>();
  let text = '';
  const read = (): void => {
    const session = /^started (\d{1,9})\n/m.exec(text)?.[1];
    if (session !== undefined) started.resolve(Number(session));
    const exitCode = /^ended (\d{1,3})\n/m.exec(text)?.[1];
    if (exitCode !== undefined) exited.resolve(Number(exitCode));
  };
  const finish = (): void => {
    started.resolve(undefined);
    exited.resolve(null);
  };
  status.on('data', (chunk: Buffer) => {
    if (text.length < maxStatusCharacters) text += chunk.toString('latin1');
    read();
  });
  status.once('close', finish);
  // A pipe that no script has opened does not end. What a script has written before the end is read first.
  void gone.then(() => setImmediate(() => setImmediate(finish)));
  return { started: started.promise, exited: exited.promise };
}

function deferred<Value>() {
  let resolve: (value: Value) => void = () => undefined;
  const promise = new Promise<Value>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
