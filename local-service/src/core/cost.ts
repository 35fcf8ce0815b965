/** Machine time and its price (specification, field `cost` and "Machine-time multipliers"). */
import { machineSeconds } from '../../../src/contract/workflow-safe/machine-types.js';
import { isUsable } from '../../../src/contract/workflow-safe/states.js';
import type { SandboxRecord } from '../store/sandbox-record.js';
import { assume } from './assume.js';

/** Assumption: the specification does not show the list price. */
const secondsPerDollar = 36_000;

const monthOf = (at: Date): string => at.toISOString().slice(0, 7);
const monthStartMs = (at: Date): number => Date.UTC(at.getUTCFullYear(), at.getUTCMonth(), 1);

/** The machine-seconds of this month. Each period of running is weighted by the size that the machine had in it. */
function usedSeconds({ meter, type }: SandboxRecord, now: Date): number {
  const before = meter.month === monthOf(now) ? meter.seconds : 0;
  if (meter.runningSince === null) return before;
  return before + machineSeconds(type, now.getTime() - Math.max(Date.parse(meter.runningSince), monthStartMs(now)));
}

/** The meter after a change: time runs while the sandbox is usable. */
export function meterAfter(before: SandboxRecord, after: SandboxRecord, now: Date): SandboxRecord['meter'] {
  const runs = isUsable(after.state) && after.gone === null;
  if (runs === (before.meter.runningSince !== null) && (!runs || before.type === after.type)) return before.meter;
  return { month: monthOf(now), seconds: usedSeconds(before, now), runningSince: runs ? now.toISOString() : null };
}

/** The meter of a sandbox that has not run. */
export function newMeter(now: Date): SandboxRecord['meter'] {
  return { month: monthOf(now), seconds: 0, runningSince: null };
}

/** The cost of this month so far. */
export function costOf(record: SandboxRecord, nowMs: number): { since: string; seconds: number; dollars: number } {
  const now = new Date(nowMs);
  const seconds = Math.round(usedSeconds(record, now));
  return {
    since: new Date(monthStartMs(now)).toISOString(),
    seconds,
    dollars: seconds / (assume('A-list-price') ? 1 : 2) / secondsPerDollar,
  };
}
