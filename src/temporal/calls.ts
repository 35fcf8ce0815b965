/** Calls of Temporal's client that end: when a signal is aborted, or when no answer comes in time. */
import { setMaxListeners } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, QueryNotRegisteredError } from '@temporalio/client';
import { AnswerTimeoutError, isSlow } from './errors.js';

/** How long an update or a query may wait for a worker, in ms. */
const answerTimeoutMs = 30_000;
/** A worker that drops a workflow from its cache loses the queries that wait for it, so the first wait is short. */
export const firstQueryTimeoutMs = 4_000;
/** A call can notice its deadline a little before the clock shows it. */
const deadlineSlackMs = 100;

/** The replay of a workflow for a query can meet a read that is in progress; at the next query that read has ended. */
const replayPauseMs = 500;

/**
 * Runs `calls` until `signal` is aborted. Temporal's client adds a listener for every request and never removes it, and a
 * wait sends one request after another; the listeners are added to a signal that is dropped with the calls.
 */
export function abortable<T>(client: Client, signal: AbortSignal, calls: () => Promise<T>): Promise<T> {
  const ofTheseCalls = AbortSignal.any([signal]);
  setMaxListeners(0, ofTheseCalls);
  return client.withAbortSignal(ofTheseCalls, calls);
}

/**
 * Repeats a question for 30 s, each time with a longer timeout.
 * @param firstTimeoutMs how long to wait before the question is repeated; by default it is not repeated
 * @throws AnswerTimeoutError
 */
export async function withAnswerTimeout<T>(
  client: Client,
  ask: () => Promise<T>,
  firstTimeoutMs: number = answerTimeoutMs,
): Promise<T> {
  const untilMs = Date.now() + answerTimeoutMs;
  for (let timeoutMs = firstTimeoutMs; ; timeoutMs *= 2) {
    const thisUntilMs = Math.min(untilMs, Date.now() + timeoutMs);
    try {
      return await client.withDeadline(thisUntilMs, ask);
    } catch (error) {
      if (isLostReplay(error) && Date.now() + replayPauseMs < untilMs) {
        await sleep(replayPauseMs);
        timeoutMs /= 2;
        continue;
      }
      if (Date.now() < thisUntilMs - deadlineSlackMs) throw error;
      if (thisUntilMs === untilMs) throw isSlow(error) ? error : new AnswerTimeoutError(error);
    }
  }
}

function isLostReplay(error: unknown): boolean {
  const texts = /Missing associated machine for LocalActivity|Activity type of recorded marker/;
  return error instanceof QueryNotRegisteredError && texts.test(error.message);
}
