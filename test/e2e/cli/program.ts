/** The built command line as separate processes, with one home per test. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, vi } from 'vitest';
import { readConfig } from '../../../src/config.js';
import { listProcesses, signalIfAlive } from '../../setup/stack-harness.js';

const main = fileURLToPath(new URL('../../../dist/src/cli/main.js', import.meta.url));

/** Settings of the person who runs the tests, which must not reach the program. */
const foreign = /^(?:SANDBOX_|SANDFLOW_|TEMPORAL_)/;

export interface Ended {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface Started {
  readonly process: ChildProcess;
  stdout(): string;
  stderr(): string;
  readonly ended: Promise<Ended>;
}

/** A program in a terminal: `stdout` has all that it wrote there. */
export interface InTerminal extends Started {
  /** Types it, such as `\u0003` for Ctrl-C. */
  type(text: string): void;
  /** The terminal tells the program, as a window does. */
  resize(columns: number): void;
}

export interface CliHome {
  readonly home: string;
  /** @param stdout a descriptor that gets the output instead of the test. */
  start(args: readonly string[], env?: Readonly<Record<string, string>>, stdout?: number): Started;
  run(args: readonly string[], env?: Readonly<Record<string, string>>, stdout?: number): Promise<Ended>;
  /** Starts it in a pseudo-terminal of 80 columns, with the `script` of util-linux. */
  startInTerminal(args: readonly string[], env?: Readonly<Record<string, string>>): InTerminal;
  /** Processes that belong to this home, by their command line. */
  alive(holding?: string): number[];
  /** The output of each program of this home so far and how it ended, for the message of a failed test. */
  said(): string;
  /** Stops the stack of this home, checks that nothing is left, and removes the home. */
  close(): Promise<void>;
}

export function createCliHome(): CliHome {
  const home = mkdtempSync(join(tmpdir(), 'sandflow-e2e-'));
  const { cacheDirectory } = readConfig();
  const inherited = Object.fromEntries(Object.entries(process.env).filter(([name]) => !foreign.test(name)));
  const children: ChildProcess[] = [];
  const said: (() => string)[] = [];

  const optionsOf = (env: Readonly<Record<string, string>>) => ({
    cwd: home,
    env: { ...inherited, SANDFLOW_HOME: home, SANDFLOW_CACHE: cacheDirectory, ...env },
  });
  const start: CliHome['start'] = (args, env = {}, stdoutTo = undefined) =>
    follow(
      args,
      spawn(process.execPath, [main, ...args], { ...optionsOf(env), stdio: ['ignore', stdoutTo ?? 'pipe', 'pipe'] }),
    );
  const follow = (args: readonly string[], child: ChildProcess): Started => {
    children.push(child);
    const output = { stdout: '', stderr: '' };
    child.stdout?.on('data', (chunk: Buffer) => {
      output.stdout += chunk.toString();
    });
    child.stderr?.on('data', (chunk: Buffer) => {
      output.stderr += chunk.toString();
    });
    said.push(() => {
      const end = child.exitCode ?? child.signalCode ?? 'still at work';
      return `${args.join(' ')} (${end}):\n${output.stdout.slice(-2_000)}${output.stderr.slice(-2_000)}`;
    });
    const ended = new Promise<Ended>((resolve) => child.once('close', (exitCode) => resolve({ exitCode, ...output })));
    return { process: child, stdout: () => output.stdout, stderr: () => output.stderr, ended };
  };

  // Children of a stack have files of the home in their arguments; the supervisor has it as its working directory.
  const alive: CliHome['alive'] = (holding = '') => {
    return listProcesses(['-A', 'e', '-ww', '-o', 'pid=,stat=,args='])
      .filter((line) => line.includes(home) && line.includes(holding) && !/^\s*\d+\s+Z/.test(line))
      .map((line) => Number.parseInt(line, 10))
      .filter((pid) => pid !== process.pid);
  };

  return {
    home,
    start,
    run: (args, env, stdout) => start(args, env, stdout).ended,
    startInTerminal(args, env = {}) {
      const words = [process.execPath, main, ...args].map((word) => `'${word.replaceAll("'", `'\\''`)}'`);
      const line = `stty cols 80 rows 24; tty; exec ${words.join(' ')}`;
      const options = optionsOf({ SHELL: '/bin/sh', TERM: 'xterm', CI: '', ...env });
      const child = spawn('script', ['-qfec', line, '/dev/null'], { ...options, stdio: 'pipe' });
      const started = follow(args, child);
      return {
        ...started,
        type: (text) => child.stdin.write(text),
        resize(columns) {
          const [terminal = ''] = started.stdout().split('\r\n', 1);
          execFileSync('stty', ['-F', terminal, 'cols', `${columns}`]);
        },
      };
    },
    alive,
    said: () => said.map((tell) => tell()).join('\n'),
    async close() {
      for (const child of children) child.kill('SIGKILL');
      for (const pid of alive(' supervisor ')) signalIfAlive(pid, 'SIGTERM');
      await vi.waitFor(() => expect(alive(), 'nothing is left running').toEqual([]), {
        timeout: 120_000,
        interval: 200,
      });
      rmSync(home, { recursive: true, force: true });
    },
  };
}
