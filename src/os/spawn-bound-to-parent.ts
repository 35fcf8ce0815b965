/**
 * Child processes that never outlive their parent, not even when it is killed with SIGKILL.
 *
 * On Linux the kernel does it: `setpriv --pdeathsig KILL`. Between fork and that request the parent may already be
 * dead, so the child compares its parent with the expected one before it becomes the program. Elsewhere a small shell
 * holds the other end of a pipe that the kernel closes with the parent; it then kills the child's process group.
 */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { accessSync, constants } from 'node:fs';

const setprivPaths = ['/usr/bin/setpriv', '/bin/setpriv', '/usr/local/bin/setpriv'];
const checkParent = '[ "$PPID" = "$1" ] || exit 1; shift; exec "$@"';
const leashScript = 'read -r line; [ "$line" = done ] || kill -KILL "-$1"';

export interface BoundProcessOptions extends SpawnOptions {
  /** Default: the kernel's, if available. */
  readonly leash?: 'kernel' | 'pipe';
}

/**
 * Starts `command` in a session of its own, so that a Ctrl-C in the terminal reaches only the parent, which then ends
 * its children in order.
 */
export function spawnBoundToParent(
  command: string,
  args: readonly string[],
  options: BoundProcessOptions = {},
): ChildProcess {
  const { leash, ...spawnOptions } = options;
  const setpriv = leash === 'pipe' ? undefined : findSetpriv();
  if (setpriv) {
    const checked = ['--pdeathsig', 'KILL', '--', '/bin/sh', '-c', checkParent, 'sh', String(process.pid)];
    return spawn(setpriv, [...checked, command, ...args], { ...spawnOptions, detached: true });
  }
  const child = spawn(command, args, { ...spawnOptions, detached: true });
  if (child.pid !== undefined) holdLeash(child, child.pid);
  return child;
}

function holdLeash(child: ChildProcess, pid: number): void {
  const holder = spawn('/bin/sh', ['-c', leashScript, 'sh', String(pid)], {
    stdio: ['pipe', 'ignore', 'ignore'],
    detached: true,
  });
  holder.on('error', () => child.kill('SIGKILL'));
  holder.stdin.on('error', () => undefined);
  holder.unref();
  // The word distinguishes the end of the child from the death of the parent: the process id may be reused by then.
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
