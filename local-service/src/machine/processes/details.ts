/** Reads facts about a process from /proc, such as its memory and its CPU time. */
import { readFileSync } from 'node:fs';
import type { ProcessEntry } from './table.js';

/** Linux reports times to programs in hundredths of a second, even if the kernel uses another unit internally. */
const ticksPerSecond = 100;

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

/** The CPU use is the CPU time divided by the lifetime, as `ps` reports it, rounded to a tenth of a percent. */
export function processUse({ startTime, cpuTicks }: ProcessEntry, times: MachineTimes): ProcessUse {
  const startMs = (Number(startTime) * 1000) / ticksPerSecond;
  const ageMs = Math.max(0, Math.round(times.uptimeMs - startMs));
  const cpuMs = (cpuTicks * 1000) / ticksPerSecond;
  // Count at least one tick of lifetime, because the process may just have begun.
  const lifetimeMs = Math.max(ageMs, 1000 / ticksPerSecond);
  return { cpuPercent: tenths((100 * cpuMs) / lifetimeMs), startedAtMs: times.startedAtMs + startMs, ageMs };
}

interface ProcessStatus {
  readonly memoryMB: number;
  /** The effective user, by its number outside of the sandbox. */
  readonly uid: number;
}

/** Undefined when the process has ended. */
export function readStatus(pid: number): ProcessStatus | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1');
    const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
    const uid = /^Uid:\s+\d+\s+(\d+)/m.exec(status)?.[1];
    return { memoryMB: tenths(Number(kibibytes ?? 0) / 1024), uid: Number(uid) };
  } catch {
    return undefined;
  }
}

export function tenths(value: number): number {
  return Math.round(value * 10) / 10;
}
