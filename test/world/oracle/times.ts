/** Every job ends in time: within its deadline and its clean-up. */
import { timing } from '../players/account.js';
import { type Broken, hasStruck, planOf, type WorldRecord } from './record.js';

/** A call that is under way at the deadline. */
const marginMs = 25_000;

/** Nothing explains the time of a job whose own times are unknown. */
const playedOf = (record: WorldRecord, job: string) => record.played.get(job) ?? { fromMs: 0, untilMs: 0 };

export function brokenTimes(record: WorldRecord): Broken[] {
  // Nobody works while a worker is replaced.
  if (hasStruck(record, ({ kind }) => kind === 'death' || kind === 'crash' || kind === 'deploy')) return [];
  return record.told.flatMap(({ job, jobs }) => {
    const plan = planOf(record, job);
    if (plan?.kind !== 'run') return [];
    const mostMs = plan.deadlineMs + timing.cleanUpMs + marginMs;
    return jobs
      .filter(({ durationMs }) => durationMs > mostMs)
      .map(({ durationMs, outcome }) => ({
        promise: 'every job ends in time',
        job,
        late: { ...playedOf(record, job), missedMs: durationMs - mostMs },
        what: `ended ${outcome} after ${Math.round(durationMs / 1_000)} s, and had ${Math.round(mostMs / 1_000)} s`,
      }));
  });
}
