/** Runs programs as a user that the machine does not know, as orchestrators do. Only root may do that. */
import { execFileSync, spawn } from 'node:child_process';
import { join } from 'node:path';
import type { TestContext } from 'vitest';
import { repository } from '../unit/house/source-imports.js';

/** A user without a name and without a home, such as OpenShift gives to a container. */
export const otherUser = 10_001_234;
/** A group that only the processes of `runAsOther` are in, as `fsGroup` of Kubernetes. */
export const sharedGroup = 4_711;

/** Skips a test, with the reason, where nobody may become another user. */
export function requireRoot(context: TestContext): void {
  if (process.getuid?.() !== 0) context.skip('only root may run a program as another user');
  try {
    execFileSync('setpriv', ['--version'], { stdio: 'ignore' });
  } catch {
    context.skip('setpriv is missing: it belongs to util-linux');
  }
}

export interface Ended {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

interface RunOptions {
  /** All that the program sees besides PATH. */
  readonly env?: Readonly<Record<string, string>>;
  readonly groups?: readonly number[];
  readonly cwd?: string;
}

/** Starts node as the other user. */
function spawnAsOther(args: readonly string[], { env = {}, groups = [], cwd = '/' }: RunOptions = {}) {
  const membership = groups.length > 0 ? ['--groups', groups.join(',')] : ['--clear-groups'];
  const become = ['--reuid', String(otherUser), '--regid', String(otherUser), ...membership, '--'];
  return spawn('setpriv', [...become, process.execPath, ...args], {
    env: { PATH: process.env.PATH ?? '', ...env },
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Runs node as the other user until it ends. */
export async function runAsOther(args: readonly string[], options?: RunOptions): Promise<Ended> {
  const child = spawnAsOther(args, options);
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) child[name].on('data', (chunk) => (output[name] += String(chunk)));
  const exitCode = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { exitCode, ...output };
}

/** A built file of this repository, as the other user imports it. */
export const built = (path: string) => join(repository, 'dist', path);
