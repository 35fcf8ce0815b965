/** Reads from the service with retries. */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  ApiError,
  type CallOptions,
  ConnectionError,
  TimeoutError,
  UnexpectedResponseError,
} from '../../client/index.js';
import { formatDuration } from '../duration.js';
import { refusalOf } from './service-refusal.js';

const attemptMs = 30_000;
const shortestAttemptMs = 1_000;
const firstPauseMs = 250;
const longestPauseMs = 5_000;
/** Waits shorter than this cause no notice. */
const silentMs = 2_000;

export interface AskOptions {
  readonly apiUrl: string;
  /** How long to retry without a response from the service itself, in ms. */
  readonly patienceMs: number;
  /** Ctrl-C. */
  readonly signal: AbortSignal;
  /** Prints a notice for the user. */
  readonly notice: (text: string) => void;
}

/** Runs a read, which is safe to repeat. */
export type Ask = <T>(read: (call: CallOptions) => Promise<T>, options?: CallOptions) => Promise<T>;

/**
 * Retries a read on transient failures: no response, a response that is not the service's, errors inside the service,
 * throttling (it respects `Retry-After`). Jittered pauses from 0.25 s to 5 s. All reads of a command share one patience,
 * which starts at the first failure after a response, so that a command against a dead service ends in time.
 *
 * Throws the reason of the signal; `ApiError` unchanged for a permanent refusal; `ServiceRefusal` for what somebody has to
 * fix (at once), and for failures that outlast the patience.
 */
export function createAsk({ apiUrl, patienceMs, signal, notice }: AskOptions): Ask {
  let failingSince: number | undefined;

  return async (read, options = {}) => {
    const over = options.signal ? AbortSignal.any([signal, options.signal]) : signal;
    const askedAt = Date.now();
    let reason = 'no answer yet';
    let told = false;
    const tell = setTimeout(() => {
      told = true;
      const most = formatDuration(patienceMs);
      notice(`The service at ${apiUrl} does not answer (${reason}); retrying for up to ${most}. Press Ctrl-C to stop.`);
    }, silentMs);
    try {
      for (let attempt = 0; ; attempt += 1) {
        try {
          const answer = await read({ ...options, signal: over, timeoutMs: timeoutOf(options, leftMs()) });
          failingSince = undefined;
          if (told) notice(`The service at ${apiUrl} answers again.`);
          return answer;
        } catch (error) {
          over.throwIfAborted();
          if (!passesByItself(error)) {
            failingSince = undefined;
            throw isForGood(error) ? error : refusalOf(error, apiUrl);
          }
          failingSince ??= askedAt;
          reason = error instanceof Error ? error.message : String(error);
          const askedMs = askedPauseOf(error);
          if (leftMs() <= 0 || askedMs > leftMs()) throw refusalOf(error, apiUrl, Date.now() - failingSince);
          await sleep(Math.min(leftMs(), Math.max(askedMs, backOffOf(attempt))), undefined, { signal: over }).catch(
            () => over.throwIfAborted(),
          );
        }
      }
    } finally {
      clearTimeout(tell);
    }
  };

  function leftMs(): number {
    return failingSince === undefined ? patienceMs : failingSince + patienceMs - Date.now();
  }
}

function timeoutOf({ timeoutMs = attemptMs }: CallOptions, leftMs: number): number {
  return Math.min(timeoutMs, Math.max(shortestAttemptMs, leftMs));
}

function passesByItself(error: unknown): boolean {
  if (error instanceof ApiError) {
    const { meaning } = error;
    return (
      meaning === 'unavailable' || meaning === 'throttled_shortly' || meaning === 'wait_out' || meaning === 'few_tries'
    );
  }
  return error instanceof ConnectionError || error instanceof TimeoutError || error instanceof UnexpectedResponseError;
}

/** True also for errors without a response, such as an unreadable key file: their message says what is wrong. */
function isForGood(error: unknown): boolean {
  return !(error instanceof ApiError) || error.meaning === 'permanent';
}

function backOffOf(attempt: number): number {
  return Math.min(longestPauseMs, firstPauseMs * 2 ** attempt) * (0.5 + Math.random() / 2);
}

/** The pause that the service requests. A proxy's request counts only up to the longest pause. */
function askedPauseOf(error: unknown): number {
  if (!(error instanceof ApiError) || error.retryAfterMs === null) return 0;
  return error.typed ? error.retryAfterMs : Math.min(error.retryAfterMs, longestPauseMs);
}
