/** The limits of one sandbox on this machine. They depend on the machine size of the sandbox. */
import { release } from 'node:os';

export interface MachineSize {
  readonly vcpu: number;
  readonly memoryGB: number;
}

const processesPerVcpu = 512;
const openFiles = 8_192;
/** The size of /dev/shm. Each sandbox has its own, in memory. */
export const sharedMemoryBytes = 512 * 1024 * 1024;

export function memoryBytes({ memoryGB }: MachineSize): number {
  return memoryGB * 1024 ** 3;
}

/** Threads count as processes. */
export function processCount({ vcpu }: MachineSize): number {
  return vcpu * processesPerVcpu;
}

export interface ShellLimitOptions {
  /** True if no control group limits the memory of a sandbox. Then the shell limits each process by itself. */
  readonly memory: boolean;
  readonly processes: boolean;
  /** Undefined: files grow without limit. */
  readonly fileBytes?: number;
}

/**
 * A line of shell that sets limits for the shell itself and for everything that it starts. Programs without a special
 * right cannot raise these limits.
 */
export function shellLimits(size: MachineSize, { memory, processes, fileBytes }: ShellLimitOptions): string {
  const limits = [`ulimit -n ${openFiles}`, 'ulimit -c 0'];
  if (memory) limits.push(`ulimit -d ${memoryBytes(size) / 1024}`);
  // Some shells know this limit as `-u`, others as `-p`.
  if (processes) limits.push(`ulimit -u ${processCount(size)} || ulimit -p ${processCount(size)}`);
  if (fileBytes !== undefined) limits.push(`ulimit -f ${Math.floor(fileBytes / 512)}`);
  return `{ ${limits.join('; ')}; } 2>/dev/null`;
}

/**
 * From Linux 5.14 on, the processes of a user namespace are counted separately. Earlier kernels count all processes of
 * the user together, so a limit would stop commands because of processes outside their sandbox.
 */
export function countsProcessesByNamespace(version = release()): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major > 5 || (major === 5 && minor >= 14);
}
