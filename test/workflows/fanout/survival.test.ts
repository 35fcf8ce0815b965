import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, it, vi } from 'vitest';
import { submitFanout } from '../../../src/workflow-client/fanouts/submit-fanout.js';
import { createStand, patient, type Stand } from '../workflow-harness.js';
import { startFanout } from './by-chunks.js';
import { archivedSandbox, batchOf, ended, fanoutInput, forks, items, source } from './fanout-harness.js';

let stand: Stand;
let sandboxId: string;
let marks: string;

beforeAll(async () => {
  marks = await mkdtemp(join(tmpdir(), 'sandflow-marks-'));
  stand = await createStand({ worker: { forksPerSecond: 1_000 } });
  sandboxId = await archivedSandbox(stand);
});
afterAll(async () => {
  await stand.close();
  await rm(marks, { recursive: true });
});

describe.concurrent('a batch', () => {
  it('is submitted once despite repetitions: known chunks change nothing, and other settings or items are refused', async ({
    expect,
  }) => {
    const input = fanoutInput(source(sandboxId));
    const all = items(4);
    const options = { taskQueue: stand.taskQueue };
    // The submitter died between two chunks.
    await startFanout(stand.client, input, options);
    expect((await submitFanout(stand.client, input, all, options)).started).toBe(false);
    await Promise.all([
      submitFanout(stand.client, input, all, options),
      submitFanout(stand.client, input, all, options),
    ]);
    expect(await ended(stand, input)).toMatchObject({ outcome: 'completed', counts: { items: 4 } });
    expect((await submitFanout(stand.client, input, all, options)).started).toBe(false);
    expect(forks(stand, input)).toHaveLength(4);
    const other = { ...input, policy: { ...input.policy, concurrency: 1 } };
    await expect(submitFanout(stand.client, other, all, options)).rejects.toMatchObject({ code: 'fanout_differs' });
    for (const others of [items(3), items(5), items(4, () => 'echo other')]) {
      const refused = submitFanout(stand.client, input, others, options);
      await expect(refused).rejects.toMatchObject({
        code: 'fanout_differs',
        message: expect.stringContaining('other items'),
      });
    }
  });

  it('is submitted only until the signal is aborted, also while no worker takes its items', async ({ expect }) => {
    const input = fanoutInput(source(sandboxId));
    const interrupted = new AbortController();
    const nobody = { taskQueue: 'nobody-takes-these', signal: interrupted.signal };
    const submitted = submitFanout(stand.client, input, items(1), nobody);
    submitted.catch(() => undefined);
    await vi.waitFor(async () => {
      const { events } = await batchOf(stand, input).fetchHistory();
      expect(events).not.toHaveLength(0);
    }, patient);
    const reason = new Error('Somebody pressed Ctrl-C.');
    interrupted.abort(reason);
    // The sending itself would be repeated for five minutes.
    await expect(submitted).rejects.toBe(reason);
    await batchOf(stand, input).terminate();
  });
});
