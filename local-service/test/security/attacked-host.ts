/** Hosts to attack from inside a sandbox: one as this user, and for root one as a plain user too. */
import { type ChildProcessWithoutNullStreams, execFileSync, spawn } from 'node:child_process';
import { chmodSync, chownSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { removeTree } from '../../src/machine/disk/copy-tree.js';
import type { CommandSpec } from '../../src/machine/isolation/launch.js';
import type { CommandOutcome } from '../../src/machine/shell/run-command.js';

export const ownSandboxId = 'bx_abcd2345';
export const neighbourId = 'bx_efgh2345';
export const isRoot = process.getuid?.() === 0;
/** Any user except root, and not that of another run on this machine. It does not have to exist. */
export const plainUserId = 20_000 + Math.floor(Math.random() * 40_000);
const repository = fileURLToPath(new URL('../../..', import.meta.url));
const childScript = fileURLToPath(new URL('./host-child.mjs', import.meta.url));

/** An argument of `sleep` that no other process on this machine has. */
export function processMark(): string {
  return String(100_000_000 + Math.floor(Math.random() * 800_000_000));
}

export type ServiceUser = 'root' | 'a plain user';

/** Why no service of this user can be attacked here; undefined if one can. */
export function whyNot(user: ServiceUser): string | undefined {
  if (user === 'root') return isRoot ? undefined : 'this is not root';
  if (!isRoot) return undefined;
  try {
    execFileSync('setpriv', [...asPlainUser, process.execPath, '-e', `fs.accessSync(${JSON.stringify(childScript)})`], {
      stdio: 'ignore',
    });
    return undefined;
  } catch {
    return 'a plain user may not read this repository, or there is no setpriv';
  }
}

const asPlainUser = [`--reuid=${plainUserId}`, `--regid=${plainUserId}`, '--clear-groups'];
const tunScript = [
  'd=$(mktemp -d) && mount -t tmpfs none "$d" && mknod -m 666 "$d/tun" c 10 200',
  'mount --bind "$d/tun" /dev/net/tun; exec "$@"',
].join(' && ');
/** Most machines let everybody open the tun device. Otherwise the program after it gets another device in its own place; only as root. */
export const withOwnTun = ['unshare', '--mount', 'sh', '-c', tunScript, 'sh'] as const;

/** Replaces the content of a file of the machine for the child alone. */
const resolverScript = [
  'd=$(mktemp -d) && mount -t tmpfs none "$d" && echo "$1" > "$d/resolv.conf" && chmod 644 "$d/resolv.conf"',
  'mount --bind "$d/resolv.conf" "$(readlink -f /etc/resolv.conf)"; shift; exec "$@"',
].join(' && ');

const fileSystemScript = 'mount -t tmpfs -o "$1" none "$2"; shift 2; exec "$@"';

export interface AttackedHost {
  readonly directory: string;
  readonly isolation: string;
  /** The host's report about the network of its sandboxes. */
  readonly network: { readonly kind: string; readonly reason?: string };
  readonly limits: { readonly memory: string; readonly processes: string };
  readonly lacks: readonly string[];
  /** The root of its process tree. */
  readonly pid: number;
  run(sandboxId: string, command: string, more?: Partial<CommandSpec>): Promise<CommandOutcome>;
  call(method: string, ...args: unknown[]): Promise<unknown>;
  readonly ended: Promise<void>;
  /** Kills it like `kill -9`. */
  kill(): Promise<void>;
}

export interface AttackedOptions {
  readonly isolation?: 'auto' | 'bubblewrap' | 'plain';
  readonly programPath?: string;
  readonly network?: unknown;
  /** The size of every sandbox. */
  readonly size?: { readonly vcpu: number; readonly memoryGB: number };
  readonly diskReserveBytes?: number;
  readonly diskReserveFiles?: number;
  /** Mount options of a tmpfs for all disks; only as root. */
  readonly fileSystem?: string;
  /** The name servers of the host; only as root. */
  readonly resolver?: string;
  /** Runs as root before the host starts, in its own mount namespace. */
  readonly machine?: string;
  /** A program that wraps the host's command line. */
  readonly before?: readonly string[];
  /** False leaves the tun device of a plain user unchanged. Default true. */
  readonly tun?: boolean;
}

/** Two empty sandboxes on a host of that user. It ends with the test. */
export async function attackedHost(user: ServiceUser, options: AttackedOptions = {}): Promise<AttackedHost> {
  const { tun = true, resolver, machine, fileSystem, before = [], ...given } = options;
  const directory = mkdtempSync(join(tmpdir(), 'sandflow-attacked-'));
  const plain = user === 'a plain user' && isRoot;
  if (plain) chownSync(directory, plainUserId, plainUserId);
  chmodSync(directory, 0o700);
  const settings = JSON.stringify({ isolation: 'bubblewrap', ...given, directory: join(directory, 'machines') });
  const node = [process.execPath, childScript, settings];
  const withTun = tun ? withOwnTun : [];
  const withResolver =
    resolver === undefined ? [] : ['unshare', '--mount', 'sh', '-c', resolverScript, 'sh', `nameserver ${resolver}`];
  const owner = plain ? plainUserId : 0;
  const mounted =
    fileSystem === undefined
      ? []
      : ['unshare', '--mount', 'sh', '-c', fileSystemScript, 'sh', `${fileSystem},mode=700,uid=${owner}`, directory];
  const changed = machine === undefined ? [] : ['unshare', '--mount', 'sh', '-c', `${machine}\nexec "$@"`, 'sh'];
  const asUser = plain ? [...withTun, 'setpriv', ...asPlainUser] : [];
  const [file = '', ...args] = [...withResolver, ...mounted, ...changed, ...asUser, ...before, ...node];
  const child = spawn(file, args, { cwd: repository, stdio: 'pipe' });
  const host = await talkTo(child, directory);
  onTestFinished(async () => {
    // In order, so that nothing stays in the kernel; a killed host does not answer.
    await Promise.race([host.call('close').catch(() => undefined), host.ended]);
    await host.kill();
    await removeTree(directory);
    await removeTree(join(directory, 'machines-vite'));
  });
  await host.call('createDisk', ownSandboxId);
  await host.call('createDisk', neighbourId);
  return host;
}

async function talkTo(child: ChildProcessWithoutNullStreams, directory: string): Promise<AttackedHost> {
  const waiting = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>();
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  let complaint = '';
  child.stdin.on('error', () => undefined);
  child.stderr.on('data', (chunk: Buffer) => {
    complaint += chunk.toString();
  });
  let calls = 0;
  let hasEnded = false;
  const noAnswer = () => new Error('The service has ended.');
  // Otherwise an attack that kills the service would be waited for, until the test is out of time.
  child.once('exit', () => {
    hasEnded = true;
    for (const { reject } of waiting.values()) reject(noAnswer());
    waiting.clear();
  });
  const lines = createInterface({ input: child.stdout });
  const first = new Promise<Pick<AttackedHost, 'isolation' | 'network' | 'limits' | 'lacks'>>((resolve, reject) => {
    lines.once('line', (line) => resolve(JSON.parse(line)));
    child.once('exit', () => reject(new Error(`The host did not start: ${complaint}`)));
  });
  const said = await first;
  lines.on('line', (line) => {
    const { call, result, error } = JSON.parse(line);
    if (error === undefined) waiting.get(call)?.resolve(result);
    else waiting.get(call)?.reject(new Error(error));
    waiting.delete(call);
  });
  const call = (method: string, ...args: unknown[]) => {
    const answered = new Promise<unknown>((resolve, reject) => {
      if (hasEnded) return reject(noAnswer());
      calls += 1;
      waiting.set(calls, { resolve, reject });
      child.stdin.write(`${JSON.stringify({ call: calls, method, args })}\n`);
    });
    // A test that has failed already awaits no more answers.
    answered.catch(() => undefined);
    return answered;
  };
  return {
    directory,
    ...said,
    pid: child.pid ?? 0,
    ended: exited,
    run: (sandboxId, command, more) => call('run', sandboxId, { command, ...more }) as Promise<CommandOutcome>,
    call,
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
