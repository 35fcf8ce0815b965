import { Worker } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { ask, heal, outcomeOf, readySandbox, signalEvent, stopWorkflow } from '../../../workflows/stop/stop-harness.js';
import { createStand, type Stand, shortTiming } from '../../../workflows/workflow-harness.js';

let stand: Stand;
beforeAll(async () => {
  stand = await createStand();
});
afterAll(() => stand.close());

const types = ['sandbox.archived', 'sandbox.ready', 'sandbox.error'] as const;
const deadlines = [60_000, 1_700, 60_000, 2_900, 60_000];

/** Sends requests, events and queries while reads are slow. @returns waits for the end, once reads are quick again */
async function stopAmidMessages(): Promise<() => Promise<string>> {
  const sandboxId = await readySandbox(stand);
  const input = { sandboxId, timing: shortTiming };
  // The shorter a workflow task may be, the more often one ends while a read is under way.
  await stand.client.workflow.start('stopAndAwaitArchive', {
    workflowId: `sandbox-stop/${sandboxId}`,
    taskQueue: stand.taskQueue,
    workflowTaskTimeout: '1 second',
    args: [input],
  });
  const requested = Promise.all(
    deadlines.map(async (deadlineMs) => outcomeOf(stand, await ask(stand, { sandboxId, deadlineMs }))),
  );
  // A request may fail before the end is awaited.
  requested.catch(() => undefined);
  let sent = 0;
  await vi.waitFor(
    async () => {
      sent += 1;
      await signalEvent(stand, sandboxId, { id: `event-${sent}`, type: types[sent % 3] ?? types[0] });
      await stopWorkflow(stand, sandboxId).query('stopReport');
      expect(sent).toBeGreaterThan(40);
    },
    { timeout: 90_000, interval: 20 },
  );
  return async () => {
    await requested;
    await stopWorkflow(stand, sandboxId).result();
    return sandboxId;
  };
}

describe('a stop that is asked, queried and signalled while it reads', () => {
  it('ends, and its history replays', async () => {
    await stand.fault({ kind: 'stop_fails', times: 1_000 });
    await stand.fault({ kind: 'latency', endpoint: 'getSandbox', ms: 600, times: 1_000 });
    const ends = await Promise.all([1, 2, 3, 4].map(stopAmidMessages));
    await heal(stand);
    const stopped = await Promise.all(ends.map((end) => end()));
    const options = { workflowBundle: { codePath: inject('workflowBundlePath') } };
    for (const sandboxId of stopped) {
      const history = await stopWorkflow(stand, sandboxId).fetchHistory();
      await Worker.runReplayHistory(options, history, `sandbox-stop/${sandboxId}`);
    }
  }, 240_000);
});
