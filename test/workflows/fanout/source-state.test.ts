/** Gate: every fork of a batch starts from the same state. Costs 8 CPU seconds. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { resumeFanout } from '../../../src/workflow-client/fanouts/resume-fanout.js';
import { createStand, type Stand } from '../workflow-harness.js';
import { archivedSandbox, ended, forks, leftForks, lines, source } from './fanout-harness.js';
import { changed, holding, meanwhile } from './source-harness.js';

let stand: Stand;
beforeAll(async () => {
  stand = await createStand({ worker: { forksPerSecond: 1_000 } });
});
afterAll(() => stand.close());

it('a changed source ends the batch by name, before a prompt is sent to a fork of another state', async () => {
  const sandboxId = await archivedSandbox(stand);
  const { input, result, rows } = await meanwhile(stand, source(sandboxId), () => changed(stand, sandboxId));
  expect(result).toMatchObject({ outcome: 'source_failed', error: { code: 'source_changed' } });
  expect(rows).toEqual(['completed', 'source_changed', 'not_started']);
  const [first] = await lines(stand, result);
  expect(first?.job?.prompts[0]?.result).toContain('from the source');
  expect(first?.startsFrom).toMatchObject({ kind: 'sandbox', sandboxId });
  const prompted = new Set(stand.service.books.prompts().map(({ sandboxId: id }) => id));
  expect(forks(stand, input).filter(({ id }) => prompted.has(id))).toHaveLength(1);
  await expect.poll(() => leftForks(stand, input)).toEqual([]);
  // A resume finds the same, and starts nothing.
  await resumeFanout(stand.client, input, { taskQueue: stand.taskQueue });
  expect(await ended(stand, input)).toMatchObject({ outcome: 'source_failed', error: { code: 'source_changed' } });
  expect(forks(stand, input)).toHaveLength(2);
});

it('a snapshot ends the batch if its name moves to another one', async () => {
  await holding(stand, 'moving');
  const from = { kind: 'snapshot', from: 'moving', body: {} } as const;
  const { result, rows } = await meanwhile(stand, from, () => holding(stand, 'moving'));
  expect(result).toMatchObject({ outcome: 'source_failed', error: { code: 'source_changed' } });
  expect(rows).toEqual(['completed', 'source_changed', 'not_started']);
});
