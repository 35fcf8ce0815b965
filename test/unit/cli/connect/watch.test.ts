import type { Client } from '@temporalio/client';
import { expect, it } from 'vitest';
import { watch } from '../../../../src/cli/connect/watch.js';
import { abortable } from '../../../../src/temporal/calls.js';
import { collectGarbage } from '../../os/collect-garbage.js';

const untilAborted = (signal: AbortSignal) =>
  new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true });
  });

/** Like Temporal's client: a call ends only with an answer, which never comes, or with its signal. */
const silentClient = {
  withAbortSignal: (signal: AbortSignal) => untilAborted(signal),
} as Pick<Client, 'withAbortSignal'> as Client;

it('ends at its deadline, after garbage collections', async () => {
  const watched = {
    wait: (signal: AbortSignal) => abortable(silentClient, signal, async () => 'never called'),
    look: (signal: AbortSignal) => untilAborted(signal).catch(() => undefined),
    reconnect: async () => undefined,
  };
  const end = watch(watched, { interrupted: new AbortController().signal, deadlineMs: 100 });
  await collectGarbage();
  expect(await end).toEqual({ kind: 'deadline' });
});
