/** What one process of this machine is and uses, read from /proc. */
import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import type { ProcessEntry } from './table.js';

/** Linux reports times to programs in hundredths of a second, whatever the kernel counts in. */
const ticksPerSecond = 100;
const maxCommandCharacters = 2_000;

interface MachineTimes {
  readonly uptimeMs: number;
  /** When the machine started, in milliseconds since the epoch. */
  readonly startedAtMs: number;
}

export function readMachineTimes(): MachineTimes {
  const uptimeSeconds = Number(readFileSync('/proc/uptime', 'latin1').split(' ')[0]);
  const startedAtSeconds = Number(/^btime (\d+)$/m.exec(readFileSync('/proc/stat', 'latin1'))?.[1]);
  return { uptimeMs: uptimeSeconds * 1000, startedAtMs: startedAtSeconds * 1000 };
}

interface ProcessUse {
  readonly cpuPercent: number;
  readonly startedAtMs: number;
  readonly ageMs: number;
}

/** CPU time over lifetime, as `ps` reports it, to a tenth. */
export function processUse({ startTime, cpuTicks }: ProcessEntry, times: MachineTimes): ProcessUse {
  const startMs = (Number(startTime) * 1000) / ticksPerSecond;
  const ageMs = Math.max(0, Math.round(times.uptimeMs - startMs));
  const cpuMs = (cpuTicks * 1000) / ticksPerSecond;
  // A process that has just begun has no lifetime yet that its first tick could be measured by.
  const lifetimeMs = Math.max(ageMs, 1000 / ticksPerSecond);
  return { cpuPercent: tenths((100 * cpuMs) / lifetimeMs), startedAtMs: times.startedAtMs + startMs, ageMs };
}

/** Undefined when the process has ended. */
export function readMemoryMB(pid: number): number | undefined {
  try {
    const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))?.[1];
    return tenths(Number(kibibytes ?? 0) / 1024);
  } catch {
    return undefined;
  }
}

/** The program and its arguments; its bare name in brackets if it has none. Undefined if the process has ended. */
export function readCommand(pid: number): string | undefined {
  try {
    return commandText(readStart(`/proc/${pid}/cmdline`)) || `[${readFileSync(`/proc/${pid}/comm`, 'utf8').trim()}]`;
  } catch {
    return undefined;
  }
}

/** With spaces between the arguments, and of bounded length. */
export function commandText(command: string): string {
  return command.replaceAll('\0', ' ').trim().slice(0, maxCommandCharacters);
}

export function tenths(value: number): number {
  return Math.round(value * 10) / 10;
}

/** The arguments of a process may be megabytes long. */
function readStart(path: string): string {
  const file = openSync(path, 'r');
  try {
    const buffer = Buffer.alloc(4 * maxCommandCharacters);
    return buffer.toString('utf8', 0, readSync(file, buffer));
  } finally {
    closeSync(file);
  }
}
