/**
 * Retry class `evidence`: prompt. The service has no idempotency key for it (trap S3), so the activity writes its
 * intent to Temporal, and waits until Temporal has it, before the first byte goes out:
 *
 *     (nothing) ──intent──► sending ──accepted──► done
 *                              └──certainly not──► not_sent
 *
 * A later attempt that finds no intent, or `not_sent`, sends. One that finds `sending` looks for evidence and never
 * sends. An attempt that Temporal has given up cannot write its intent any more, and so cannot send either.
 */
import { activityInfo, Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { SandboxClient } from '../src/client/index.js';
import type { PromptBody } from '../src/contract/requests.js';
import { type Counted, outcomeUnknownCode } from '../src/contract/service-failure.js';
import { type Attempt, createAttempt } from './calls.js';
import { describeFailure, effectOf, finalFailure, outcomeUnknown, whoRepeats } from './failures.js';
import { findPromptEvidence, type PromptEvidence, type PromptEvidenceQuery } from './prompt-evidence.js';

export interface SendPromptInput {
  readonly sandboxId: string;
  readonly body: PromptBody;
  /** True after a reset, when the prompt may have been sent by a run that this one does not remember. */
  readonly lookFirst: boolean;
  /** How to recognise the prompt in the history of the sandbox, should the answer be lost. */
  readonly evidence: PromptEvidenceQuery;
}

interface Intent {
  readonly phase: 'sending' | 'not_sent';
}

/** The call is given up this long before the attempt's own end. */
const marginMs = 5_000;
const evidenceDelaysMs = [0, 500, 1_500, 3_000];

/**
 * Queues a prompt. Sent at most once (see the top of the file).
 *
 * @throws ApplicationFailure `outcome_unknown` when nobody can know whether the prompt was accepted
 */
export function sendPromptActivity(client: SandboxClient) {
  return async function sendPrompt(input: SendPromptInput): Promise<Counted<PromptEvidence>> {
    const attempt = createAttempt();
    const earlier = activityInfo().heartbeatDetails as Intent | undefined;
    if (attempt.attempt > 1 && earlier?.phase === 'sending') return adoptOrGiveUp(client, input, attempt, 'crash');
    if (input.lookFirst) return adoptOrGiveUp(client, input, attempt, 'reset');

    const timeoutMs = remainingMs() - marginMs;
    if (timeoutMs <= 0) {
      throw ApplicationFailure.retryable('Too little time was left in this attempt to send the prompt', 'no_time_left');
    }
    await record({ phase: 'sending' });
    try {
      // No abort signal: a call that is cut in the middle would leave the outcome unknown for nothing.
      const answer = await attempt.call(() =>
        client.sendPrompt(input.sandboxId, input.body, { timeoutMs: Math.min(timeoutMs, 30_000) }),
      );
      return {
        value: { promptId: answer.promptId ?? null, conversationId: answer.conversationId },
        calls: attempt.calls(),
      };
    } catch (error) {
      if (effectOf(error) === 'unknown') return adoptOrGiveUp(client, input, attempt, 'lost_answer');
      await record({ phase: 'not_sent' });
      const failure = describeFailure(error, attempt.calls());
      if (!failure) throw error;
      if (whoRepeats(failure.meaning, 'none', attempt.attempt) !== 'temporal') throw finalFailure(failure);
      throw ApplicationFailure.create({ message: failure.message, type: failure.code, details: [failure] });
    }
  };
}

/** Resolves when Temporal has it; rejects when Temporal has given this attempt up. */
async function record(intent: Intent): Promise<void> {
  await Context.current().client.activity.heartbeat(activityInfo().taskToken, intent);
}

function remainingMs(): number {
  const { currentAttemptScheduledTimestampMs, startToCloseTimeoutMs } = activityInfo();
  return currentAttemptScheduledTimestampMs + startToCloseTimeoutMs - Date.now();
}

const whatHappened = {
  crash: 'An earlier attempt ended while it was sending the prompt',
  reset: 'This run was reset, and an earlier one may have sent the prompt',
  lost_answer: 'The answer to the prompt was lost',
} as const;

async function adoptOrGiveUp(
  client: SandboxClient,
  input: SendPromptInput,
  attempt: Attempt,
  reason: keyof typeof whatHappened,
): Promise<Counted<PromptEvidence>> {
  for (const delayMs of evidenceDelaysMs) {
    await Context.current().sleep(delayMs);
    const evidence = await findPromptEvidence(client, input.evidence, attempt).catch(() => null);
    if (evidence) return { value: evidence, calls: attempt.calls() };
  }
  const why = `${whatHappened[reason]}, and the history of ${input.sandboxId} does not show it (${outcomeUnknownCode}).`;
  throw outcomeUnknown(why, { endpoint: 'sendPrompt', calls: attempt.calls() });
}
