/**
 * Follows a prompt to its end. Nothing is pushed when a prompt finishes (trap S1), so this polls, cheaply: shared
 * reads tell when something may have ended, one read of the prompt or its conversation confirms it.
 */
import { heartbeat } from '@temporalio/activity';
import { ApiError, type SandboxClient } from '../src/client/index.js';
import type { Counted } from '../src/contract/service-failure.js';
import { isFinalPromptStatus, isUsable } from '../src/contract/states.js';
import { cut, type Text } from '../src/contract/texts.js';
import type { ResultStore } from '../src/result-store/index.js';
import { type Attempt, createAttempt } from './calls.js';
import { repeatableFailure } from './failures.js';
import type { FollowHub } from './follow-hub.js';
import { readPromptEnd } from './prompt-end.js';

export interface FollowPromptInput {
  readonly sandboxId: string;
  readonly promptId: string | null;
  readonly conversationId: string | null;
  /** The prompt's text or digest, which finds it in the history where there is no id. */
  readonly prompt: Text;
  /** Prompts of this job before this one, for a history without prompt ids. */
  readonly knownPromptIds: readonly string[];
  /** Where the whole result is kept in the result store when it is too long for history. */
  readonly resultKey: string;
  /** How much of the answer history and the job have room for, in bytes. */
  readonly answerBytes: number;
  /** True while conversations run side by side, whose ends the sandbox's state cannot tell apart. */
  readonly sideBySide: boolean;
}

export interface PromptEnd {
  /** A final status, or `sandbox_lost` when the sandbox is not usable any more and the prompt has not ended. */
  readonly status: string;
  /** State of the sandbox with `sandbox_lost`; null when there is no such sandbox. */
  readonly sandboxState: string | null;
  readonly promptId: string | null;
  /** Cut to `answerBytes`; `resultRef` then names the whole. */
  readonly result: string | null;
  readonly resultRef: string | null;
  readonly error: string | null;
  readonly queuedAt: string | null;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
}

const heartbeatEveryMs = 20_000;
const maxErrorLength = 2_000;
/** While conversations run side by side, every so many ticks a prompt is confirmed although the sandbox is running. */
const confirmEveryTicks = 4;

/** Follows a prompt until it has ended. Safe to repeat; lasts as long as the prompt; heartbeats every 20 s. */
export function followPromptActivity(client: SandboxClient, hub: FollowHub, results: ResultStore) {
  return async function followPrompt(input: FollowPromptInput): Promise<Counted<PromptEnd>> {
    const attempt = createAttempt();
    const timer = setInterval(() => heartbeat(), heartbeatEveryMs);
    heartbeat();
    try {
      const end = await follow(client, hub, input, attempt);
      return { value: await cutResult(end, input, results), calls: attempt.calls() };
    } catch (error) {
      throw repeatableFailure(error, { calls: attempt.calls() });
    } finally {
      clearInterval(timer);
    }
  };
}

async function follow(
  client: SandboxClient,
  hub: FollowHub,
  input: FollowPromptInput,
  attempt: Attempt,
): Promise<PromptEnd> {
  const { signal } = attempt;
  const followedSinceMs = Date.now();
  for (let tick = 1; ; tick += 1) {
    const shared = await hub.next(input.sandboxId, { followedSinceMs, signal });
    let state: string | null | undefined = shared.sandbox?.state;
    if (state === 'running' && !(input.sideBySide && tick % confirmEveryTicks === 0)) continue;
    // A list may be incomplete, so only a read of the sandbox itself says that it is gone.
    if (state === undefined) state = await readState(client, input.sandboxId, attempt);
    const end = state === null ? undefined : await readPromptEnd(client, input, attempt);
    if (end && isFinalPromptStatus(end.status)) return { ...end, sandboxState: state ?? null, resultRef: null };
    if (state === null || !isUsable(state)) return sandboxLost(input, state);
  }
}

async function readState(client: SandboxClient, sandboxId: string, attempt: Attempt): Promise<string | null> {
  try {
    return (await attempt.call((signal) => client.getSandbox(sandboxId, { signal }))).sandbox.state;
  } catch (error) {
    if (error instanceof ApiError && error.typed && error.status === 404) return null;
    throw error;
  }
}

function sandboxLost(input: FollowPromptInput, sandboxState: string | null): PromptEnd {
  return {
    status: 'sandbox_lost',
    sandboxState,
    promptId: input.promptId,
    result: null,
    resultRef: null,
    error: null,
    queuedAt: null,
    startedAt: null,
    endedAt: null,
  };
}

/** History has room for an answer, not for a book. */
async function cutResult(
  given: PromptEnd,
  { resultKey, answerBytes }: Pick<FollowPromptInput, 'resultKey' | 'answerBytes'>,
  results: ResultStore,
): Promise<PromptEnd> {
  const end = { ...given, error: given.error && cut(given.error, Math.min(maxErrorLength, answerBytes)) };
  if (end.result === null) return end;
  const whole = Buffer.from(end.result);
  if (whole.byteLength <= answerBytes) return end;
  const { ref } = await results.put(resultKey, whole);
  // A cut in the middle of a character leaves its first bytes, which decode to a replacement character.
  const result = whole
    .subarray(0, answerBytes)
    .toString('utf8')
    .replace(/\uFFFD$/, '');
  return { ...end, result, resultRef: ref };
}
