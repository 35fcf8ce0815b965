/**
 * A connection to Temporal that can be closed at any moment. The SDK repeats a failed call after a pause, and a
 * repetition that is due after `close` throws where nobody can catch it, which ends the whole process. So `close`
 * waits for the repetition that is due.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  Connection,
  type ConnectionOptions,
  defaultGrpcRetryOptions,
  isRetryableError,
  makeGrpcRetryInterceptor,
} from '@temporalio/client';

/** A repetition has begun so long after it was due. */
const settleMs = 50;
/** The longest pause, and so the longest that `close` waits, in ms. Each is up to a fifth longer by chance. */
const maxPauseMs = 2_000;

export interface ClosableConnectionOptions {
  /** Whether a call that has failed so many times is made again. Default: nine times, as by the SDK itself. */
  readonly isRepeated?: (attempts: number) => boolean;
}

/** @throws what `Connection.connect` throws */
export async function connectClosably(
  connectionOptions: ConnectionOptions,
  { isRepeated = (attempts) => attempts < 10 }: ClosableConnectionOptions = {},
): Promise<Connection> {
  const { delayFunction } = defaultGrpcRetryOptions({ maxIntervalMs: () => maxPauseMs });
  let isClosing = false;
  let repeatedUntilMs = 0;
  const repeat = makeGrpcRetryInterceptor({
    retryableDecider: (attempts, status) => !isClosing && isRepeated(attempts) && isRetryableError(status),
    delayFunction(attempts, status) {
      const delayMs = delayFunction(attempts, status);
      repeatedUntilMs = Math.max(repeatedUntilMs, Date.now() + delayMs);
      return delayMs;
    },
  });
  const connection = await Connection.connect({ ...connectionOptions, interceptors: [repeat] });
  const close = connection.close.bind(connection);
  connection.close = async () => {
    isClosing = true;
    const waitMs = repeatedUntilMs + settleMs - Date.now();
    if (waitMs > 0) await sleep(waitMs);
    await close();
  };
  return connection;
}
