/**
 * Control groups of the kernel limit all processes of a sandbox together. This user may create them as root, or if a
 * group has been delegated to this user. Both versions of control groups are supported.
 */
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { runProgram } from '../program.js';
import { type MachineSize, memoryBytes, processCount } from './machine-size.js';

const controlGroupRoot = '/sys/fs/cgroup';
const probeMs = 10_000;
const neededNames = ['pids', 'memory'] as const;
/**
 * A group has the same share of the CPU time as any other group or process next to it, however many processes it holds.
 */
const controllerNames = [...neededNames, 'cpu'] as const;
const joinScript =
  'n=$1; shift; while [ "$n" -gt 0 ]; do echo $$ >"$1" || exit 126; shift; n=$((n - 1)); done; exec "$@"';

type Controller = (typeof controllerNames)[number];

interface Parent {
  readonly folder: string;
  readonly controllers: readonly Controller[];
  readonly version: 1 | 2;
}

/** @param directory the directory of the machines, from which the names of the groups are derived */
export async function findControlGroups(directory: string) {
  const prefix = `sandflow-${createHash('sha256').update(directory).digest('hex').slice(0, 12)}-`;
  const parents: Parent[] = [];
  for (const candidate of candidates()) {
    const isNew = candidate.controllers.every((one) => !parents.some(({ controllers }) => controllers.includes(one)));
    if (isNew && (await works(candidate, `${prefix}probe`))) parents.push(candidate);
  }
  const made = new Map<string, readonly string[]>();
  const remove = (name: string): void => {
    made.delete(name);
    for (const { folder } of parents) removeFolder(join(folder, name));
  };
  return {
    limits: (controller: Controller) => parents.some(({ controllers }) => controllers.includes(controller)),
    /**
     * Creates the groups of the sandbox. Safe to repeat.
     * @returns arguments to put before a command line, so that the command runs in these groups
     */
    enter(sandboxId: string, size: MachineSize): readonly string[] {
      if (parents.length === 0) return [];
      const name = `${prefix}${sandboxId}`;
      // A group that was removed is created again.
      const files = made.get(name)?.every((file) => existsSync(file)) ? made.get(name) : undefined;
      const groups = files ?? parents.map((parent) => makeGroup(parent, name, size));
      made.set(name, groups);
      return joining(groups);
    },
    /** Removes the groups of the sandbox. Call it when none of its processes runs any more. Safe to repeat. */
    remove: (sandboxId: string) => remove(`${prefix}${sandboxId}`),
    /** Removes all groups of this directory, including those that an earlier service left behind. */
    removeAll() {
      for (const { folder } of parents) {
        for (const name of readdirSync(folder)) if (name.startsWith(prefix)) remove(name);
      }
    },
  };
}

/**
 * Folders in which groups could be created. For version 1, that is the group of this process. For version 2, it is each
 * group from its own up to the root that passes on the controllers.
 */
function candidates(): Parent[] {
  const own = readOwnGroups();
  const found: Parent[] = controllerNames.flatMap((controller) => {
    const path = own.get(controller);
    return path === undefined
      ? []
      : [{ folder: join(controlGroupRoot, controller, path), controllers: [controller], version: 1 }];
  });
  const unified = own.get('');
  for (let path = unified; path !== undefined; path = path === '/' ? undefined : dirname(path)) {
    const folder = join(controlGroupRoot, path);
    const controllers = handedOn(folder);
    if (neededNames.every((name) => controllers.includes(name))) found.push({ folder, controllers, version: 2 });
  }
  return found;
}

/** Maps each controller to the path of the group of this process. For version 2, the key is the empty string. */
function readOwnGroups(): Map<string, string> {
  try {
    const lines = readFileSync('/proc/self/cgroup', 'utf8').trim().split('\n');
    return new Map(
      lines.flatMap((line) => {
        const [, names = '', path = '/'] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
        return names.split(',').map((name): [string, string] => [name, path]);
      }),
    );
  } catch {
    return new Map();
  }
}

function handedOn(folder: string): Controller[] {
  try {
    const names = readFileSync(join(folder, 'cgroup.subtree_control'), 'utf8').trim().split(' ');
    return controllerNames.filter((name) => names.includes(name));
  } catch {
    return [];
  }
}

/** Starts a process in a new group, because a user who may create a group may not always enter it. */
async function works(parent: Parent, name: string): Promise<boolean> {
  try {
    const file = makeGroup(parent, name, { vcpu: 1, memoryGB: 1 });
    const [shell = '', ...args] = joining([file]);
    return (await runProgram(shell, [...args, 'true'], { timeoutMs: probeMs })).exitCode === 0;
  } catch {
    return false;
  } finally {
    removeFolder(join(parent.folder, name));
  }
}

/** @returns the file to which the pid of a process is written to move that process into the group */
function makeGroup({ folder, controllers, version }: Parent, name: string, size: MachineSize): string {
  const group = join(folder, name);
  // Not with `recursive`: without mounted control groups, the error of the kernel would make Node retry for ever.
  if (!existsSync(group)) mkdirSync(group);
  for (const controller of controllers) {
    if (controller === 'pids') writeFileSync(join(group, 'pids.max'), String(processCount(size)));
    if (controller === 'memory') {
      const file = version === 1 ? 'memory.limit_in_bytes' : 'memory.max';
      writeFileSync(join(group, file), String(memoryBytes(size)));
      limitSwap(group, version, memoryBytes(size));
    }
  }
  return join(group, 'cgroup.procs');
}

/** Does nothing if the kernel does not account for swap. */
function limitSwap(group: string, version: 1 | 2, bytes: number): void {
  const [file, value] = version === 1 ? ['memory.memsw.limit_in_bytes', bytes] : ['memory.swap.max', 0];
  if (existsSync(join(group, file))) writeFileSync(join(group, file), String(value));
}

function joining(files: readonly string[]): string[] {
  return ['/bin/sh', '-c', joinScript, 'sh', String(files.length), ...files];
}

/** Does nothing if a process still runs in the group, or if the folder does not exist. */
function removeFolder(folder: string): void {
  try {
    rmdirSync(folder);
  } catch {
    // The next start tries again.
  }
}
