/**
 * Stops the sandbox of a job at its end, and waits until a read confirms that it is archived.
 *
 *     asking ─► waiting ─► completed | superseded | gone
 *        ▲         │
 *        └─────────┘ the service no longer knows the stop
 *
 * Safe to cancel at any point, and safe to repeat, because `carried.stop` contains the id of the expected stop.
 */
import { sleep } from '@temporalio/workflow';
import type { StopAnswer } from '../../../activities/sandbox/stop-resume.js';
import { longestLagPauseMs } from '../../../src/contract/workflow-safe/limits.js';
import type { SandboxView, StopView } from '../../../src/contract/workflow-safe/sandbox-view.js';
import type { StopResult } from '../../../src/protocol/job/job-result.js';
import { effects } from '../../shared/activity-options.js';
import type { InboxMark } from '../../shared/event-inbox.js';
import { followStop, readKept, type StopEnd } from '../../shared/follow-stop.js';
import { sandboxFailed } from '../../shared/job-termination.js';
import { retryRefusals } from '../../shared/retry-refusals.js';
import { safetyPollMs } from '../../shared/wait-intervals.js';
import { requestStop } from '../../stop/request-stop.js';
import { holdingClaim, releaseClaim } from '../../watch/hold-claim.js';
import type { JobState } from '../job-state.js';
import { readSandbox } from '../sandbox/wait-until-usable.js';
import { takeTranscriptRequest } from './transcript.js';

const gone: StopResult = { stopId: null, status: 'gone', kept: null, error: null };

const claim = { purpose: 'end', ends: 'work' } as const;

/**
 * Stops the sandbox. The result states what the service preserved. If a person has resumed the sandbox since, it is not
 * stopped again: the result says `superseded` or `completed`, and `left` names the machine.
 * @throws as `beginStop`
 */
export async function stopSandbox(job: JobState, sandboxId: string): Promise<void> {
  let since = job.inbox.mark();
  // An earlier run of this job may have requested the stop. This run has not read that stop yet.
  let readFirst = true;
  for (let requests = 0; job.carried.stop === null || !isEnded(job.carried.stop); requests += 1) {
    if (job.carried.stop === null) {
      if (requests > 0)
        await sleep(safetyPollMs(job.timing, requests - 1), { summary: 'before the stop is requested again' });
      since = job.inbox.mark();
      const isBound = await beginStop(job, sandboxId);
      if (!isBound) return;
      readFirst = false;
    }
    job.enter('waiting_for_archive');
    let end = await awaitEnd(job, { sandboxId, since, readFirst });
    if (end.kind === 'superseded') {
      // An escalation resumes the sandbox only to stop it again, and holds a claim until then.
      await untilUnclaimed(job, sandboxId);
      end = await awaitEnd(job, { sandboxId, since, readFirst: true });
    }
    job.carried.stop = await stopResultOf(job, end);
  }
}

function awaitEnd(
  job: JobState,
  wait: { readonly sandboxId: string; readonly since: InboxMark; readonly readFirst: boolean },
): Promise<StopEnd> {
  return followStop(job, {
    ...{ ...wait, stopId: job.carried.stop?.stopId ?? '', orLater: true },
    onPending: (seen) => notePending(job, seen),
  });
}

async function untilUnclaimed(job: JobState, sandboxId: string): Promise<void> {
  const { granted } = await retryRefusals(job, 'claim', () => effects.claimSandbox(sandboxId, claim));
  if (granted) await releaseClaim(sandboxId, claim);
}

/**
 * Requests the stop. A claim keeps others from beginning to work until the service has accepted it. If the claim lasted
 * until the archive, it would hold back the escalation of a stop that goes on failing.
 * @returns false if there is nothing to wait for
 * @throws JobTermination `sandbox_leased` if another job uses the sandbox
 */
export async function beginStop(job: JobState, sandboxId: string): Promise<boolean> {
  const { isShared, watched } = job.carried;
  job.enter('stopping');
  if (!isShared && !watched && job.input.source.kind !== 'existing') return requestAndBind(job, sandboxId);
  const { granted, leasedBy } = await retryRefusals(job, 'claim', () => effects.claimSandbox(sandboxId, claim));
  if (granted) return holdingClaim(sandboxId, claim, () => requestAndBind(job, sandboxId), job);
  const why = `${leasedBy.join(', ')} uses it; its auto-stop will stop it`;
  throw sandboxFailed('sandbox_leased', why);
}

async function requestAndBind(job: JobState, sandboxId: string): Promise<boolean> {
  const takeBefore = () => ({ transcript: takeTranscriptRequest(job, sandboxId), result: job.takeResultToStore() });
  const call = { sandboxId, timing: job.timing, memory: job.carried.stopRequest, takeBefore };
  let answer = await requestStop(job, { ...call, seen: job.seenAtEnd });
  job.isTranscriptTaken = true;
  if (answer !== 'gone') job.noteStored(answer);
  // The stop may not find a sandbox that a read shows.
  const isShown = async () => answer === 'gone' && (await readSandbox(job, sandboxId)) !== null;
  for (let polls = 0; isBeforeResume(job, answer) || (await isShown()); polls += 1) {
    await sleep(Math.min(safetyPollMs(job.timing, polls), longestLagPauseMs), {
      summary: 'the answer may be stale; the stop is requested again after this wait',
    });
    answer = await requestStop(job, call);
  }
  if (answer === 'gone') {
    job.carried.stop = gone;
    return false;
  }
  const { how, sandbox } = answer;
  job.sandbox = sandbox;
  // If a sandbox is archived although its last stop was superseded, it was archived without a stop.
  const stop = how === 'already_archived' && answer.stop?.status === 'superseded' ? null : answer.stop;
  if (stop === null || how === 'already_archived' || how === 'resumed_since') {
    job.carried.stop = await endedBy(job, { stop, sandbox });
    return false;
  }
  job.carried.stop = waitingFor(stop);
  job.carried.stopRequest.requestedAt = stop.requestedAt;
  return true;
}

/**
 * True if the answer may be older than the resume: it shows an archived sandbox with no stop after the resume, and
 * reads may still lag.
 */
function isBeforeResume({ timing, carried: { resumedAtMs, previousStopId } }: JobState, answer: StopAnswer): boolean {
  if (resumedAtMs === null || answer === 'gone' || answer.how !== 'already_archived') return false;
  return (answer.stop?.id ?? null) === previousStopId && Date.now() - resumedAtMs < timing.readLagMs;
}

function notePending(job: JobState, { stop, sandbox }: Ended & { readonly stop: StopView }): void {
  job.sandbox = sandbox;
  if (stop.id !== job.carried.stop?.stopId) job.carried.stopRequest.requestedAt = stop.requestedAt;
  job.carried.stop = waitingFor(stop);
}

/** @returns null if the stop must be requested again, because the service does not know it */
async function stopResultOf(job: JobState, end: StopEnd): Promise<StopResult | null> {
  if (end.kind === 'vanished') return null;
  if (end.kind === 'gone') return { ...gone, stopId: job.carried.stop?.stopId ?? null };
  job.sandbox = end.sandbox;
  return endedBy(job, end);
}

interface Ended {
  readonly stop: StopView | null;
  readonly sandbox: SandboxView;
}

/** The result of a stop that has ended. If the machine still runs, adds it to `left`. */
async function endedBy(job: JobState, { stop, sandbox }: Ended): Promise<StopResult> {
  const { id: sandboxId, name: sandboxName, state } = sandbox;
  const stopId = stop?.id ?? null;
  const status = stop?.status === 'superseded' ? 'superseded' : 'completed';
  const why = `Somebody has resumed the sandbox since the stop ${stopId}, so it was not stopped again`;
  if (status === 'superseded') return { stopId, status, kept: null, error: why };
  if (state !== 'archived' && state !== 'archiving')
    job.leave({ kind: 'sandbox', sandboxId, sandboxName, why: `${why}.` });
  const requestedAt = (stopId === job.carried.stop?.stopId && job.carried.stopRequest.requestedAt) || null;
  return { stopId, status, kept: await readKept(job, { stop, sandbox }, requestedAt), error: null };
}

/** A stop that is reported as ended counts as pending until a read confirms its end. */
function waitingFor(stop: StopView): StopResult {
  const status = isEnded(stop) ? 'pending' : stop.status;
  return { stopId: stop.id, status, kept: null, error: stop.error };
}

function isEnded({ status }: Pick<StopResult, 'status'>): boolean {
  return status === 'completed' || status === 'superseded' || status === 'gone';
}
