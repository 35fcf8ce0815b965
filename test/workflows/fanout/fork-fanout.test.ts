import { afterAll, beforeAll, expect, inject, it, vi } from 'vitest';
import { fixAll } from '../../unit/house/snippets/fan-out.js';
import { createStand, type Stand } from '../workflow-harness.js';
import { archivedSandbox, fanoutInput, forks, items, leftForks, lines, run, source } from './fanout-harness.js';

let stand: Stand;
beforeAll(async () => {
  stand = await createStand({ worker: { forksPerSecond: 1_000 } });
});
afterAll(() => stand.close());

it('a batch prompts each item once in its own fork, leaves no fork behind, and counts its calls', async () => {
  const input = fanoutInput(source(await archivedSandbox(stand)));
  const callsBefore = stand.service.books.calls().length;
  const result = await run(
    stand,
    input,
    items(6, (at) => `cat seed; echo of item ${at}`),
  );
  expect(result).toMatchObject({
    outcome: 'completed',
    phase: 'ended',
    counts: { items: 6, completed: 6 },
    leftSandboxIds: [],
  });
  expect(forks(stand, input)).toHaveLength(6);
  expect(leftForks(stand, input)).toEqual([]);
  // All follows of items share the list.
  const booked = () => stand.service.books.calls().slice(callsBefore);
  const own = () => booked().filter(({ endpoint }) => endpoint !== 'listSandboxes').length;
  // The service books a call after its answer, which may come after the end of the batch. It books no call whose
  // connection failed.
  await expect.poll(own).toBeGreaterThanOrEqual(result.apiCalls - 2);
  expect(own()).toBeLessThanOrEqual(result.apiCalls);
  const results = await lines(stand, result);
  expect(results.map(({ itemId, generation }) => `${itemId} ${generation}`)).toEqual(
    items(6).map(({ id }) => `${id} 1`),
  );
  for (const { index, job, times } of results) {
    expect({ deletion: job?.deletion?.status, endedAt: times.endedAt }).toEqual({
      ...{ deletion: 'completed', endedAt: expect.any(String) },
    });
    expect(job?.prompts[0]?.result).toContain('from the source');
    expect(job?.prompts[0]?.result).toContain(`of item ${index}`);
  }
});

it('the example of the library returns the number of completed items', async () => {
  vi.stubEnv('TEMPORAL_ADDRESS', inject('temporalAddress'));
  vi.stubEnv('SANDFLOW_TASK_QUEUE', stand.taskQueue);
  const before = stand.service.books.prompts().length;
  expect(await fixAll('fixing', await archivedSandbox(stand), ['the door', 'the roof'])).toBe(2);
  expect(stand.service.books.prompts()).toHaveLength(before + 2);
});
