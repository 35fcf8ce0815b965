/**
 * A connection to Temporal that says soon when the server is gone, and that can be closed at any moment.
 *
 * The SDK repeats a failed call for some 20 s, and a repetition that is due after `close` ends the whole process.
 * A watch should notice sooner and bring the server back; so here a call is repeated for about a second, and `close`
 * waits for the repetition that is due.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  Client,
  Connection,
  defaultGrpcRetryOptions,
  isRetryableError,
  makeGrpcRetryInterceptor,
} from '@temporalio/client';
import { splitTarget, type TemporalTarget } from '../../temporal/connect.js';
import { unreachable } from '../../temporal/unreachable.js';

const maxAttempts = 4;
const settleMs = 50;
const defaultTimeoutMs = 10_000;

export interface TemporalLink {
  readonly client: Client;
  close(): Promise<void>;
}

/**
 * @param options.timeoutMs how long to wait for the server; 10 s by default
 * @throws SandflowError `temporal_unreachable`
 */
export async function linkToTemporal(
  target: TemporalTarget,
  options: { readonly timeoutMs?: number } = {},
): Promise<TemporalLink> {
  const { connectionOptions, namespace, address } = splitTarget(target);
  const defaults = defaultGrpcRetryOptions();
  let closing = false;
  let repeatedUntil = 0;
  const repeat = makeGrpcRetryInterceptor({
    retryableDecider: (attempt, status) => !closing && attempt < maxAttempts && isRetryableError(status),
    delayFunction(attempt, status) {
      const delayMs = defaults.delayFunction(attempt, status);
      repeatedUntil = Math.max(repeatedUntil, Date.now() + delayMs);
      return delayMs;
    },
  });
  try {
    const connectTimeout = options.timeoutMs ?? defaultTimeoutMs;
    const connection = await Connection.connect({ ...connectionOptions, connectTimeout, interceptors: [repeat] });
    return {
      client: new Client({ connection, namespace }),
      async close() {
        closing = true;
        const waitMs = repeatedUntil + settleMs - Date.now();
        if (waitMs > 0) await sleep(waitMs);
        await connection.close();
      },
    };
  } catch (cause) {
    throw unreachable(address, cause);
  }
}
