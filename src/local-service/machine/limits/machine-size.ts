/** What one sandbox may take of this machine, by the size of the machine that it stands for. */
import { release } from 'node:os';

export interface MachineSize {
  readonly vcpu: number;
  readonly memoryGB: number;
}

const processesPerVcpu = 512;
const openFiles = 8_192;
/** Commands keep it in memory, each its own. */
export const sharedMemoryBytes = 512 * 1024 * 1024;

export function memoryBytes({ memoryGB }: MachineSize): number {
  return memoryGB * 1024 ** 3;
}

/** Threads count as processes. */
export function processCount({ vcpu }: MachineSize): number {
  return vcpu * processesPerVcpu;
}

export interface ShellLimitOptions {
  /** True if no control group limits them together: then each process is limited by itself. */
  readonly memory: boolean;
  readonly processes: boolean;
  /** Undefined: files grow without limit. */
  readonly fileBytes?: number;
}

/** Limits that a shell sets for itself and all that it starts, as a line of shell. Programs without a right cannot raise them. */
export function shellLimits(size: MachineSize, { memory, processes, fileBytes }: ShellLimitOptions): string {
  const limits = [`ulimit -n ${openFiles}`, 'ulimit -c 0'];
  if (memory) limits.push(`ulimit -d ${memoryBytes(size) / 1024}`);
  // Shells call it by one letter or the other.
  if (processes) limits.push(`ulimit -u ${processCount(size)} || ulimit -p ${processCount(size)}`);
  if (fileBytes !== undefined) limits.push(`ulimit -f ${Math.floor(fileBytes / 512)}`);
  return `{ ${limits.join('; ')}; } 2>/dev/null`;
}

/**
 * From Linux 5.14 on the processes of a user namespace are counted by themselves; before that with all of the user's, so that
 * a limit would hit commands for what others run.
 */
export function countsProcessesByNamespace(version = release()): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 5 || (major === 5 && minor >= 14);
}
