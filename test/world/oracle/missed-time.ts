/** How much time a job had to spare, whose end shows that a time has passed. */
import type { JobResult } from '../../../workflows/index.js';
import type { Trouble } from '../plan/plan.js';
import { batchDeadlineMs, itemDeadlineMs, itemSeconds, tightLease } from '../players/batch.js';
import { patienceMs } from '../players/cleanup.js';
import { commandLineDeadlineMs, commandLinePatienceMs, temporalPatienceMs } from '../players/command-line.js';
import { shortLease } from '../players/run.js';
import { preparationDeadlineMs } from '../players/sources.js';
import { stopDeadlineMs } from '../players/stop.js';
import type { Told } from '../players/told.js';
import { type MissedTime, planOf, type WorldRecord } from './record.js';

/** Until Temporal notices by a missing heartbeat that the worker of an activity has died, in ms. */
const replacedMs = 30_000;
/** What an item takes on a quiet machine beside its work: a fork, a prompt, a stop. Measured. */
const itemStepsSeconds = 1.4;
/** What a source takes that is prepared, or is missing for as long as reads may lag. */
const sourceSeconds = 4;

/** @returns undefined if the job did not end because of a time */
export function missedTime(
  record: WorldRecord,
  { job, outcome, error, jobs }: Pick<Told, 'job' | 'outcome' | 'error' | 'jobs'>,
): MissedTime | undefined {
  const plan = planOf(record, job);
  const played = record.played.get(job);
  if (plan === undefined || played === undefined) return undefined;
  // Seen: three workers died within 21 s, and one job lost a step with two of them.
  const isDeath = (one: Trouble) => (one.kind === 'death' || one.kind === 'crash') && one.part === 'worker';
  const deaths = record.plan.troubles.filter((one) => isDeath(one) && record.struck.has(one.key)).length;
  const spare = (ms: number) => ({ ...played, missedMs: Math.max(0, ms - deaths * replacedMs) });
  switch (plan.kind) {
    case 'run': {
      if (outcome === 'deadline_exceeded') {
        const { prompts, workSeconds, commands, commandSeconds } = plan;
        return spare(plan.deadlineMs - (prompts * workSeconds + commands * commandSeconds) * 1_000);
      }
      // An auto-stop is renewed when half of it has passed.
      const ttlMs = plan.ttlSeconds * 1_000;
      return wasStopped(outcome, jobs) ? { ...spare(ttlMs / 2), withinMs: ttlMs } : undefined;
    }
    case 'batch': {
      const ends = jobs.filter((one) => one.outcome !== 'completed').map((one) => one.outcome);
      const isLate = ends.length > 0 && ends.every((one) => one === 'deadline_exceeded');
      if (outcome === 'deadline_exceeded') {
        const oneByOne = (plan.items / plan.concurrency) * (itemSeconds(plan) + itemStepsSeconds);
        const ofSources = (plan.sources?.of.length ?? 0) * sourceSeconds;
        return spare(batchDeadlineMs - (oneByOne + ofSources) * 1_000);
      }
      if ((outcome === 'source_failed' || plan.sources) && error?.code === 'deadline_exceeded') {
        return { ...spare(preparationDeadlineMs), withinMs: preparationDeadlineMs };
      }
      return isLate ? { ...spare(itemDeadlineMs - itemSeconds(plan) * 1_000), withinMs: itemDeadlineMs } : undefined;
    }
    case 'stop':
      return outcome.includes('still_failing') ? spare(stopDeadlineMs) : undefined;
    case 'cleanup':
      return outcome === 'cancelled' ? spare(patienceMs) : undefined;
    case 'command-line':
      // On a quiet machine, a read takes a few ms: all of the patience was lost.
      if (isGivenUp(outcome)) return { ...spare(commandLinePatienceMs), withinMs: commandLinePatienceMs };
      // On a quiet machine, Temporal is back within 2 s after its death.
      if (outcome.startsWith('not_started: Temporal at ')) {
        return { ...played, missedMs: temporalPatienceMs, withinMs: temporalPatienceMs };
      }
      return outcome === 'deadline_exceeded' ? spare(commandLineDeadlineMs - plan.workSeconds * 1_000) : undefined;
  }
}

const isGivenUp = (outcome: string) => outcome.startsWith('not_started') && outcome.includes('cannot be reached for');

const wasStopped = (outcome: string, jobs: readonly JobResult[]) =>
  outcome === 'sandbox_failed' && jobs.every(({ error }) => error?.code === 'sandbox_stopped');

/** How late a renewal must be for the lease of this job to lapse. Undefined if its lease outlasts the world. */
export function missedLease(record: WorldRecord, job: string): MissedTime | undefined {
  const plan = planOf(record, job);
  const played = record.played.get(job);
  const isShort = (plan?.kind === 'run' && plan.shortLease) || (plan?.kind === 'batch' && plan.tight);
  if (played === undefined || !isShort) return undefined;
  const { leaseLastsMs, renewLeaseEveryMs } = plan.kind === 'run' ? shortLease : tightLease;
  return { ...played, missedMs: leaseLastsMs - renewLeaseEveryMs, withinMs: leaseLastsMs };
}
