/**
 * Sends a prompt at most once, and follows it for a moment: one activity instead of two for a short prompt, because each
 * costs a job more than its calls do. The caller follows a longer prompt by `followPrompt`, which has slots of its own.
 */
import { activityInfo } from '@temporalio/activity';
import { anySignal, timeLimit } from '../../src/os/any-signal.js';
import { currentAttempt, type Spent, withHeartbeat } from '../retry/attempt.js';
import type { createFollow, FollowPromptInput } from './follow-prompt.js';
import type { PromptEvidence } from './record.js';
import type { SendPromptInput, sendPromptActivity } from './send.js';

export interface SendAndFollowInput extends SendPromptInput {
  readonly follow: Pick<FollowPromptInput, 'resultKey' | 'answerBytes' | 'readLagMs'>;
}

/** A prompt that the service has accepted. */
export interface AcceptedPrompt extends PromptEvidence {
  /** In ms since the epoch. */
  readonly acceptedAtMs: number;
}

/** The details of heartbeats after the acceptance. */
interface Accepted {
  readonly accepted: AcceptedPrompt;
  readonly spent: Spent;
}

export interface BriefFollowOptions {
  /** How long the call that sends a prompt also follows it, in ms. At most 30 000. Default: 2 000. */
  readonly briefFollowMs?: number;
}

/** The activity must end well before its time limit. */
const longestFollowMs = 30_000;
/** The part of the activities of a worker that may follow at once. The others are free for stops and new prompts. */
const shareOfFollows = 3 / 4;

/**
 * Sends a prompt and follows it for a moment, unless too many activities follow already. Sends it at most once, even
 * across runs that share the record.
 *
 * @param options.maxActivities how many activities the worker runs at once. Default: any number may follow
 * @returns an activity. Its `end` is null if the prompt may still run: the caller then follows it, or interrupts it
 * @throws ApplicationFailure as `sendPrompt`; nothing is thrown once the prompt was accepted
 */
export function sendAndFollowPromptActivity(
  send: ReturnType<typeof sendPromptActivity>,
  follow: ReturnType<typeof createFollow>,
  {
    briefFollowMs = 2_000,
    maxActivities = Number.POSITIVE_INFINITY,
  }: BriefFollowOptions & { readonly maxActivities?: number } = {},
) {
  let follows = 0;
  return async function sendAndFollowPrompt(input: SendAndFollowInput) {
    const attempt = currentAttempt();
    const before = activityInfo().heartbeatDetails as Partial<Accepted> | undefined;
    if (before?.accepted) return { accepted: before.accepted, end: null };
    const accepted = acceptedOf(input, await send(input));
    const details = (): Accepted => ({ accepted, spent: { calls: attempt.calls(), maybeSent: true } });
    if (follows >= Math.floor(maxActivities * shareOfFollows)) return { accepted, end: null };
    const enough = timeLimit(Math.min(briefFollowMs, longestFollowMs));
    const signal = anySignal([attempt.signal, enough]);
    // Whatever keeps this follow from the end, the next one meets it too, and can be repeated.
    const following = () => follow(followInputOf(input, accepted), signal);
    follows += 1;
    const end = await withHeartbeat(following, details)
      .catch(() => null)
      .finally(() => {
        follows -= 1;
      });
    return { accepted, end };
  };
}

function acceptedOf({ query }: SendAndFollowInput, { promptId, conversationId }: PromptEvidence): AcceptedPrompt {
  return { promptId, conversationId: conversationId ?? query.conversationId, acceptedAtMs: Date.now() };
}

function followInputOf({ query, body, follow }: SendAndFollowInput, accepted: AcceptedPrompt): FollowPromptInput {
  const { sandboxId, knownPromptIds, recordKey, isOwnSandbox } = query;
  const { promptId, conversationId } = accepted;
  const ids = { sandboxId, promptId, conversationId, knownPromptIds, recordKey, isOwnSandbox };
  // In a shared sandbox, conversations of others also keep the state at running.
  return { ...ids, ...follow, prompt: body.prompt, sideBySide: !isOwnSandbox };
}
