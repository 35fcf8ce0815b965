/**
 * Renews the auto-stop of a job's sandbox, so that the sandbox does not stop by itself. That an update restarts the
 * auto-stop is an assumption (`A-auto-stop-renewal`), so the time of the stop is compared.
 */
import { isCancellation } from '@temporalio/workflow';
import type { SandboxView } from '../../src/contract/workflow-safe/sandbox-view.js';
import { effects } from '../shared/activity-options.js';
import { causeOf, serviceFailureOf } from '../shared/job-termination.js';
import { reads } from '../shared/reads.js';
import { promptPollMs, renewAutoStopInMs } from '../shared/wait-intervals.js';
import type { JobState } from './job-state.js';

type Stops = Pick<SandboxView, 'archiveAfter' | 'ttlSeconds'>;

/** In runs of jobs from before it, renewals end no wait, and an auto-stop that is off has a timer. */
export const looksLessPatch = 'looks-less';

/** True if renewals show the sandbox of the job at least as often as the job looks at a prompt that was handed over. */
export function renewalsShowSandbox({ input: { ttlSeconds }, timing }: JobState): boolean {
  return ttlSeconds !== null && renewAutoStopInMs(ttlSeconds, true) <= timing.promptPollMaxMs;
}

/** True if the sandbox has no auto-stop, and nobody else can give it one that this job has to renew. */
export function hasNothingToRenew({ input: { ttlSeconds, source } }: JobState): boolean {
  return ttlSeconds === null && source.kind !== 'existing';
}

/** If the stop comes this much later than before, in ms, the auto-stop was restarted. */
const leastMoveMs = 2_000;

/**
 * Renews the auto-stop. For somebody else's sandbox, it does not change the length of the auto-stop. Does not throw, so
 * that a failure does not end the job: `carried.autoStop` then says why.
 * @returns false if the service refused, or did not answer
 */
export async function renewAutoStop(job: JobState): Promise<boolean> {
  const { hintsOfEnd, seenRunningAtMs } = job;
  const isAnswered = await renew(job);
  const isBlind = job.hintsOfEnd === hintsOfEnd && job.seenRunningAtMs === seenRunningAtMs;
  // Renewals that fail are repeated more often than a job has to look.
  if (isBlind && Date.now() - job.blindRenewalAtMs >= promptPollMs(job.timing, 0)) job.blindRenewalAtMs = Date.now();
  return isAnswered;
}

async function renew(job: JobState): Promise<boolean> {
  try {
    job.setAutoStop((await isRenewed(job)) ? null : notMoved);
    return true;
  } catch (error) {
    if (isCancellation(error)) throw error;
    const cause = causeOf(error);
    job.setAutoStop(serviceFailureOf(error)?.message ?? (cause instanceof Error ? cause.message : String(cause)));
    return false;
  }
}

const notMoved = 'the service accepts the renewal, but does not move the time of the stop';

async function isRenewed(job: JobState): Promise<boolean> {
  const { sandbox, input } = job;
  if (!sandbox) return true;
  const isOthers = input.source.kind === 'existing';
  const before = isOthers ? await reads.getSandbox(sandbox.id) : sandbox;
  const ttlSeconds = isOthers ? (before?.ttlSeconds ?? null) : input.ttlSeconds;
  if (ttlSeconds === null || before === null) return true;
  const renewed = await setTtl(job, ttlSeconds);
  if (renewed === 'gone' || (renewed !== 'no_changes' && hasMoved(before, renewed, ttlSeconds))) return true;
  // A service may regard the same value as no change.
  const changed = await setTtl(job, ttlSeconds === 1 ? 2 : ttlSeconds - 1);
  await setTtl(job, ttlSeconds);
  return changed === 'gone' || (changed !== 'no_changes' && hasMoved(before, changed, ttlSeconds));
}

/** True also if the service does not show when the sandbox stops. */
function hasMoved(before: Stops, after: Stops, ttlSeconds: number): boolean {
  if (after.archiveAfter === undefined) return true;
  const stopsAtMs = Date.parse(after.archiveAfter);
  // A working agent may have moved it a moment ago, so that it hardly moves now.
  const isFar = stopsAtMs - Date.now() >= ttlSeconds * 750;
  return isFar || stopsAtMs - Date.parse(before.archiveAfter ?? '') > leastMoveMs;
}

async function setTtl(job: JobState, ttlSeconds: number): Promise<Stops | 'gone' | 'no_changes'> {
  const { sandbox } = job;
  if (!sandbox) return 'gone';
  const options = { scheduleToCloseTimeout: '1 minute', summary: 'renew auto-stop' } as const;
  try {
    const value = await effects.updateSandbox.executeWithOptions(options, [sandbox.id, { ttlSeconds }]);
    if (value === null) job.hintsOfEnd += 1;
    if (value === null) return 'gone';
    if (job.sandbox?.id === value.id) {
      if (value.state === 'running') job.seenRunningAtMs = Date.now();
      else job.hintsOfEnd += 1;
      const { name, health, healthReason, degradedSince, archiveAfter } = value;
      job.sandbox = { ...job.sandbox, name, health, healthReason, degradedSince, archiveAfter };
    }
    return value;
  } catch (error) {
    if (serviceFailureOf(error)?.code !== 'no_changes') throw error;
    return 'no_changes';
  }
}
