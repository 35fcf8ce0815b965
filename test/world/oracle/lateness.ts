/**
 * Promises of time, judged by how late the machine was. Only a break that says which time was missed can be excused,
 * and only by a lateness that was measured in its own interval and is comparable with what was missed.
 */
import type { Late } from '../stack/lateness.js';
import type { Broken, MissedTime } from './record.js';

/** A break that the machine explains. */
export interface Excused extends Broken {
  readonly late: MissedTime;
  /** How late the machine was in that time, in ms. */
  readonly lostMs: number;
}

/**
 * The chain that measures loses a little less than a job, whose steps need more of the processor: of jobs that took 24 to
 * 56 s instead of a few, it lost three quarters of the difference or more.
 */
const comparable = 0.75;
/** Less than this is no busy machine, in ms. */
const leastMs = 1_000;

/** @returns the breaks that remain, and those that the lateness of the machine excuses */
export function judgeTimes(
  broken: readonly Broken[],
  measured: readonly Late[],
): { readonly broken: readonly Broken[]; readonly excused: readonly Excused[] } {
  const remaining: Broken[] = [];
  const excused: Excused[] = [];
  for (const one of broken) {
    const lostMs = one.late ? mostLostMs(measured, one.late) : 0;
    const isExcused = one.late !== undefined && lostMs >= Math.max(leastMs, one.late.missedMs * comparable);
    if (isExcused) excused.push({ ...one, late: one.late, lostMs });
    else remaining.push(one);
  }
  return { broken: remaining, excused };
}

/** The most time that the machine lost in a stretch of the interval that is `withinMs` long, in ms. */
export function mostLostMs(
  measured: readonly Late[],
  { fromMs, untilMs, withinMs }: Omit<MissedTime, 'missedMs'>,
): number {
  if (withinMs === undefined || withinMs >= untilMs - fromMs) return lostMs(measured, fromMs, untilMs);
  const ends = measured.map((one) => Math.min(one.untilMs, untilMs)).filter((endMs) => endMs > fromMs);
  return Math.max(0, ...ends.map((endMs) => lostMs(measured, Math.max(fromMs, endMs - withinMs), endMs)));
}

/** A step that is only partly in the interval counts by that part. */
function lostMs(measured: readonly Late[], fromMs: number, untilMs: number): number {
  return measured.reduce((sum, one) => {
    const insideMs = Math.min(one.untilMs, untilMs) - Math.max(one.fromMs, fromMs);
    return insideMs <= 0 ? sum : sum + (one.lateMs * insideMs) / (one.untilMs - one.fromMs);
  }, 0);
}
