/** Combines the limits of sandboxes: by control groups, by shells, and by the free space on the disk. */
import type { MachineDirectories } from '../disk/directories.js';
import { MachineError } from '../machine-error.js';
import { findControlGroups } from './control-groups.js';
import { createDiskGuard } from './disk-guard.js';
import type { DiskReserve } from './disk-reserve.js';
import { countsProcessesByNamespace, type MachineSize, shellLimits } from './machine-size.js';

export interface LimitsDescription {
  /** `sandbox`: all processes of a sandbox are limited together. `process`: each process is limited by itself. */
  readonly memory: 'sandbox' | 'process' | 'none';
  readonly processes: 'sandbox' | 'none';
}

export interface TakenLimits {
  /** Arguments to put before the command line that starts the sandbox. */
  readonly enter: readonly string[];
  /** A line of shell that each command begins with. It depends on the free space on the disk. */
  shell(): Promise<string>;
  /** Call it when the sandbox has ended. */
  release(): void;
}

interface SandboxLimits {
  readonly description: LimitsDescription;
  /** Limits that this machine does not support, as text for people. */
  readonly lacks: readonly string[];
  /** Limits a sandbox from its start on. @throws MachineError `limits_unavailable` */
  take(sandboxId: string): TakenLimits;
  /** Removes the limits of a sandbox. Call it when none of its processes runs any more. Safe to repeat. */
  remove(sandboxId: string): void;
  /** Removes the limits of all sandboxes, including those of an earlier service. */
  removeAll(): void;
}

export interface SandboxLimitsOptions {
  readonly directories: MachineDirectories;
  readonly sizeOf: (sandboxId: string) => MachineSize;
  /** The sandboxes in which something runs, with the pids of their processes. */
  readonly atWork: () => ReadonlyMap<string, readonly number[]>;
  /** Kills the processes of a sandbox that fills the disk. */
  readonly end: (sandboxId: string) => Promise<void>;
  readonly log: (message: string) => void;
  readonly reserve: DiskReserve;
}

export async function createSandboxLimits(options: SandboxLimitsOptions): Promise<SandboxLimits> {
  const { directories, sizeOf } = options;
  const groups = await findControlGroups(directories.root);
  const guard = createDiskGuard(options);
  // The kernel does not limit the number of root's processes.
  const byShell = process.getuid?.() !== 0 && countsProcessesByNamespace();
  const [memory, processes] = [groups.limits('memory'), groups.limits('pids')];
  return {
    lacks: processes || byShell ? [] : ['the number of processes is not limited'],
    description: {
      memory: memory ? 'sandbox' : 'process',
      processes: processes || byShell ? 'sandbox' : 'none',
    },
    take(sandboxId) {
      const size = sizeOf(sandboxId);
      let enter: readonly string[];
      try {
        enter = groups.enter(sandboxId, size);
      } catch (cause) {
        throw new MachineError('limits_unavailable', 'The control group of the sandbox could not be created.', {
          cause,
        });
      }
      const { fileBytes, release } = guard.watch(sandboxId);
      const shell = async (): Promise<string> =>
        shellLimits(size, { memory: !memory, processes: !processes && byShell, fileBytes: await fileBytes() });
      return { enter, shell, release };
    },
    remove: groups.remove,
    removeAll: groups.removeAll,
  };
}
