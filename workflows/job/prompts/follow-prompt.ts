/** Follows a prompt until it ends or the job continues as new. */
import { CancellationScope, condition, patched, workflowInfo } from '@temporalio/workflow';
import type { PromptEnd } from '../../../activities/prompt/end.js';
import type { FollowPromptInput } from '../../../activities/prompt/follow-prompt.js';
import { followTaskQueue } from '../../../src/addresses/addresses.js';
import { followProxies, longFollow } from '../../shared/activity-options.js';
import { ContinueAsNewRequest } from '../../shared/continue-as-new.js';
import { observeWake } from '../../shared/metrics.js';
import { retryRefusals } from '../../shared/retry-refusals.js';
import { conditionUntil } from '../../shared/shared-timer.js';
import { promptPollMs } from '../../shared/wait-intervals.js';
import type { JobState } from '../job-state.js';
import { looksLessPatch, renewalsShowSandbox } from '../renew-auto-stop.js';
import { followSettings } from './follow-settings.js';
import { promptSummary } from './prompt-call.js';
import { promptQuery, type SentPrompt } from './prompt-query.js';

/** How long the follower is taken to know a prompt, in ms. */
const registeredForMs = 3_600_000;

/**
 * Waits for the end of a prompt. Safe to repeat. An activity follows a young prompt. Then the follower of prompts tells
 * the job when to look. Renewals of the auto-stop show the sandbox too; without frequent ones, the job looks by itself. In a sandbox with other prompts, its state says
 * nothing of one of them, so an activity goes on with rare heartbeats.
 * @param sideBySide true if conversations run in parallel
 * @throws ContinueAsNewRequest if the history is long: the next run follows the prompt again
 */
export async function followPrompt(job: JobState, sent: SentPrompt, sideBySide: boolean): Promise<PromptEnd> {
  const input = followInputOf(job, sent, sideBySide);
  const sinceMs = job.carried.sinceMs;
  if (input.sideBySide) {
    const handOver = { sinceMs, toldUntilMs: null };
    return (
      (await unlessHistoryIsLong(job, () => callFollow(job, sent, { ...input, handOver }))) ??
      (await unlessHistoryIsLong(job, () => followToEnd(job, sent, input, longFollow)))
    );
  }
  // A job without a deadline has a fork that waits for its first sandbox, and no prompt.
  const toldUntilMs = job.carried.deadlineAtMs ?? Date.now() + job.input.deadlineMs;
  let registeredAtMs = Number.NEGATIVE_INFINITY;
  let isTold = false;
  for (let looks = 0; ; looks += 1) {
    const { hintsOfEnd } = job;
    // Each registration is billed, but the follower may have lost an old one.
    const isRegistered = Date.now() - registeredAtMs < registeredForMs;
    const handOver = { sinceMs, toldUntilMs: isRegistered ? null : toldUntilMs };
    const end = await unlessHistoryIsLong(job, () => callFollow(job, sent, { ...input, handOver }));
    if (end !== null) {
      if (isTold) observeWake('follower', Date.now() - Date.parse(end.endedAt ?? ''));
      return end;
    }
    if (!isRegistered) registeredAtMs = Date.now();
    await untilLookIsDue(job, hintsOfEnd, looks);
    // The follower has told, and forgotten the job.
    isTold = job.hintsOfEnd !== hintsOfEnd;
    if (isTold) registeredAtMs = Number.NEGATIVE_INFINITY;
  }
}

/** Follows a prompt to its end by one activity. Safe to repeat. */
export async function followToEnd(
  job: JobState,
  sent: SentPrompt,
  input: FollowPromptInput,
  options: Partial<typeof longFollow> = {},
): Promise<PromptEnd> {
  const end = await callFollow(job, sent, input, options);
  if (end === null) throw new TypeError('A follow that hands nothing over ends with the prompt');
  return end;
}

function callFollow(
  job: JobState,
  { index }: SentPrompt,
  input: FollowPromptInput,
  options: Partial<typeof longFollow> = {},
): Promise<PromptEnd | null> {
  const { followPrompt: follow } = followProxies(followTaskQueue(workflowInfo().taskQueue));
  const summary = promptSummary(job.stepOf(index).prompt);
  return retryRefusals(job, 'follow', () => follow.executeWithOptions({ summary, ...options }, [input]));
}

/**
 * Waits until something tells that the prompt may have ended, or until nothing has shown the sandbox for long. Not by
 * `until`: it reads after each wait and records who ended it, to find lost webhooks, and the end of a prompt has none.
 */
async function untilLookIsDue(job: JobState, hintsOfEnd: number, looks: number): Promise<void> {
  const isTold = () => job.hintsOfEnd !== hintsOfEnd || job.mustContinueAsNew();
  if (renewalsShowSandbox(job) && patched(looksLessPatch)) {
    // A timer of its own would be paid for, and each renewal would put it off.
    const { blindRenewalAtMs } = job;
    await condition(() => isTold() || job.blindRenewalAtMs !== blindRenewalAtMs);
    job.continueAsNewIfDue();
    return;
  }
  const beganMs = Date.now();
  for (;;) {
    const { seenRunningAtMs } = job;
    const untilMs = Math.max(beganMs, seenRunningAtMs) + promptPollMs(job.timing, looks);
    if (await conditionUntil(isTold, untilMs, 'end of the prompt: told by the follower, or read then')) break;
    // A renewal of the auto-stop has seen the sandbox in the meantime.
    if (job.seenRunningAtMs === seenRunningAtMs) return;
  }
  job.continueAsNewIfDue();
}

/** Runs `step` unless the job must continue as new in the meantime. */
async function unlessHistoryIsLong<T>(job: JobState, step: () => Promise<T>): Promise<T> {
  const scope = new CancellationScope();
  const leave = async () => {
    await condition(job.mustContinueAsNew);
    throw new ContinueAsNewRequest();
  };
  try {
    return await Promise.race([scope.run(step), scope.run(leave)]);
  } finally {
    scope.cancel();
  }
}

/** The input of the follow: how to identify the prompt at the service, and where to store its answer. */
export function followInputOf(job: JobState, sent: SentPrompt, sideBySide: boolean): FollowPromptInput {
  const { sandboxId, index } = sent;
  const { prompt } = job.stepOf(index);
  const { promptId, conversationId } = job.promptOf(index);
  const { knownPromptIds, recordKey, isOwnSandbox } = promptQuery(job, { sandboxId, index, conversationId });
  return {
    ...{ sandboxId, promptId, conversationId, prompt, knownPromptIds, recordKey, isOwnSandbox },
    ...followSettings(job, index, sideBySide ? job.input.prompts.length : 1),
    // In a shared sandbox, conversations of others also keep the state at running.
    sideBySide: sideBySide || !isOwnSandbox,
  };
}
