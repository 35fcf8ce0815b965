/**
 * Retry class `evidence`: calls without an idempotency key that must not be made twice (trap S3). The activity writes
 * its intent to Temporal, and waits until Temporal has it, before the first byte goes out:
 *
 *     (nothing) ──intent──► sending ──accepted──► done
 *                              └──certainly not──► not_sent
 *
 * A later attempt that finds no intent, or `not_sent`, sends. One that finds `sending` looks for evidence and never
 * sends. An attempt that Temporal has given up cannot write its intent any more, and so cannot send either.
 */
import { activityInfo, Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { EndpointName } from '../src/contract/endpoints.js';
import { outcomeUnknownCode } from '../src/contract/service-failure.js';
import type { Attempt } from './calls.js';
import { describeFailure, effectOf, finalFailure, outcomeUnknown, whoRepeats } from './failures.js';

export interface EvidenceCall<Value, Known> {
  readonly endpoint: EndpointName;
  readonly attempt: Attempt;
  /** What is sent, such as `the prompt`, for messages. */
  readonly what: string;
  /** Where evidence is looked for, such as `the history of bx_…`, for messages. */
  readonly where: string;
  /** True after a reset, when it may have been sent by a run that this one does not remember: then it only looks. */
  readonly lookFirst?: boolean;
  /** What `look` must know of the time before the first byte; kept with the intent, so it holds no secret. */
  readonly before: () => Promise<Known>;
  /** Without an abort signal: a call that is cut in the middle would leave the outcome unknown for nothing. */
  readonly send: (timeoutMs: number) => Promise<Value>;
  /** Evidence that it took effect, or null. `known` is undefined after a reset. */
  readonly look: (known: Known | undefined) => Promise<Value | null>;
}

interface Intent<Known> {
  readonly phase: 'sending' | 'not_sent';
  readonly known?: Known;
}

/** The call is given up this long before the attempt's own end. */
const marginMs = 5_000;
const longestCallMs = 30_000;
const evidenceDelaysMs = [0, 500, 1_500, 3_000];

/**
 * Makes the call at most once.
 * @throws ApplicationFailure `outcome_unknown` when nobody can know whether it took effect
 */
export async function sendOnce<Value, Known>(call: EvidenceCall<Value, Known>): Promise<Value> {
  const { attempt } = call;
  const earlier = activityInfo().heartbeatDetails as Intent<Known> | undefined;
  if (attempt.attempt > 1 && earlier?.phase === 'sending') return adoptOrGiveUp(call, 'crash', earlier.known);
  if (call.lookFirst) return adoptOrGiveUp(call, 'reset', undefined);

  const known = await call.before().catch((error: unknown) => {
    throw notSent(error, attempt);
  });
  const timeoutMs = remainingMs() - marginMs;
  if (timeoutMs <= 0) {
    throw ApplicationFailure.retryable(`Too little time was left in this attempt to send ${call.what}`, 'no_time_left');
  }
  await record({ phase: 'sending', known });
  try {
    return await attempt.call(() => call.send(Math.min(timeoutMs, longestCallMs)));
  } catch (error) {
    if (effectOf(error) === 'unknown') return adoptOrGiveUp(call, 'lost_answer', known);
    await record({ phase: 'not_sent' });
    throw notSent(error, attempt);
  }
}

/** Resolves when Temporal has it; rejects when Temporal has given this attempt up. */
async function record(intent: Intent<unknown>): Promise<void> {
  await Context.current().client.activity.heartbeat(activityInfo().taskToken, intent);
}

function remainingMs(): number {
  const { currentAttemptScheduledTimestampMs, startToCloseTimeoutMs } = activityInfo();
  return currentAttemptScheduledTimestampMs + startToCloseTimeoutMs - Date.now();
}

/** The failure where the call certainly had no effect: another attempt may make it. */
function notSent(error: unknown, attempt: Attempt): unknown {
  const failure = describeFailure(error, attempt.calls());
  if (!failure) return error;
  if (whoRepeats(failure.meaning, 'none') !== 'temporal') return finalFailure(failure);
  return ApplicationFailure.create({ message: failure.message, type: failure.code, details: [failure] });
}

const whatHappened = {
  crash: (what: string) => `An earlier attempt ended while it was sending ${what}`,
  reset: (what: string) => `This run was reset, and an earlier one may have sent ${what}`,
  lost_answer: (what: string) => `The answer to ${what} was lost`,
} as const;

async function adoptOrGiveUp<Value, Known>(
  call: EvidenceCall<Value, Known>,
  reason: keyof typeof whatHappened,
  known: Known | undefined,
): Promise<Value> {
  for (const delayMs of evidenceDelaysMs) {
    await Context.current().sleep(delayMs);
    const evidence = await call.look(known).catch(() => null);
    if (evidence !== null) return evidence;
  }
  const why = `${whatHappened[reason](call.what)}, and ${call.where} does not show it (${outcomeUnknownCode}).`;
  throw outcomeUnknown(why, { endpoint: call.endpoint, calls: call.attempt.calls() });
}
