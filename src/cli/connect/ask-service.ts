/** Asks the service for what a command has to know, on a good day and on a bad one. */
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
/** A wait that is shorter than this is not worth a word. */
const silentMs = 2_000;

export interface AskOptions {
  readonly apiUrl: string;
  /** How long to ask without one answer of the service itself, in ms. */
  readonly patienceMs: number;
  /** Ctrl-C. */
  readonly signal: AbortSignal;
  /** For the person who waits. */
  readonly notice: (text: string) => void;
}

/** Makes a call that only reads. It may be made any number of times. */
export type Ask = <T>(read: (call: CallOptions) => Promise<T>, options?: CallOptions) => Promise<T>;

/**
 * Repeats a read for as long as what it meets passes by itself: no answer, an answer that is not the service's, errors
 * inside the service, throttling (`Retry-After` is kept). Jittered pauses from 0.25 s to 5 s. The patience is one for all
 * reads of a command, from the first failure after an answer: a command whose every read meets a dead service ends in time.
 *
 * What it throws: the reason of the signal; `ApiError` as it is for what is refused for good; `ServiceRefusal` for what
 * somebody has to mend (at once), and for what did not pass in time.
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
      notice(`The service at ${apiUrl} does not answer (${reason}); asking again for up to ${most}. Ctrl-C ends it.`);
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

/** True also for what is no answer at all, such as a key file that cannot be read: it says itself what is wrong. */
function isForGood(error: unknown): boolean {
  return !(error instanceof ApiError) || error.meaning === 'permanent';
}

function backOffOf(attempt: number): number {
  return Math.min(longestPauseMs, firstPauseMs * 2 ** attempt) * (0.5 + Math.random() / 2);
}

/** What the service asks for; what a proxy asks for is not its word. */
function askedPauseOf(error: unknown): number {
  if (!(error instanceof ApiError) || error.retryAfterMs === null) return 0;
  return error.typed ? error.retryAfterMs : Math.min(error.retryAfterMs, longestPauseMs);
}
