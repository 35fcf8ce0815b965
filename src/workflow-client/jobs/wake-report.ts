/** Counts how the waits of jobs ended: how well webhooks wake them. Pure. */
import type { Wake } from '../../protocol/job/job-result.js';

/** How the waits of jobs for a sandbox or its archival ended. */
export interface WakeReport {
  /** Number of these waits that ended by an event or by a safety poll. */
  readonly waits: number;
  /** Number of these waits that an event ended. */
  readonly byWebhook: number;
  /** Number of these waits that a safety poll ended, because no event had arrived. */
  readonly bySafetyPoll: number;
}

/** @param results the wakes of each job, oldest first; null for a job without a readable result */
export function reportWakes(results: readonly (readonly Wake[] | null)[]): WakeReport {
  const ends = results.flatMap((wakes) => endsOfWaits(wakes ?? [])).filter(({ by }) => by !== 'deadline');
  const byWebhook = ends.filter(({ by }) => by === 'webhook').length;
  return { waits: ends.length, byWebhook, bySafetyPoll: ends.length - byWebhook };
}

/** A wait has one wake per read. Only the last of them ended it. */
function endsOfWaits(wakes: readonly Wake[]): Wake[] {
  return wakes.filter((wake, at) => {
    const next = wakes[at + 1];
    return !next || next.waitedFor !== wake.waitedFor || next.waitedMs < wake.waitedMs;
  });
}
