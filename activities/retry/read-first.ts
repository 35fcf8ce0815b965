/**
 * Retry class `read-first`: calls that may be repeated while they are still meant. What was there before the first byte
 * is written to Temporal, which has it before that byte goes out, so that a later attempt can tell what has changed.
 */
import { ApplicationFailure, activityInfo, Context, heartbeat } from '@temporalio/activity';
import { ApiError, type SandboxClient } from '../../src/client/index.js';
import type { Sandbox } from '../../src/contract/records.js';
import type { Counted } from '../../src/contract/service-failure.js';
import type { BeforeRequest } from '../sandbox/stop-decision.js';
import { createAttempt, withHeartbeat } from './attempt.js';
import { describeFailure, effectOf, repeatableFailure } from './classify.js';

/** What one attempt tells the next. */
interface Memory {
  readonly before: BeforeRequest | null;
  /** Since when the service has said that there is no such sandbox, in ms; null while it knows it. */
  readonly missingSinceMs: number | null;
  /** Calls so far; as `withCallCount` keeps it. */
  readonly spent?: { readonly calls: number; readonly maybeSent: boolean };
}

export interface ReadFirst {
  /** Null where nothing was sent that may have been accepted. */
  readonly before: () => BeforeRequest | null;
  look(): Promise<Sandbox>;
  /** Makes the call, after Temporal has what was there before. A cancel does not cut it: nobody would know its effect. */
  send<T>(before: BeforeRequest, make: () => Promise<T>): Promise<T>;
  /** True of a 404 that has lasted for longer than reads lag. */
  isBelieved(error: unknown): boolean;
}

export interface ReadFirstOptions {
  readonly sandboxId: string;
  /** What an earlier activity of the same wish had found before its first byte. Default: none has sent anything. */
  readonly before?: BeforeRequest | null | undefined;
  /** How long a 404 must last to be believed, in ms. Default 90 s. */
  readonly readLagMs?: number | undefined;
}

/** Second detail of a failure: what the next activity of the same wish must be given as `before`. */
export interface SentBefore {
  readonly sentBefore: BeforeRequest;
}

const defaultReadLagMs = 90_000;
const longestPauseMs = 15_000;

/**
 * Runs `body` as an attempt that reads before it sends. A 404 is repeated until it has lasted.
 * @throws as `withCallCount`; where something may have been accepted, the second detail is a `SentBefore`
 */
export async function readFirst<T>(
  client: SandboxClient,
  { sandboxId, before = null, readLagMs = defaultReadLagMs }: ReadFirstOptions,
  body: (tools: ReadFirst) => Promise<T>,
): Promise<Counted<T>> {
  const attempt = createAttempt();
  let memory = rememberedOf(activityInfo().heartbeatDetails) ?? { before, missingSinceMs: null };
  const remember = async (next: Partial<Memory>) => {
    memory = { ...memory, ...next };
    // Also to the worker, which sends the newest that it was told when the attempt fails.
    heartbeat(memory);
    await Context.current().client.activity.heartbeat(activityInfo().taskToken, memory);
  };
  const tools: ReadFirst = {
    before: () => memory.before,
    async look() {
      const { sandbox } = await attempt.call((signal) => client.getSandbox(sandboxId, { signal }));
      return sandbox;
    },
    async send(found, make) {
      attempt.signal.throwIfAborted();
      const isFirst = memory.before === null;
      if (isFirst) await remember({ before: found });
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

  /** The failure that has Temporal ask again, while a 404 may be a lag. */
  const mayBeLag = (error: ApiError): ApplicationFailure | undefined => {
    if (tools.isBelieved(error)) return undefined;
    return ApplicationFailure.create({
      message: `${error.message} It is believed when it has lasted for ${Math.round(readLagMs / 1_000)} s.`,
      type: error.code,
      nextRetryDelay: Math.max(1, Math.min(readLagMs - lastedMs(), longestPauseMs, Math.max(1_000, lastedMs()))),
      details: [describeFailure(error, attempt.calls())],
    });
  };

  const run = async () => {
    try {
      return { value: await body(tools), calls: attempt.calls() };
    } catch (error) {
      const calls = attempt.calls();
      const spent = { calls, maybeSent: memory.before !== null };
      const lag = isMissing(error) ? mayBeLag(error) : undefined;
      const missingSinceMs = lag ? (memory.missingSinceMs ?? Date.now()) : null;
      await remember({ missingSinceMs, spent }).catch(() => undefined);
      const failure = lag ?? repeatableFailure(error, spent);
      throw memory.before === null ? failure : withMemory(failure, { sentBefore: memory.before });
    }
  };
  return withHeartbeat(run, () => memory);
}

/** True where the service itself says that there is no such thing. */
function isMissing(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === 404 && error.typed;
}

function withMemory(failure: unknown, sent: SentBefore): unknown {
  if (!(failure instanceof ApplicationFailure)) return failure;
  const { message, type, nonRetryable, nextRetryDelay, details } = failure;
  return ApplicationFailure.create({
    message,
    type: type ?? undefined,
    nonRetryable: nonRetryable ?? undefined,
    nextRetryDelay,
    details: [...(details ?? []), sent],
  });
}

/** An activity that makes the calls of another one beats with nothing. */
function rememberedOf(details: unknown): Memory | undefined {
  const isMemory = typeof details === 'object' && details !== null && 'missingSinceMs' in details;
  return isMemory ? (details as Memory) : undefined;
}
