/** Computes how well webhooks wake jobs, from the wakes in the results of jobs. Pure. */
import type { Wake } from '../../protocol/job/job-result.js';

/** A share with the bounds of its 95 % confidence interval, from 0 to 1. */
export interface EstimatedShare {
  /** The share in the sample. */
  readonly share: number;
  readonly low: number;
  readonly high: number;
}

/** How well webhooks woke jobs. */
export interface WakeReport {
  /** Number of jobs that ended and whose results were read. */
  readonly jobs: number;
  /** Number of jobs whose results could not be read, for example because another codec encoded them. */
  readonly unreadable: number;
  /** Number of waits for a sandbox or its archival that ended by an event or by a safety poll. */
  readonly waits: number;
  /** Number of these waits that an event ended. */
  readonly byWebhook: number;
  /** Number of these waits that a safety poll ended, because no event had arrived. */
  readonly bySafetyPoll: number;
  /** The share of events that were lost, or later than the safety poll; null without a wait. */
  readonly loss: EstimatedShare | null;
  /** Time from the creation of an event until the workflow received it, in ms; null without an event. */
  readonly lagMs: { readonly p50: number; readonly p95: number } | null;
}

/** In a normal distribution, 95 % of the values lie within this number of standard deviations of the mean. */
const deviations = 1.96;

/** Counts the ends of waits. @param results the wakes of each job, oldest first */
export function reportWakes(results: readonly (readonly Wake[] | null)[]): WakeReport {
  const readable = results.filter((wakes) => wakes !== null);
  const ends = readable.flatMap(endsOfWaits).filter(({ by }) => by !== 'deadline');
  const byWebhook = ends.filter(({ by }) => by === 'webhook').length;
  const bySafetyPoll = ends.length - byWebhook;
  const lags = ends.flatMap(({ lagMs }) => lagMs ?? []).sort((a, b) => a - b);
  return {
    jobs: readable.length,
    unreadable: results.length - readable.length,
    waits: ends.length,
    byWebhook,
    bySafetyPoll,
    loss: ends.length === 0 ? null : estimateShare(bySafetyPoll, ends.length),
    lagMs: lags.length === 0 ? null : { p50: quantile(lags, 0.5), p95: quantile(lags, 0.95) },
  };
}

/** A wait has one wake per read. Only the last of them ended it. */
function endsOfWaits(wakes: readonly Wake[]): Wake[] {
  return wakes.filter((wake, at) => {
    const next = wakes[at + 1];
    return !next || next.waitedFor !== wake.waitedFor || next.waitedMs < wake.waitedMs;
  });
}

/** The Wilson interval, which also holds for few waits and for shares near 0 and 1. */
export function estimateShare(count: number, of: number): EstimatedShare {
  const share = count / of;
  const square = deviations ** 2;
  const centre = (share + square / (2 * of)) / (1 + square / of);
  const half = (deviations * Math.sqrt((share * (1 - share)) / of + square / (4 * of ** 2))) / (1 + square / of);
  return { share, low: Math.max(0, centre - half), high: Math.min(1, centre + half) };
}

/** @param sorted at least one number, ascending */
function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? 0;
}
