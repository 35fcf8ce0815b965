/** Makes the reads that a command depends on, and repeats a read while its failure may be temporary. */
import { setTimeout as sleep } from 'node:timers/promises';
import {
  ApiError,
  type CallOptions,
  ConnectionError,
  type SandboxClient,
  TimeoutError,
  UnexpectedResponseError,
} from '../../client/index.js';
import { anySignal } from '../../os/any-signal.js';
import { oneLine } from '../output/terminal-safe.js';
import { refusalOf } from '../service-refusal.js';
import { formatDuration } from '../units.js';
import { backOffMs, requestedPauseMs } from './back-off.js';

const attemptMs = 30_000;
const shortestAttemptMs = 1_000;
const pauses = { firstMs: 250, longestMs: 5_000 };
/** Waits shorter than this cause no notice, in ms. */
const silentMs = 2_000;

export interface AskOptions {
  readonly apiUrl: string;
  /** How long to retry without an answer from the service itself, in ms. */
  readonly patienceMs: number;
  /** Ctrl-C. */
  readonly signal: AbortSignal;
  /** Prints a message for the user. */
  readonly notice: (text: string) => void;
}

/** Makes a call. The call must only read, because it may be repeated. */
export type Ask = <T>(read: (call: CallOptions) => Promise<T>, options?: CallOptions) => Promise<T>;

/**
 * Repeats a read after failures that may be temporary. These are: no answer, an answer that is not the service's,
 * errors inside the service, and throttling (it waits for as long as `Retry-After` says). The pauses are jittered and
 * grow from 0.25 s to 5 s. The time limit for retries starts at the first failure after an answer, and all reads of a
 * command share it. So a command with many reads ends in time too.
 *
 * A read throws the signal's reason after an abort. A permanent `ApiError`, or an error of this machine, is thrown
 * unchanged. A read throws `ServiceRefusal` at once if somebody has to fix a problem, and after the time limit if a
 * failure lasts.
 */
export function createAsk({ apiUrl, patienceMs, signal, notice }: AskOptions): Ask {
  let failingSince: number | undefined;

  return async (read, options = {}) => {
    const over = options.signal ? anySignal([signal, options.signal]) : signal;
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
          if (!isTemporary(error)) {
            failingSince = undefined;
            throw isPermanent(error) && !(error instanceof ConnectionError) ? error : refusalOf(error, apiUrl);
          }
          failingSince ??= askedAt;
          reason = oneLine(error instanceof Error ? error.message : String(error));
          const askedMs = requestedPauseMs(error);
          if (leftMs() <= 0 || askedMs > leftMs()) throw refusalOf(error, apiUrl, Date.now() - failingSince);
          const pauseMs = Math.max(askedMs, backOffMs(attempt, pauses));
          await sleep(Math.min(leftMs(), pauseMs), undefined, { signal: over }).catch(() => over.throwIfAborted());
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

function isTemporary(error: unknown): boolean {
  if (error instanceof ApiError) {
    const { meaning } = error;
    return (
      meaning === 'unavailable' || meaning === 'throttled_shortly' || meaning === 'wait_out' || meaning === 'few_tries'
    );
  }
  // A wrong certificate is told at once. A job waits longer: it may be renewed meanwhile.
  if (error instanceof ConnectionError) return error.problem === undefined;
  return error instanceof TimeoutError || error instanceof UnexpectedResponseError;
}

/** Also true for errors of this machine, such as an unreadable key file, because their message says what is wrong. */
function isPermanent(error: unknown): boolean {
  return !(error instanceof ApiError) || error.meaning === 'permanent';
}

/** The reads that commands depend on. */
export type ServiceReads = Pick<
  SandboxClient,
  'getMe' | 'getSandbox' | 'getStop' | 'listAllSandboxes' | 'listApiKeys' | 'listSandboxes' | 'listWebhooks'
>;

/**
 * Every method throws as described at `createAsk`. Each page of a list is retried alone, so that a long list completes
 * too.
 */
export function createServiceReads(service: ServiceReads, ask: Ask): ServiceReads {
  return {
    getMe: (options) => ask((call) => service.getMe(call), options),
    getSandbox: (sandboxId, options) => ask((call) => service.getSandbox(sandboxId, call), options),
    getStop: (sandboxId, stopId, options) => ask((call) => service.getStop(sandboxId, stopId, call), options),
    listSandboxes: (query, options) => ask((call) => service.listSandboxes(query, call), options),
    listAllSandboxes: (query, options) =>
      service.listAllSandboxes(query, { ...options, eachPage: (read) => ask(read, options) }),
    listApiKeys: (options) => ask((call) => service.listApiKeys(call), options),
    listWebhooks: (options) => ask((call) => service.listWebhooks(call), options),
  };
}
