/**
 * Stops the sandbox of a job at its end, and waits until a read confirms that it is archived.
 *
 *     asking ─► waiting ─► completed | superseded | gone
 *        ▲         │
 *        └─────────┘ the service no longer knows the stop
 *
 * Safe to cancel at any point, and safe to repeat, because `run.stop` contains the id of the expected stop.
 */
import { sleep } from '@temporalio/workflow';
import type { StopAnswer } from '../../../activities/sandbox/stop-resume.js';
import { longestLagPauseMs } from '../../../src/contract/workflow-safe/read-lag.js';
import type { SandboxView, StopView } from '../../../src/contract/workflow-safe/sandbox-view.js';
import type { StopResult } from '../../../src/protocol/job/job-result.js';
import { followStop, readKept, type StopEnd } from '../../shared/follow-stop.js';
import { sandboxFailed } from '../../shared/job-termination.js';
import { effects } from '../../shared/proxies.js';
import { retryRefusals } from '../../shared/retry-refusals.js';
import { safetyPollMs } from '../../shared/wait-intervals.js';
import { requestStop } from '../../stop/request-stop.js';
import { holdingClaim } from '../../watch/hold-claim.js';
import type { JobState } from '../job-state.js';
import { readSandbox } from '../sandbox/wait-until-usable.js';
import { takeTranscriptRequest } from './transcript.js';

const gone: StopResult = { stopId: null, status: 'gone', kept: null, error: null };

const claim = { purpose: 'end', ends: 'work' } as const;

/**
 * Stops the sandbox.
 * @throws JobTermination `sandbox_leased` if another job uses the sandbox
 */
export async function stopSandbox(run: JobState, sandboxId: string): Promise<void> {
  const isGiven = run.input.source.kind === 'existing';
  if (!run.isShared && !isGiven) return stopAndConfirm(run, sandboxId);
  const { granted, leasedBy } = await retryRefusals(run, 'claim', () => effects.claimSandbox(sandboxId, claim));
  if (granted) return holdingClaim(sandboxId, claim, () => stopAndConfirm(run, sandboxId), run);
  // Another workflow claims the sandbox without working in it, so it is about to stop or delete it too.
  if (leasedBy.length === 0 && !run.isShared) return stopAndConfirm(run, sandboxId);
  const why = `${leasedBy.join(', ')} uses it; its auto-stop will stop it`;
  throw sandboxFailed('sandbox_leased', why);
}

/**
 * Stops the sandbox. The result states what the service preserved. If a person has resumed the sandbox since, it is not
 * stopped again: the result says `superseded` or `completed`, and `left` names the machine.
 */
async function stopAndConfirm(run: JobState, sandboxId: string): Promise<void> {
  let since = run.inbox.mark();
  // An earlier run of this job may have requested the stop. This run has not read that stop yet.
  let readFirst = true;
  for (let requests = 0; run.stop === null || !isEnded(run.stop); requests += 1) {
    if (run.stop === null) {
      run.enter('stopping');
      if (requests > 0)
        await sleep(safetyPollMs(run.timing, requests - 1), { summary: 'before the stop is requested again' });
      since = run.inbox.mark();
      const isBound = await requestAndBind(run, sandboxId);
      if (!isBound) return;
      readFirst = false;
    }
    run.enter('waiting_for_archive');
    const end = await followStop(run, {
      ...{ sandboxId, stopId: run.stop?.stopId ?? '', orLater: true, since, readFirst },
      onPending: (seen) => notePending(run, seen),
    });
    run.stop = await stopResultOf(run, end);
  }
}

/** Requests the stop. @returns false if there is nothing to wait for */
async function requestAndBind(run: JobState, sandboxId: string): Promise<boolean> {
  const takeTranscript = () => takeTranscriptRequest(run, sandboxId);
  const call = { sandboxId, timing: run.timing, memory: run.stopRequest, takeTranscript };
  let answer = await requestStop(run, call);
  run.isTranscriptTaken = true;
  for (let polls = 0; isBeforeResume(run, answer) || (await isShown(run, sandboxId, answer)); polls += 1) {
    await sleep(Math.min(safetyPollMs(run.timing, polls), longestLagPauseMs), {
      summary: 'the answer may be stale; the stop is requested again after this wait',
    });
    answer = await requestStop(run, call);
  }
  if (answer === 'gone') {
    run.stop = gone;
    return false;
  }
  const { how, sandbox } = answer;
  run.sandbox = sandbox;
  // If a sandbox is archived although its last stop was superseded, it was archived without a stop.
  const stop = how === 'already_archived' && answer.stop?.status === 'superseded' ? null : answer.stop;
  if (stop === null || how === 'already_archived' || how === 'resumed_since') {
    run.stop = await endedBy(run, { stop, sandbox });
    return false;
  }
  run.stop = waitingFor(stop);
  run.stopRequest.requestedAt = stop.requestedAt;
  return true;
}

/**
 * True if the answer may be older than the resume: it shows an archived sandbox with no stop after the resume, and
 * reads may still lag.
 */
function isBeforeResume({ resumedAtMs, previousStopId, timing }: JobState, answer: StopAnswer): boolean {
  if (resumedAtMs === null || answer === 'gone' || answer.how !== 'already_archived') return false;
  return (answer.stop?.id ?? null) === previousStopId && Date.now() - resumedAtMs < timing.readLagMs;
}

/** True if a read shows the sandbox although the stop did not find it. */
async function isShown(run: JobState, sandboxId: string, answer: StopAnswer): Promise<boolean> {
  if (answer !== 'gone') return false;
  return (await readSandbox(run, sandboxId)) !== null;
}

function notePending(run: JobState, { stop, sandbox }: Ended & { readonly stop: StopView }): void {
  run.sandbox = sandbox;
  if (stop.id !== run.stop?.stopId) run.stopRequest.requestedAt = stop.requestedAt;
  run.stop = waitingFor(stop);
}

/** @returns null if the stop must be requested again, because the service does not know it */
async function stopResultOf(run: JobState, end: StopEnd): Promise<StopResult | null> {
  if (end.kind === 'vanished') return null;
  if (end.kind === 'gone') return { ...gone, stopId: run.stop?.stopId ?? null };
  run.sandbox = end.sandbox;
  return endedBy(run, end);
}

interface Ended {
  readonly stop: StopView | null;
  readonly sandbox: SandboxView;
}

/** The result of a stop that has ended. If the machine still runs, adds it to `left`. */
async function endedBy(run: JobState, { stop, sandbox }: Ended): Promise<StopResult> {
  const { id: sandboxId, name: sandboxName, state } = sandbox;
  const stopId = stop?.id ?? null;
  const status = stop?.status === 'superseded' ? 'superseded' : 'completed';
  const why = `Somebody has resumed the sandbox since the stop ${stopId}, so it was not stopped again`;
  if (status === 'superseded') return { stopId, status, kept: null, error: why };
  if (state !== 'archived' && state !== 'archiving') {
    run.leave({ kind: 'sandbox', sandboxId, sandboxName, why: `${why}.` });
  }
  const requestedAt = (stopId === run.stop?.stopId && run.stopRequest.requestedAt) || null;
  return { stopId, status, kept: await readKept(run, { stop, sandbox }, requestedAt), error: null };
}

/** A stop that is reported as ended counts as pending until a read confirms its end. */
function waitingFor(stop: StopView): StopResult {
  const status = isEnded(stop) ? 'pending' : stop.status;
  return { stopId: stop.id, status, kept: null, error: stop.error };
}

function isEnded({ status }: Pick<StopResult, 'status'>): boolean {
  return status === 'completed' || status === 'superseded' || status === 'gone';
}
