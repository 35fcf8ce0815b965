/**
 * Retry class `read-first`: calls that may be repeated as long as the state still requires them. Before the first call,
 * the current state is recorded in Temporal, so that a later attempt can detect changes.
 */
import { ApplicationFailure, activityInfo, Context, heartbeat } from '@temporalio/activity';
import type { ApiError, SandboxClient } from '../../src/client/index.js';
import { isMissing } from '../../src/client/missing.js';
import type { Sandbox } from '../../src/contract/records/sandbox-records.js';
import { defaultReadLagMs, longestLagPauseMs } from '../../src/contract/workflow-safe/limits.js';
import { type Attempt, currentAttempt, type Spent, withHeartbeat } from './attempt.js';
import { describeFailure, effectOf, repeatableFailure } from './classify.js';

/** The state before the first request that may have been accepted. */
export interface BeforeRequest {
  /** The last stop of the sandbox; null if it was never stopped. */
  readonly previousStopId: string | null;
}

/** The state that one attempt passes to the next. */
interface Memory {
  readonly before: BeforeRequest | null;
  /**
   * When the service first reported the sandbox missing, in ms since the epoch; null if the service knows the sandbox.
   */
  readonly missingSinceMs: number | null;
  readonly spent?: Spent;
}

export interface ReadFirst {
  readonly attempt: Attempt;
  /** The state before the first request that may have been accepted; null if there was no such request. */
  readonly before: () => BeforeRequest | null;
  look(): Promise<Sandbox>;
  /**
   * Makes the call after Temporal has recorded `before`. A cancel does not abort the call, because its effect would
   * then be unknown.
   * @param options.isGiven true if the input has it: a later attempt that finds no record takes the `given` one
   */
  send<T>(before: BeforeRequest, make: () => Promise<T>, options?: { readonly isGiven?: boolean }): Promise<T>;
  /** True for a 404 that has lasted longer than reads may lag. */
  isBelieved(error: unknown): boolean;
}

export interface ReadFirstOptions {
  readonly sandboxId: string;
  /** The state before an earlier activity sent the same request. Default: nothing was sent. */
  readonly before?: BeforeRequest | null | undefined;
  /** The state before the request that the first attempt may have sent without a record. Default: it records each. */
  readonly given?: BeforeRequest | undefined;
  /** How long a 404 must last to be final, in ms. Default: 90 s. */
  readonly readLagMs?: number | undefined;
}

/** Second detail of a failure: pass it as `before` to the next activity for the same request. */
export interface SentBefore {
  readonly sentBefore: BeforeRequest;
}

/**
 * Runs `body` as an attempt that reads before it sends. A 404 is retried until it has lasted for `readLagMs`.
 * @throws as `repeatable`; if a request may have been accepted, the second detail of the failure is a `SentBefore`
 */
export async function readFirst<T>(
  client: SandboxClient,
  { sandboxId, before = null, given, readLagMs = defaultReadLagMs }: ReadFirstOptions,
  body: (tools: ReadFirst) => Promise<T>,
): Promise<T> {
  const attempt = currentAttempt();
  // An attempt that left no record may have sent the request, or have ended before.
  const mayBeSent = attempt.attempt > 1 ? (given ?? null) : null;
  let memory = rememberedOf(activityInfo().heartbeatDetails) ?? { before: before ?? mayBeSent, missingSinceMs: null };
  let isBeating = false;
  const remember = async (next: Partial<Memory>) => {
    memory = { ...memory, ...next };
    // The worker must not send older details later. Each heartbeat is paid for, so it gets none before it has some.
    if (isBeating) heartbeat(memory);
    await Context.current().client.activity.heartbeat(activityInfo().taskToken, memory);
  };
  const tools: ReadFirst = {
    attempt,
    before: () => memory.before,
    async look() {
      const { sandbox } = await attempt.call((signal) => client.getSandbox(sandboxId, { signal }));
      return sandbox;
    },
    async send(found, make, { isGiven = false } = {}) {
      attempt.signal.throwIfAborted();
      const isFirst = memory.before === null;
      // A record that nothing was sent would hide the request from the next attempt.
      if (isFirst && isGiven && !isBeating) memory = { ...memory, before: found };
      else if (isFirst) await remember({ before: found });
      try {
        return await attempt.call(make);
      } catch (error) {
        if (isFirst && effectOf(error) === 'none') await remember({ before: null });
        throw error;
      }
    },
    isBelieved: (error) => isMissing(error) && lastedMs() >= readLagMs,
  };
  const lastedMs = () => Date.now() - (memory.missingSinceMs ?? Date.now());

  /** The failure that makes Temporal retry while a 404 may be a lag. */
  const mayBeLag = (error: ApiError): ApplicationFailure | undefined => {
    if (tools.isBelieved(error)) return undefined;
    return ApplicationFailure.create({
      message: `${error.message} A 404 counts only after it has lasted for ${Math.round(readLagMs / 1_000)} s.`,
      type: error.code,
      nextRetryDelay: Math.max(1, Math.min(readLagMs - lastedMs(), longestLagPauseMs, Math.max(1_000, lastedMs()))),
      details: [describeFailure(error)],
    });
  };

  const run = async () => {
    try {
      return await body(tools);
    } catch (error) {
      const maybeSent = memory.before !== null;
      const spent = { calls: attempt.calls(), maybeSent };
      const lag = isMissing(error) ? mayBeLag(error) : undefined;
      const missingSinceMs = lag ? (memory.missingSinceMs ?? Date.now()) : null;
      // The worker sends its latest details when the attempt fails.
      isBeating = true;
      await remember({ missingSinceMs, spent }).catch(() => undefined);
      const failure =
        lag ?? repeatableFailure(error, { attempt: attempt.attempt, maybeSent, pauseMs: attempt.pauseMs });
      throw memory.before === null ? failure : withMemory(failure, { sentBefore: memory.before });
    }
  };
  return withHeartbeat(run, () => {
    isBeating = true;
    return memory;
  });
}

function withMemory(failure: unknown, sent: SentBefore): unknown {
  if (!(failure instanceof ApplicationFailure)) return failure;
  return Object.assign(failure, { details: [...(failure.details ?? []), sent] });
}

/**
 * The state that an earlier attempt recorded. Details in another format belong to an activity that calls this function.
 */
function rememberedOf(details: unknown): Memory | undefined {
  const isMemory = typeof details === 'object' && details !== null && 'missingSinceMs' in details;
  return isMemory ? (details as Memory) : undefined;
}
