/** A job that nothing happened to has ended as its plan alone says: mostly completed. */
import type { JobResult } from '../../../workflows/index.js';
import { expectedOutcomes } from './expected.js';
import { missedTime } from './missed-time.js';
import { type Broken, hasStruck, isEndOfAny, planOf, type WorldRecord, wasDisturbed } from './record.js';

const good: readonly string[] = ['completed', 'archived', 'already_archived', 'applied'];
/** The callers of one stop may have different ends. */
const isGood = (outcome: string) => outcome.split(', ').every((one) => good.includes(one));

/** True if no part of the job ended worse than `outcome_unknown`. */
function hasOnlyUnknown(outcome: string, jobs: readonly JobResult[]): boolean {
  if (outcome !== 'partly_failed') return outcome === 'outcome_unknown';
  return jobs.every((job) => job.outcome === 'completed' || job.outcome === 'outcome_unknown');
}

export function brokenOutcomes(record: WorldRecord): Broken[] {
  const { plan, told } = record;
  if (isEndOfAny(record)) return [];
  const hasDied = hasStruck(record, (one) => one.kind === 'death' || one.kind === 'crash');
  const listsFailed = hasStruck(record, ({ kind }) => kind === 'lists');
  return told.flatMap(({ job, outcome, error, jobs, isTerminated }): Broken[] => {
    const of = planOf(record, job);
    // A newcomer finds what the others leave. A stop that is made to fail has its own judge.
    if (of === undefined || isTerminated || (of.kind === 'stop' && of.fails > 0)) return [];
    // These are made to miss their deadlines, or to be stopped on a busy machine.
    const isShort = of?.kind === 'run' && (of.deadlineMs < 60_000 || of.workSeconds >= 20 || of.ttlSeconds < 10);
    // Without lists, a cleanup waits until its user has no more patience.
    const isImpatient = of.kind === 'cleanup' && outcome === 'cancelled' && listsFailed;
    // An auto-stop of seconds passes while a dead worker is replaced.
    const isStoppedSoon = of?.kind === 'run' && of.ttlSeconds < 60 && outcome === 'sandbox_failed' && hasDied;
    // Whether a prompt was sent is unknown if its sender died, and by the policy of these jobs nobody asks.
    const isUnknown = (hasDied || !plan.service.promptIds) && hasOnlyUnknown(outcome, jobs);
    const isExpected = expectedOutcomes(of)?.includes(outcome) ?? isGood(outcome);
    if (wasDisturbed(record, job) || isShort || isImpatient || isStoppedSoon || isUnknown || isExpected) return [];
    const errors = [error, ...jobs.map((one) => one.error)];
    const why = errors.flatMap((one) => (one ? [`${one.code}: ${one.message}`] : [])).join('; ');
    const late = missedTime(record, { job, outcome, error, jobs });
    return [{ promise: 'an undisturbed job ends as planned', job, what: `ended ${outcome} (${why})`, late }];
  });
}
