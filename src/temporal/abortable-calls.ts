/** Calls of Temporal's client that a signal ends. */
import { setMaxListeners } from 'node:events';
import type { Client } from '@temporalio/client';

/**
 * Makes `calls`, and cuts them off when `signal` is aborted. Temporal's client adds a listener for every request and never
 * removes it; a wait makes one request after another. So they listen to a signal of their own, which goes with them.
 */
export function abortable<T>(client: Client, signal: AbortSignal, calls: () => Promise<T>): Promise<T> {
  const ofTheseCalls = AbortSignal.any([signal]);
  setMaxListeners(0, ofTheseCalls);
  return client.withAbortSignal(ofTheseCalls, calls);
}
