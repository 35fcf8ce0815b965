/** Objects of the result store that another version of sandflow wrote. Extended tier; some 12 CPU seconds. */
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { itemWorkflowId } from '../../../../src/addresses/addresses.js';
import { fanoutPlaces } from '../../../../src/addresses/fanout-addresses.js';
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
  lines,
  run,
  source,
  submit,
  submitInChunks,
} from '../../../workflows/fanout/fanout-harness.js';
import { createStand, deployment, type Stand, untilGo } from '../../../workflows/workflow-harness.js';

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
afterEach(() => ofOtherVersion.clear());
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

/** Two items that complete and two that last, in one chunk. */
const twoOfFour = items(4, (at) => (at < 2 ? 'echo done' : untilGo));
const itemOf = ({ batchId }: { readonly batchId: string }, index: number) =>
  stand.client.workflow.getHandle(itemWorkflowId(deployment, batchId, index));

it('a batch waits for the ends of the items of a chunk that cannot be read again, and names lost ones', async () => {
  const input = fanoutInput(source(sandboxId), { policy: { concurrency: 4 } });
  await submitInChunks(stand, input, twoOfFour, 4);
  await expect.poll(async () => (await fanoutProgress(stand.client, input)).counts.completed).toBe(2);
  const lost = () => forks(stand, input).find(({ name }) => name.endsWith('-i3-1'));
  await expect.poll(() => leftForks(stand, input).map(({ state }) => state)).toEqual(['running', 'running']);
  ofOtherVersion.add('/chunks/0.json');
  await chunkOf(stand, input, 0).terminate();
  await itemOf(input, 3).terminate();
  const result = await ended(stand, input);
  expect((await itemOf(input, 2).describe()).status.name).toBe('COMPLETED');
  expect(leftForks(stand, input).map(({ name }) => name)).toEqual([lost()?.name]);
  expect(result).toMatchObject({ outcome: 'partly_failed', error: unreadable, counts: { completed: 2 } });
  expect(result.left).toMatchObject([{ kind: 'sandbox', sandboxName: lost()?.name }]);
});

it('a result that cannot be read is named, and the others are there', async () => {
  const input = fanoutInput(source(sandboxId));
  ofOtherVersion.add('/items/0/1.json');
  const result = await run(stand, input, items(2));
  expect(result.error).toMatchObject({ code: 'result_of_other_version', message: expect.stringContaining('item-0') });
  expect(result).toMatchObject({ outcome: 'completed', counts: { completed: 2 } });
  const [first, second] = await lines(stand, result);
  expect(first).toMatchObject({ itemId: 'item-0', outcome: 'outcome_unknown', generation: 1, job: null });
  expect(first?.unreadable).toContain('version 2');
  expect(second).toMatchObject({ itemId: 'item-1', outcome: 'completed', job: { outcome: 'completed' } });
});

it('the end of a terminated item does not replace a stored result of another version', async () => {
  const input = fanoutInput(source(sandboxId));
  await submit(
    stand,
    input,
    items(2, (at) => (at === 0 ? untilGo : 'echo done')),
  );
  await expect.poll(async () => (await fanoutProgress(stand.client, input)).counts.completed).toBe(1);
  const { batchKey } = await fanoutProgress(stand.client, input);
  const key = `${fanoutPlaces({ ...input, batchKey }).item(0)}/1.json`;
  const { ref } = await stand.results.put(key, Buffer.from('{"version":2}'));
  await itemOf(input, 0).terminate();
  const { left } = await ended(stand, input);
  expect((await stand.results.get(ref)).toString()).toBe('{"version":2}');
  expect(left).toMatchObject([{ kind: 'sandbox', sandboxName: expect.stringMatching(/-i0-1$/) }]);
});
