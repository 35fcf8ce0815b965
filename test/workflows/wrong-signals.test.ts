/** Anybody who may signal a workflow may do it by hand, and wrongly. Temporal tier: some seconds. */
import type { WorkflowHandle } from '@temporalio/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import * as messages from '../../src/protocol/messages.js';
import { failedTasks } from './failed-tasks.js';
import { readySandbox } from './stop/stop-harness.js';
import { leaseAs, watchOf } from './watch/lease-harness.js';
import { createStand, type Stand, script } from './workflow-harness.js';

let stand: Stand;
beforeAll(async () => {
  stand = await createStand();
});
afterAll(() => stand.close());

const signals = Object.entries(messages).flatMap(([key, message]) =>
  key.endsWith('Signal') && typeof message === 'object' && 'name' in message ? message.name : [],
);
const wrong: readonly (readonly unknown[])[] = [
  [],
  [null],
  ['x'],
  [[]],
  [{}],
  [{ index: 'x', untilMs: null, seq: '1' }],
];

/** Sends each signal of sandflow, wrongly in each way. */
async function disturb(handle: WorkflowHandle): Promise<void> {
  expect(signals.length).toBeGreaterThan(9);
  for (const signal of signals) for (const args of wrong) await handle.signal(signal, ...args);
}

it.concurrent('a job goes on after signals with wrong arguments', async () => {
  const handle = await stand.start({ prompts: [{ prompt: script('sleep 600') }] });
  await disturb(handle);
  await handle.cancel();
  expect((await handle.result()).outcome).toBe('cancelled');
  expect(await failedTasks(handle)).toEqual([]);
});

it.concurrent('a watch keeps its leases after signals with wrong arguments', async () => {
  const sandboxId = await readySandbox(stand);
  expect((await leaseAs(stand, sandboxId, 'holder')).granted).toBe(true);
  const watch = watchOf(stand, sandboxId);
  await disturb(watch);
  await watch.signal(messages.watchUnregisterSignal, { workflowId: 'holder' });
  await watch.result();
  expect(await failedTasks(watch)).toEqual([]);
});
