import { getEventListeners } from 'node:events';
import type { Client } from '@temporalio/client';
import { expect, it, onTestFinished, vi } from 'vitest';
import { abortable } from '../../../src/temporal/calls.js';
import { collectGarbage } from '../os/collect-garbage.js';

/** Like Temporal's client: a listener for each request, never removed. */
function clientOfManyRequests(requests: number) {
  let cut = 0;
  const client = {
    withAbortSignal: async <T>(signal: AbortSignal, calls: () => Promise<T>) => {
      for (let request = 0; request < requests; request += 1) signal.addEventListener('abort', () => (cut += 1));
      return calls();
    },
  } as Pick<Client, 'withAbortSignal'> as Client;
  return { client, cut: () => cut };
}

it('an abort ends every request of a long wait, and does not affect the signal of the caller', async () => {
  const warned = vi.fn();
  process.on('warning', warned);
  onTestFinished(() => void process.off('warning', warned));
  const { client, cut } = clientOfManyRequests(30);
  const given = new AbortController();
  const waiting = abortable(client, given.signal, () => new Promise(() => {}));
  expect(getEventListeners(given.signal, 'abort')).toEqual([]);
  given.abort('SIGINT');
  await expect(waiting).rejects.toBe('SIGINT');
  expect(cut()).toBe(30);
  await new Promise((resolve) => setImmediate(resolve));
  expect(warned).not.toHaveBeenCalled();
});

it('after the abort, no request is sent', async () => {
  const { client } = clientOfManyRequests(1);
  const calls = vi.fn(async () => 'started');
  await expect(abortable(client, AbortSignal.abort('SIGINT'), calls)).rejects.toBe('SIGINT');
  expect(calls).not.toHaveBeenCalled();
});

it('nothing is left of calls that have ended, while the signal of the caller lives on', async () => {
  const given = new AbortController();
  const wait = async () => {
    const request = { id: 1 };
    const client = {
      withAbortSignal: async <T>(signal: AbortSignal, calls: () => Promise<T>) => {
        signal.addEventListener('abort', () => request.id);
        return calls();
      },
    } as Pick<Client, 'withAbortSignal'> as Client;
    await abortable(client, given.signal, async () => 'done');
    return new WeakRef(request);
  };
  const request = await wait();
  await expect
    .poll(async () => {
      await collectGarbage();
      return request.deref();
    })
    .toBeUndefined();
  given.abort();
});
