/**
 * Stops the sandbox of a job at its end, and waits until it is archived; confirmed by a read.
 *
 *     asking ─► waiting ─► completed | superseded | gone
 *        ▲         │
 *        └─────────┘ the stop proved to be nobody's
 *
 * May be cut at any point and begun again: `run.stop` holds the stop that is waited for.
 */
import { patched, sleep } from '@temporalio/workflow';
import type { StopAnswer } from '../../../activities/sandbox/stop-resume.js';
import { preservedWorkOf } from '../../../src/contract/preserved-work.js';
import type { SandboxView, StopView } from '../../../src/contract/sandbox-view.js';
import { effects } from '../../shared/proxies.js';
import { retryRefusals } from '../../shared/retry-refusals.js';
import { safetyPollMs } from '../../shared/timing.js';
import { until } from '../../shared/until.js';
import { observeStop, readStop } from '../../stop/read-stop.js';
import { requestStop } from '../../stop/request-stop.js';
import { holdingClaim } from '../../watch/claim.js';
import type { JobState } from '../state.js';
import { JobTermination, jobError } from '../termination.js';
import type { StopResult } from '../types.js';
import { readSandbox } from '../wait-until-usable.js';

const longestLookMs = 15_000;

const gone: StopResult = { stopId: null, status: 'gone', kept: null, error: null };

const claim = { purpose: 'end', ends: 'work' } as const;

/**
 * Stops the sandbox, unless another job works in it.
 * @throws JobTermination `sandbox_leased` then
 */
export async function stopSandbox(run: JobState, sandboxId: string): Promise<void> {
  if (!run.isShared) return stopAndConfirm(run, sandboxId);
  const { granted, leasedBy } = await retryRefusals(run, 'claim', () => effects.claimSandbox(sandboxId, claim));
  if (granted) return holdingClaim(sandboxId, claim, () => stopAndConfirm(run, sandboxId));
  const why = `${leasedBy.join(', ')} works in it; its auto-stop is left to end it`;
  throw new JobTermination('sandbox_failed', jobError('sandbox_leased', why));
}

/**
 * Stops the sandbox. The result tells what the service kept. What a person has resumed since is not stopped again: the
 * result says `superseded`, or `completed`, and `left` names the machine.
 */
async function stopAndConfirm(run: JobState, sandboxId: string): Promise<void> {
  let since = run.inbox.mark();
  // What an earlier run of the chain has bound was not read in this one.
  let readFirst = true;
  for (let asked = 0; run.stop === null || !isEnded(run.stop); asked += 1) {
    if (run.stop === null) {
      run.enter('stopping');
      if (asked > 0) await sleep(safetyPollMs(run.timing, asked - 1), { summary: 'ask again' });
      since = run.inbox.mark();
      const isBound = await ask(run, sandboxId);
      if (!isBound) return;
      readFirst = false;
    }
    run.enter('waiting_for_archive');
    await until<true>(sandboxId, {
      inbox: run.inbox,
      timing: run.timing,
      onWake: run.onWake,
      waitedFor: 'archived',
      wakeOn: ['sandbox.archived', 'sandbox.ready', 'sandbox.error'],
      since,
      // An event carries no stop id, and a late one of an earlier stop looks the same (trap S6).
      read: () => look(run, sandboxId),
      readFirst,
    });
  }
}

/** @returns false where nothing is left to wait for */
async function ask(run: JobState, sandboxId: string): Promise<boolean> {
  const wish = { sandboxId, timing: run.timing, memory: run.stopRequest };
  let answer = await requestStop(run, wish);
  for (let polls = 0; isBeforeResume(run, answer) || (await isShown(run, sandboxId, answer)); polls += 1) {
    await sleep(Math.min(safetyPollMs(run.timing, polls), longestLookMs), {
      summary: 'what was answered may be old; asked again after this',
    });
    answer = await requestStop(run, wish);
  }
  if (answer === 'gone') {
    run.stop = gone;
    return false;
  }
  const { how, sandbox } = answer;
  run.sandbox = sandbox;
  // An archived sandbox whose last stop was superseded was archived by something that left no stop.
  const stop = how === 'already_archived' && answer.stop?.status === 'superseded' ? null : answer.stop;
  if (stop === null || how === 'already_archived' || how === 'resumed_since') {
    run.stop = await endedBy(run, { stop, sandbox });
    return false;
  }
  run.stop = waitingFor(stop);
  run.stopRequest.requestedAt = stop.requestedAt;
  return true;
}

/** An archived sandbox that shows no stop since the job resumed it may be an old answer, while reads may lag. */
function isBeforeResume({ resumedAtMs, previousStopId, timing }: JobState, answer: StopAnswer): boolean {
  if (resumedAtMs === null || answer === 'gone' || answer.how !== 'already_archived') return false;
  return (answer.stop?.id ?? null) === previousStopId && Date.now() - resumedAtMs < timing.readLagMs;
}

/** What the stop does not find, another read may show: then it is not gone. */
async function isShown(run: JobState, sandboxId: string, answer: StopAnswer): Promise<boolean> {
  if (answer !== 'gone' || !patched('a sandbox that a stop does not find is read')) return false;
  return (await readSandbox(run, sandboxId)) !== null;
}

/** @returns true where the stop has ended, or nobody knows it and it must be asked for again */
async function look(run: JobState, sandboxId: string): Promise<true | undefined> {
  const sight = await observeStop(run, sandboxId, run.stop?.stopId ?? '');
  switch (sight.kind) {
    case 'open':
      if (sight.stop.id !== run.stop?.stopId) run.stopRequest.requestedAt = sight.stop.requestedAt;
      run.stop = waitingFor(sight.stop);
      return undefined;
    case 'vanished':
      run.stop = null;
      return true;
    case 'gone':
      run.stop = { ...gone, stopId: run.stop?.stopId ?? null };
      return true;
    default:
      run.stop = await endedBy(run, sight);
      return true;
  }
}

interface Ended {
  readonly stop: StopView | null;
  readonly sandbox: SandboxView;
}

/** What the stop came to, once it goes on no more. Names a machine that runs all the same. */
async function endedBy(run: JobState, { stop, sandbox }: Ended): Promise<StopResult> {
  const { id: sandboxId, name: sandboxName, state } = sandbox;
  const stopId = stop?.id ?? null;
  const status = stop?.status === 'superseded' ? 'superseded' : 'completed';
  const why = `Somebody has resumed the sandbox since the stop ${stopId}, so it was not stopped again`;
  if (status === 'superseded') return { stopId, status, kept: null, error: why };
  if (state !== 'archived' && state !== 'archiving') {
    run.leave({ kind: 'sandbox', sandboxId, sandboxName, why: `${why}.` });
  }
  const isLast = stopId === null || sandbox.stop === null || sandbox.stop.id === stopId;
  if (!isLast) return { stopId, status, kept: null, error: null };
  const asked = stopId === run.stop?.stopId ? run.stopRequest.requestedAt : null;
  const requestedAt = asked ?? (stopId && (await readStop(run, sandboxId, stopId))?.requestedAt) ?? null;
  return { stopId, status, kept: preservedWorkOf(sandbox, { requestedAt }), error: null };
}

/** Until it is confirmed it goes on, whatever its status says. */
function waitingFor(stop: StopView): StopResult {
  const status = isEnded(stop) ? 'pending' : stop.status;
  return { stopId: stop.id, status, kept: null, error: stop.error };
}

function isEnded({ status }: Pick<StopResult, 'status'>): boolean {
  return status === 'completed' || status === 'superseded' || status === 'gone';
}
