/** Ends calls of Temporal's client when a signal is aborted or when no answer comes in time. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, WorkflowClient } from '@temporalio/client';
import { untilAborted } from '../os/aborted.js';
import { AnswerTimeoutError, isEarlyQuery, isSlow, isTaskFailure } from './errors.js';

/** How long an update or a query may wait for a worker, in ms. */
const answerTimeoutMs = 30_000;
/**
 * First timeout of a query, in ms. It is short because a worker that drops a workflow from its cache loses the queries
 * that wait for the workflow.
 */
export const firstQueryTimeoutMs = 4_000;
/** A call can fail at its deadline a little before `Date.now()` reaches the deadline. */
const deadlineSlackMs = 100;

/** How long to wait after a failure that the next workflow task resolves, in ms. */
const pauseMs = 500;

/**
 * Runs `calls` until `signal` is aborted, and not at all if it is aborted already. Temporal's client sends a request that
 * begins after the abort, so nothing waits for the calls then. The client also adds a listener to the signal for every
 * request and never removes it, and a wait sends many requests. The calls therefore get a signal of their own, which is
 * dropped together with its listeners.
 * @throws the reason of `signal`
 */
export function abortable<T>(client: Client, signal: AbortSignal, calls: () => Promise<T>): Promise<T> {
  return untilAborted(signal, (ofTheseCalls) => client.withAbortSignal(ofTheseCalls, calls));
}

/**
 * Sends a request and repeats it for up to 30 s, each time with a longer timeout.
 * @param firstTimeoutMs how long to wait before the request is repeated, in ms; by default it is not repeated
 * @throws AnswerTimeoutError
 */
export async function withAnswerTimeout<T>(
  client: Pick<WorkflowClient, 'withDeadline'>,
  ask: () => Promise<T>,
  firstTimeoutMs: number = answerTimeoutMs,
): Promise<T> {
  const untilMs = Date.now() + answerTimeoutMs;
  for (let timeoutMs = firstTimeoutMs; ; timeoutMs *= 2) {
    const thisUntilMs = Math.min(untilMs, Date.now() + timeoutMs);
    try {
      return await client.withDeadline(thisUntilMs, ask);
    } catch (error) {
      if ((isEarlyQuery(error) || isTaskFailure(error)) && Date.now() + pauseMs < untilMs) {
        await sleep(pauseMs);
        timeoutMs /= 2;
        continue;
      }
      if (Date.now() < thisUntilMs - deadlineSlackMs) throw error;
      if (thisUntilMs === untilMs) throw isSlow(error) ? error : new AnswerTimeoutError(error);
    }
  }
}
