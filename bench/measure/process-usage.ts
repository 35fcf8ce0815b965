/** Reads from /proc how much CPU time and memory a process uses. Linux only. */
import { readFileSync } from 'node:fs';

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
