/** Every job ends in time: within its deadline, its clean-up, and what a busy machine needs. */
import { timing } from '../players/account.js';
import { type Broken, hasStruck, planOf, type WorldRecord } from './record.js';

/** A call that is under way at the deadline, and a machine with more to do than two cores can. */
const marginMs = 25_000;

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
        what: `ended ${outcome} after ${Math.round(durationMs / 1_000)} s, and had ${Math.round(mostMs / 1_000)} s`,
      }));
  });
}
