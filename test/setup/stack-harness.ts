/** Stacks of a test: a home directory, clients as real processes, and checks of what they leave. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { readConfig } from '../../src/config.js';
import type { StackHandle } from '../../src/supervisor/index.js';

const program = fileURLToPath(new URL('stack-program.mjs', import.meta.url));

/** Only the server of a stack has them. */
export const temporalArguments = '--db-filename temporal.db';

interface StackEvent {
  readonly role: string;
  readonly what: string;
  readonly pid: number;
}

export interface StackClient {
  readonly process: ChildProcess;
  readonly ready: Promise<Pick<StackHandle, 'temporalAddress' | 'sandboxApiUrl' | 'sandboxApiKey' | 'bridgeUrl'>>;
  readonly exited: Promise<number | null>;
  stderr(): string;
  /** Leaves the stack, as a command does at its end. */
  leave(): Promise<void>;
}

export interface StackHome {
  readonly home: string;
  events(): StackEvent[];
  /** The last started process of a role that has not recorded its end. */
  pidOf(role: string): number | undefined;
  temporalPid(): number | undefined;
  /** Processes of the stack that are alive. */
  alive(): number[];
  client(environment?: Readonly<Record<string, string>>): StackClient;
  /** Ends the remaining processes and removes the directory. */
  close(): Promise<void>;
}

export function createStackHome(base: Readonly<Record<string, string>> = {}): StackHome {
  const home = mkdtempSync(join(tmpdir(), 'sandflow-stack-'));
  const clients: StackClient[] = [];
  const { cacheDirectory } = readConfig();

  const events = () =>
    existsSync(join(home, 'events.jsonl'))
      ? readFileSync(join(home, 'events.jsonl'), 'utf8')
          .trim()
          .split('\n')
          .map((line) => JSON.parse(line) as StackEvent)
      : [];
  const temporalPid = () => {
    // Its arguments name no home, because it runs in the folder of its database. Its environment does.
    const lines = listProcesses(['-A', 'e', '-ww', '-o', 'pid=,args=']);
    const line = lines.find((text) => text.includes(home) && text.includes(temporalArguments));
    return line === undefined ? undefined : Number.parseInt(line, 10);
  };
  const alive = () => {
    const noted = events().map(({ pid }) => pid);
    return [...new Set([...noted, temporalPid()])].filter((pid) => pid !== undefined).filter(isAlive);
  };

  const client = (environment: Readonly<Record<string, string>> = {}): StackClient => {
    const child = spawn(process.execPath, [program, 'client'], {
      env: { ...process.env, SANDFLOW_HOME: home, SANDFLOW_CACHE: cacheDirectory, ...base, ...environment },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    let stderr = '';
    child.stderr.on('data', (chunk: Buffer) => {
      stderr += chunk.toString();
    });
    const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
    const ready = new Promise<StackHandle>((resolve, reject) => {
      createInterface({ input: child.stdout }).once('line', (line) => resolve(JSON.parse(line)));
      void exited.then((code) => reject(new Error(`the client ended with ${code}: ${stderr}`)));
    });
    ready.catch(() => undefined);
    const leave = async () => {
      child.stdin.end();
      await exited;
    };
    const created = { process: child, ready, exited, stderr: () => stderr, leave };
    clients.push(created);
    return created;
  };

  const close = async () => {
    for (const { process: child } of clients) child.kill('SIGKILL');
    const supervisors = events().filter(({ role }) => role === 'supervisor');
    for (const { pid } of supervisors) if (isAlive(pid)) signalIfAlive(pid, 'SIGKILL');
    await expect.poll(alive).toEqual([]);
    rmSync(home, { recursive: true, force: true });
  };

  const pidOf = (role: string) => events().findLast((event) => event.role === role && event.what === 'started')?.pid;
  return { home, events, pidOf, temporalPid, alive, client, close };
}

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  try {
    // An ended process that was not waited for still has its id.
    return listProcesses(['-o', 'stat=', '-p', String(pid)])[0]?.startsWith('Z') === false;
  } catch {
    // It has ended meanwhile: `ps` fails if it finds nothing.
    return false;
  }
}

/** The lines of `ps`, which are long and many on a busy machine. */
export function listProcesses(args: readonly string[]): string[] {
  return execFileSync('ps', args, { encoding: 'utf8', maxBuffer: Number.POSITIVE_INFINITY }).split('\n');
}

/** Does nothing if the process has ended. */
export function signalIfAlive(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}
