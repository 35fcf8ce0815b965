/** Machine time and its price (specification, field `cost` and "Machine-time multipliers"). */
import { machineSeconds } from '../../contract/machine-types.js';
import { isUsable } from '../../contract/states.js';
import type { SandboxRecord } from '../store/sandbox-record.js';

/** The list price, which is an assumption: the specification does not show it. */
const secondsPerDollar = 36_000;

const monthOf = (at: Date): string => at.toISOString().slice(0, 7);
const monthStartMs = (at: Date): number => Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 1);

function usedMs({ meter }: SandboxRecord, now: Date): number {
  const before = meter.month === monthOf(now) ? meter.ms : 0;
  if (meter.runningSince === null) return before;
  return before + now.getTime() - Math.max(Date.parse(meter.runningSince), monthStartMs(now));
}

/** The meter after a change: time runs while the sandbox is usable. */
export function meterAfter(before: SandboxRecord, after: SandboxRecord, now: Date): SandboxRecord['meter'] {
  const runs = isUsable(after.state) && after.gone === null;
  if (runs === (before.meter.runningSince !== null)) return before.meter;
  return { month: monthOf(now), ms: usedMs(before, now), runningSince: runs ? now.toISOString() : null };
}

/** The meter of a sandbox that has not run. */
export function newMeter(now: Date): SandboxRecord['meter'] {
  return { month: monthOf(now), ms: 0, runningSince: null };
}

/** The cost of this month so far. */
export function costOf(record: SandboxRecord, nowMs: number): { since: string; seconds: number; dollars: number } {
  const now = new Date(nowMs);
  const seconds = Math.round(machineSeconds(record.type, usedMs(record, now)));
  return { since: new Date(monthStartMs(now)).toISOString(), seconds, dollars: seconds / secondsPerDollar };
}
