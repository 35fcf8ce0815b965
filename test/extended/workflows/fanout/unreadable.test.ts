/** Objects of the result store that another version of sandflow wrote. Extended tier; some 6 CPU seconds. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { fanoutProgress } from '../../../../src/workflow-client/fanouts/fanout-client.js';
import { resumeFanout } from '../../../../src/workflow-client/fanouts/resume-fanout.js';
import {
  archivedSandbox,
  chunkOf,
  ended,
  fanoutInput,
  forks,
  items,
  leftForks,
  source,
  submitInChunks,
} from '../../../workflows/fanout/fanout-harness.js';
import { createStand, type Stand, untilGo } from '../../../workflows/workflow-harness.js';

let stand: Stand;
let sandboxId: string;
/** Ends of the references of objects that are of another version. */
const ofOtherVersion = new Set<string>();

beforeAll(async () => {
  stand = await createStand({
    worker: { forksPerSecond: 1_000 },
    results: (store) => ({
      ...store,
      get: async (ref, options) =>
        [...ofOtherVersion].some((end) => ref.endsWith(end)) ? Buffer.from('{"version":2}') : store.get(ref, options),
    }),
  });
  sandboxId = await archivedSandbox(stand);
});
afterAll(() => stand.close());

const unreadable = { code: 'result_of_other_version', message: expect.stringContaining('version 2') };

it('a batch ends without the items of a chunk that it cannot read, and says why; so does its resume', async () => {
  const input = fanoutInput(source(sandboxId));
  ofOtherVersion.add('/chunks/1.json');
  await submitInChunks(stand, input, items(4), 2);
  const result = await ended(stand, input);
  expect(result).toMatchObject({
    outcome: 'partly_failed',
    error: unreadable,
    counts: { completed: 2, byOutcome: { completed: 2, not_started: 2 } },
  });
  expect(forks(stand, input)).toHaveLength(2);
  expect(leftForks(stand, input)).toEqual([]);
  await resumeFanout(stand.client, input, { taskQueue: stand.taskQueue });
  await expect(ended(stand, input)).rejects.toMatchObject(unreadable);
  ofOtherVersion.clear();
  await resumeFanout(stand.client, input, { taskQueue: stand.taskQueue });
  expect(await ended(stand, input)).toMatchObject({ outcome: 'completed', error: null, counts: { completed: 4 } });
});

it('a batch ends the items that run of a chunk that was terminated and cannot be read again', async () => {
  const input = fanoutInput(source(sandboxId), { policy: { concurrency: 3 } });
  await submitInChunks(
    stand,
    input,
    items(3, (at) => (at < 2 ? 'echo done' : untilGo)),
    3,
  );
  await expect.poll(async () => (await fanoutProgress(stand.client, input)).counts.completed).toBe(2);
  ofOtherVersion.add('/chunks/0.json');
  await chunkOf(stand, input, 0).terminate();
  const result = await ended(stand, input);
  expect(result).toMatchObject({ outcome: 'partly_failed', error: unreadable, counts: { completed: 2 } });
  await expect.poll(() => leftForks(stand, input)).toEqual([]);
});
