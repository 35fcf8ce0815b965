/**
 * Sends a prompt at most once, and follows it to its end: one activity instead of two, because each costs a job more than
 * its calls do.
 *
 *     sending ──accepted──► following ──► end
 *                               └──cancel, or a failure that Temporal must not repeat──► no end
 *
 * From the acceptance on, each heartbeat has the ids of the prompt, so that a later attempt only follows.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { activityInfo, Context, heartbeat } from '@temporalio/activity';
import { ServiceError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import type { SandboxClient } from '../../src/client/index.js';
import { type AcceptedPrompt, promptAcceptedSignal } from '../../src/protocol/messages.js';
import type { ResultStore } from '../../src/result-store/index.js';
import { currentAttempt, type Spent } from '../retry/attempt.js';
import type { PromptEnd } from './end.js';
import type { FollowHub } from './follow-hub.js';
import { createFollow, type FollowPromptInput } from './follow-prompt.js';
import type { PromptEvidence } from './record.js';
import { type SendPromptInput, sendPromptActivity } from './send.js';

export interface SendAndFollowInput extends SendPromptInput {
  readonly follow: Pick<FollowPromptInput, 'resultKey' | 'answerBytes' | 'readLagMs'>;
  /** Place of the prompt in the job, from 0. */
  readonly index: number;
}

export interface SentPromptEnd {
  readonly accepted: AcceptedPrompt;
  /** Null if the prompt may still run: the caller then follows it again, or interrupts it. */
  readonly end: PromptEnd | null;
}

/** The details of each heartbeat from the acceptance on. */
interface Following {
  readonly phase: 'following';
  readonly accepted: AcceptedPrompt;
  /** True once the workflow was told. */
  readonly isTold: boolean;
  readonly spent: Spent;
}

export interface AnnounceOptions {
  /** The workflow learns the ids of a prompt that lasts longer than this, in ms, so that it can show and interrupt it. */
  readonly announceAfterMs?: number;
}

const heartbeatEveryMs = 6_000;

/**
 * Sends a prompt and follows it. Sends it at most once, even across runs that share the record.
 *
 * @throws ApplicationFailure as `sendPrompt`; nothing is thrown once the prompt was accepted, except what Temporal
 *   repeats
 */
export function sendAndFollowPromptActivity(
  client: SandboxClient,
  hub: FollowHub,
  results: ResultStore,
  { announceAfterMs = 2_000 }: AnnounceOptions = {},
) {
  const send = sendPromptActivity(client, results);
  const follow = createFollow(client, hub, results);
  return async function sendAndFollowPrompt(input: SendAndFollowInput): Promise<SentPromptEnd> {
    const attempt = currentAttempt();
    const before = activityInfo().heartbeatDetails as Partial<Following> | undefined;
    const accepted = before?.accepted ?? acceptedOf(input, await send(input));
    let isTold = before?.isTold === true;
    const beat = () => {
      const spent = { calls: attempt.calls(), maybeSent: true };
      heartbeat({ phase: 'following', accepted, isTold, spent } satisfies Following);
    };
    beat();
    const beats = setInterval(beat, heartbeatEveryMs);
    const ended = new AbortController();
    const tell = async () => {
      await signalAccepted(accepted);
      isTold = true;
      beat();
    };
    if (!isTold) void tellLater(tell, { everyMs: announceAfterMs, signal: ended.signal });
    try {
      return { accepted, end: await follow(followInputOf(input, accepted)) };
    } catch (error) {
      ended.abort();
      // No attempt may last long enough to tell it.
      if (isRepeated(error) && !isTold) await tell().catch(() => undefined);
      beat();
      if (isRepeated(error)) throw error;
      return { accepted, end: null };
    } finally {
      clearInterval(beats);
      ended.abort();
    }
  };
}

function acceptedOf(
  { query, index }: SendAndFollowInput,
  { promptId, conversationId }: PromptEvidence,
): AcceptedPrompt {
  return { index, promptId, conversationId: conversationId ?? query.conversationId, acceptedAtMs: Date.now() };
}

function followInputOf({ query, body, follow }: SendAndFollowInput, accepted: AcceptedPrompt): FollowPromptInput {
  const { sandboxId, knownPromptIds, recordKey, isOwnSandbox } = query;
  const { promptId, conversationId } = accepted;
  const ids = { sandboxId, promptId, conversationId, knownPromptIds, recordKey, isOwnSandbox };
  // In a shared sandbox, conversations of others also keep the state at running.
  return { ...ids, ...follow, prompt: body.prompt, sideBySide: !isOwnSandbox };
}

/** True if Temporal gives the activity to another attempt: after a failure, or because this worker shuts down. */
function isRepeated(error: unknown): boolean {
  if (Context.current().cancellationDetails?.cancelRequested) return false;
  return !(error instanceof ApplicationFailure && error.nonRetryable);
}

/** Tells the ids after a while, and again until Temporal answers. */
async function tellLater(
  tell: () => Promise<void>,
  { everyMs, signal }: { readonly everyMs: number; readonly signal: AbortSignal },
): Promise<void> {
  try {
    for (;;) {
      await sleep(everyMs, undefined, { signal });
      try {
        return await tell();
      } catch (error) {
        if (!(error instanceof ServiceError)) return;
      }
    }
  } catch {
    // The activity has ended: its result has the ids.
  }
}

function signalAccepted(accepted: AcceptedPrompt): Promise<void> {
  const { client, info } = Context.current();
  const { workflowId = '', runId } = info.workflowExecution ?? {};
  return client.workflow.getHandle(workflowId, runId).signal(promptAcceptedSignal, accepted);
}
