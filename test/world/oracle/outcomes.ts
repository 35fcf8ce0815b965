/** A job that nothing happened to has completed. */
import type { Trouble } from '../plan/plan.js';
import { type Broken, hasStruck, planOf, type WorldRecord } from './record.js';

const good: readonly string[] = ['completed', 'archived', 'already_archived', 'applied', 'archived, already_archived'];

/** Troubles of the whole world that may end a job: the machine or its agent is lost, or a day passes. */
const endsJobs = (one: Trouble) =>
  one.kind === 'service' || one.kind === 'hours' || (one.kind === 'death' && one.part === 'service');

export function brokenOutcomes(record: WorldRecord): Broken[] {
  const { plan, struck, told } = record;
  if (plan.troubles.some((one) => struck.has(one.key) && endsJobs(one))) return [];
  const touched = new Set(plan.troubles.flatMap((one) => (struck.has(one.key) && 'at' in one ? [one.at.job] : [])));
  // While a worker is away, nobody renews a short auto-stop.
  const died = hasStruck(record, ({ kind }) => kind === 'death');
  return told.flatMap(({ job, outcome, jobs }) => {
    const of = planOf(record, job);
    // A newcomer finds what the others leave.
    if (of === undefined) return [];
    // These are made to miss their deadlines.
    const isShort =
      of?.kind === 'run' && (of.deadlineMs < 60_000 || of.workSeconds >= 20 || (died && of.ttlSeconds < 10));
    // Without prompt ids, a lost worker may leave a prompt unknown.
    const isUnknown = outcome === 'outcome_unknown' && !plan.service.promptIds;
    if (touched.has(job) || isShort || isUnknown || good.includes(outcome)) return [];
    const why = jobs.flatMap(({ error }) => (error ? [`${error.code}: ${error.message}`] : [])).join('; ');
    return [{ promise: 'an undisturbed job completes', job, what: `ended ${outcome} (${why})` }];
  });
}
