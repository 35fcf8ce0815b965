/** Anybody who may signal a workflow may do it by hand, and wrongly. */
import type { WorkflowHandle } from '@temporalio/client';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import * as messages from '../../src/protocol/messages.js';
import { begin, cleaned, policyFor, ready } from './cleanup/cleanup-harness.js';
import {
  archivedSandbox,
  batchOf,
  chunkOf,
  ended,
  fanoutInput,
  items,
  source,
  submit,
} from './fanout/fanout-harness.js';
import { ask, heal, outcomeOf, readySandbox, stopWorkflow } from './stop/stop-harness.js';
import { leaseAs, watchOf } from './watch/lease-harness.js';
import { createStand, patient, type Stand, script } from './workflow-harness.js';

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
  for (const signal of signals) for (const args of wrong) await handle.signal(signal, ...args);
}

async function failedTasks(handle: WorkflowHandle): Promise<number> {
  const { events } = await handle.fetchHistory();
  return (events ?? []).filter((event) => event.workflowTaskFailedEventAttributes).length;
}

it('there are signals to send wrongly', () => expect(signals.length).toBeGreaterThan(9));

it.concurrent('a job goes on after signals with wrong arguments', async () => {
  const handle = await stand.start({ prompts: [{ prompt: script('sleep 1') }] });
  await disturb(handle);
  expect((await handle.result()).outcome).toBe('completed');
  expect(await failedTasks(handle)).toBe(0);
});

it.concurrent('a batch and its chunk go on after signals with wrong arguments', async () => {
  const input = fanoutInput(source(await archivedSandbox(stand)));
  await submit(
    stand,
    input,
    items(2, () => 'sleep 2'),
  );
  const [batch, chunk] = [batchOf(stand, input), chunkOf(stand, input, 0)];
  const isRunning = async () => expect((await chunk.describe()).status.name).toBe('RUNNING');
  await vi.waitFor(isRunning, patient);
  await Promise.all([disturb(batch), disturb(chunk)]);
  const result = await ended(stand, input);
  expect(result).toMatchObject({ outcome: 'completed', counts: { completed: 2 } });
  expect(await Promise.all([failedTasks(batch), failedTasks(chunk)])).toEqual([0, 0]);
});

it.concurrent('a watch keeps its leases after signals with wrong arguments', async () => {
  const sandboxId = await readySandbox(stand);
  expect((await leaseAs(stand, sandboxId, 'holder')).granted).toBe(true);
  const watch = watchOf(stand, sandboxId);
  await disturb(watch);
  await watch.signal(messages.watchUnregisterSignal, { workflowId: 'holder' });
  await watch.result();
  expect(await failedTasks(watch)).toBe(0);
});

it.concurrent('a cleanup goes on after signals with wrong arguments', async () => {
  await ready(stand, 'wrong-1');
  const handle = await begin(stand, policyFor('wrong', 'stop'), { settleMs: 5_000 });
  await disturb(handle);
  expect((await cleaned(stand, await handle.result())).summary.outcome).toBe('applied');
  expect(await failedTasks(handle)).toBe(0);
});

it('a stop goes on after signals with wrong arguments', async () => {
  const sandboxId = await readySandbox(stand);
  await stand.fault({ kind: 'stop_fails', times: 1_000 });
  const requested = await ask(stand, { sandboxId });
  await disturb(stopWorkflow(stand, sandboxId));
  await heal(stand);
  expect(await outcomeOf(stand, requested)).toMatchObject({ outcome: 'archived' });
  expect(await failedTasks(stopWorkflow(stand, sandboxId))).toBe(0);
});
