/**
 * Starts child processes that never outlive their parent, even if the parent is killed with SIGKILL.
 *
 * On Linux the kernel kills the child: `setpriv --pdeathsig KILL` requests this. The parent may die before this
 * request, so the child compares its parent with the expected one before it becomes the program. On other systems a
 * small shell reads from a pipe that the kernel closes when the parent dies. The shell then kills the child's process
 * group.
 */
import type { ChildProcess, SpawnOptions } from 'node:child_process';
import { accessSync, constants } from 'node:fs';
import { startProgram } from './start-program.js';

const setprivPaths = ['/usr/bin/setpriv', '/bin/setpriv', '/usr/local/bin/setpriv'];
const checkParent = '[ "$PPID" = "$1" ] || exit 1; shift; exec "$@"';
const leashScript = 'read -r line; [ "$line" = done ] || kill -KILL "-$1"';

export interface BoundProcessOptions extends SpawnOptions {
  /** What kills the child when the parent dies. Default: the kernel, if available. */
  readonly leash?: 'kernel' | 'pipe';
}

/**
 * Starts `command` in a session of its own. So a Ctrl-C in the terminal reaches only the parent, which then ends its
 * children in order.
 * @throws the error of the system if this process may open no more files
 */
export function spawnBoundToParent(
  command: string,
  args: readonly string[],
  options: BoundProcessOptions = {},
): ChildProcess {
  const { leash, ...spawnOptions } = options;
  const bound = leash === 'pipe' ? undefined : boundByKernel(command, args);
  if (bound) return startProgram(bound.file, bound.args, { ...spawnOptions, detached: true });
  const child = startProgram(command, args, { ...spawnOptions, detached: true });
  try {
    if (child.pid !== undefined) holdLeash(child, child.pid);
    return child;
  } catch (error) {
    child.kill('SIGKILL');
    throw error;
  }
}

/** The call of a program that the kernel kills together with this process. Undefined if the kernel cannot do that. */
export function boundByKernel(
  command: string,
  args: readonly string[],
): { readonly file: string; readonly args: string[] } | undefined {
  const setpriv = findSetpriv();
  if (!setpriv) return undefined;
  const checked = ['--pdeathsig', 'KILL', '--', '/bin/sh', '-c', checkParent, 'sh', String(process.pid)];
  return { file: setpriv, args: [...checked, command, ...args] };
}

/**
 * Resolves with the exit code of a child; with null after a signal, or if it could not be started.
 * @param event `close` is the end of its output too, which may come later
 */
export function exitOf(child: ChildProcess, event: 'exit' | 'close'): Promise<number | null> {
  return new Promise((resolve) => {
    child.once(event, resolve);
    child.once('error', () => resolve(null));
  });
}

/** Asks a child to end, kills it if it has not after `graceMs`, and waits for its end. */
export async function endChild(
  child: ChildProcess,
  exited: Promise<unknown>,
  { signal = 'SIGTERM', graceMs }: { readonly signal?: NodeJS.Signals; readonly graceMs: number },
): Promise<void> {
  child.kill(signal);
  const timeout = setTimeout(() => child.kill('SIGKILL'), graceMs);
  await exited;
  clearTimeout(timeout);
}

function holdLeash(child: ChildProcess, pid: number): void {
  const holder = startProgram('/bin/sh', ['-c', leashScript, 'sh', String(pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  holder.on('error', () => child.kill('SIGKILL'));
  holder.stdin.on('error', () => undefined);
  holder.unref();
  // This word tells the shell that the child has ended while the parent lives. The shell must then kill nothing,
  // because another process may now have the id.
  child.once('exit', () => holder.stdin.end('done\n'));
}

function findSetpriv(): string | undefined {
  if (process.platform !== 'linux') return undefined;
  return setprivPaths.find((path) => {
    try {
      accessSync(path, constants.X_OK);
      return true;
    } catch {
      return false;
    }
  });
}
