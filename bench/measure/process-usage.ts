/** Reads from /proc how much CPU time and memory a process uses. Linux only. */
import { readdirSync, readFileSync } from 'node:fs';

/** The unit of times in /proc/<pid>/stat is a hundredth of a second on every architecture of Linux. */
const ticksPerSecond = 100;
/** Indexes of fields in `stat`, counted from the field after the program's name, because the name may hold spaces. */
const userTime = 11;
const systemTime = 12;

/** CPU seconds of all threads so far, without those of child processes. */
export function cpuSeconds(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  return (Number(fields[userTime]) + Number(fields[systemTime])) / ticksPerSecond;
}

/** Resident memory in MB. */
export function residentMb(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8');
  const kilobytes = /^VmRSS:\s+(\d+)/m.exec(status)?.[1];
  return Number(kilobytes) / 1_024;
}

/**
 * The memory of all processes that descend from `pid`, in MB. Memory that processes share is divided among them
 * (proportional set size).
 */
export function descendantsPssMb(pid: number): number {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    const parent = /^PPid:\s+(\d+)/m.exec(readIfAny(`/proc/${name}/status`))?.[1];
    if (/^\d+$/.test(name) && parent !== undefined) parents.set(Number(name), Number(parent));
  }
  const isDescendant = (one: number): boolean => {
    const parent = parents.get(one);
    return parent !== undefined && (parent === pid || isDescendant(parent));
  };
  const kilobytes = [...parents.keys()]
    .filter(isDescendant)
    .map((one) => Number(/^Pss:\s+(\d+)/m.exec(readIfAny(`/proc/${one}/smaps_rollup`))?.[1] ?? 0));
  return kilobytes.reduce((sum, one) => sum + one, 0) / 1_024;
}

/** Empty if the process has ended. */
function readIfAny(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
