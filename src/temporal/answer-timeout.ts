/** How long to wait for a workflow's answer. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, QueryNotRegisteredError } from '@temporalio/client';
import { AnswerTimeoutError, isSlow } from './stops/errors.js';

/** How long an update or a query may wait for a worker, in ms. */
const answerTimeoutMs = 30_000;
/** A worker that drops a workflow from its cache loses the queries that wait for it, so the first wait is short. */
export const firstQueryTimeoutMs = 4_000;
/** A call can notice its deadline a little before the clock shows it. */
const deadlineSlackMs = 100;

/** A worker replays a workflow for a query, and may trip over a read that is under way; the next one finds it ended. */
const replayPauseMs = 500;

function isLostReplay(error: unknown): boolean {
  return (
    error instanceof QueryNotRegisteredError && error.message.includes('Missing associated machine for LocalActivity')
  );
}

/**
 * Asks until the patience is over, each time for longer.
 * @param firstTimeoutMs how long to wait before the question is asked again; by default it is asked once
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
