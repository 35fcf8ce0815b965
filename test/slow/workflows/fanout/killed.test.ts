import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { FaultInput } from '../../../../local-service/src/index.js';
import { fanoutPlaces } from '../../../../src/addresses/fanout-addresses.js';
import { storedJson } from '../../../../src/result-store/stored-json.js';
import { fanoutProgress } from '../../../../src/workflow-client/fanouts/fanout-client.js';
import { resumeFanout } from '../../../../src/workflow-client/fanouts/resume-fanout.js';
import {
  archivedSandbox,
  batchOf,
  chunkOf,
  ended,
  fanoutInput,
  forks,
  items,
  leftForks,
  lines,
  promptedForks,
  source,
  storedResults,
  submitInChunks,
} from '../../../workflows/fanout/fanout-harness.js';
import { heal } from '../../../workflows/stop/stop-harness.js';
import { createStand, deployment, type Stand } from '../../../workflows/workflow-harness.js';

let stand: Stand;
let sandboxId: string;
/** The file that items wait for before they end. */
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

const badDay: readonly FaultInput[] = [
  { kind: 'error', endpoint: '*', status: 503, probability: 0.05, times: 100_000 },
  { kind: 'drop_response', endpoint: '*', probability: 0.1, times: 100_000 },
  { kind: 'webhook_drop', probability: 0.3, times: 100_000 },
];

it('a resumed batch adopts what it has after every workflow was terminated amid faults', async () => {
  for (const fault of badDay) await stand.fault(fault);
  const policy = { concurrency: 12, onUnknownOutcome: 'resend' } as const;
  const input = fanoutInput(source(sandboxId), { policy });
  const all = items(12, (at) =>
    at % 2 === 0 ? `echo quick ${at}` : `while [ ! -e ${marks}/go ]; do sleep 0.2; done; echo slow ${at}`,
  );
  await submitInChunks(stand, input, all, 6);
  const completed = async () => (await fanoutProgress(stand.client, input)).counts.completed;
  await expect.poll(completed, { timeout: 40_000 }).toBe(6);
  await expect.poll(() => promptedForks(stand, input).length).toBe(12);

  const { batchKey } = await fanoutProgress(stand.client, input);
  const places = fanoutPlaces({ deployment, batchId: input.batchId, batchKey });
  const ofItems = all.map((_, index) => stand.client.workflow.getHandle(places.itemWorkflow(index)));
  const everything = [batchOf(stand, input), chunkOf(stand, input, 0), chunkOf(stand, input, 1), ...ofItems];
  // Without a worker, no item sees the end of its parent. Ended workflows cannot be terminated.
  await stand.restartWorker(() => Promise.allSettled(everything.map((workflow) => workflow.terminate())));
  const before = (await storedResults(stand, { ...input, batchKey })).map(({ outcome }) => outcome);
  expect(new Set(before)).toEqual(new Set(['completed', 'not_started']));

  await writeFile(join(marks, 'go'), '');
  await resumeFanout(stand.client, input, { taskQueue: stand.taskQueue });
  const result = await ended(stand, input);
  await heal(stand);
  expect(result).toMatchObject({ outcome: 'completed', batchKey, counts: { completed: 12 }, leftSandboxIds: [] });
  expect((await lines(stand, result)).map(({ job }) => job?.prompts[0]?.result)).toEqual(
    all.map((_, at) => (at % 2 === 0 ? `quick ${at}\n` : `slow ${at}\n`)),
  );
  expect(forks(stand, input)).toHaveLength(12);
  expect(promptedForks(stand, input)).toHaveLength(12);
  expect(leftForks(stand, input)).toEqual([]);
});

it('an item whose later generation was terminated after its result was stored costs each generation once', async () => {
  const input = fanoutInput(source(sandboxId), { policy: { concurrency: 1, retries: 1 } });
  const once = `mkdir ${marks}/once && exit 1; while [ ! -e ${marks}/never ]; do sleep 0.2; done`;
  await submitInChunks(
    stand,
    input,
    items(1, () => once),
    1,
  );
  await expect.poll(() => promptedForks(stand, input).length, { timeout: 40_000 }).toBe(2);
  const { batchKey } = await fanoutProgress(stand.client, input);
  const places = fanoutPlaces({ deployment, batchId: input.batchId, batchKey });
  const [first] = await storedResults(stand, { ...input, batchKey });
  if (!first) throw new Error('the first generation has left nothing');
  expect(first).toMatchObject({ generation: 1, outcome: 'prompt_failed' });
  const second = { ...first, generation: 2, outcome: 'completed', machineSeconds: 1_000 };
  await stand.results.put(`${places.item(0)}/2.json`, storedJson(second));
  await stand.client.workflow.getHandle(places.itemWorkflow(0)).terminate();
  const { outcome, budget } = await ended(stand, input);
  expect(outcome).toBe('completed');
  // Accounts are rounded up by less than a millisecond.
  expect(Math.abs(budget.spentSeconds - first.machineSeconds - 1_000)).toBeLessThan(0.01);
});
