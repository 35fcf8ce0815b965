/**
 * A batch with many faults: its worker is killed three times, calls fail, and answers and webhooks are
 * lost. SANDFLOW_TEST_FANOUT_ITEMS sets its size.
 */
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import type { FaultInput } from '../../../../local-service/src/index.js';
import type { FanoutInput, FanoutItem } from '../../../../src/protocol/fanout/fanout-input.js';
import { connectTemporal } from '../../../../src/temporal/connect.js';
import { awaitFanout, submitFanout } from '../../../../src/workflow-client/fanouts/submit-fanout.js';
import { arm, armed, readBooks, shell } from '../../../e2e/stack/fixture.js';
import { createParts, type PartsOfStack } from '../../../e2e/stack/fixture-parts.js';
import { archivedSandbox } from '../../../e2e/stack/fixture-sandbox.js';
import { always, batchOfBadDay, lostWebhooks, resultsOf, startMortalWorker, untilQuiet } from './bad-day.js';

const items = Number(process.env.SANDFLOW_TEST_FANOUT_ITEMS ?? 12);
const taskQueue = 'fanout-faults';
const badDay: readonly FaultInput[] = [
  { ...always, kind: 'error', endpoint: '*', status: 503, probability: 0.05 },
  { ...always, kind: 'drop_response', endpoint: '*', probability: 0.1 },
  lostWebhooks,
];
const itemsOfBatch: readonly FanoutItem[] = Array.from({ length: items }, (_, index) => ({
  id: `line-${index}`,
  prompts: [{ prompt: shell(`cat note; echo answer ${index}`) }],
}));

let parts: PartsOfStack;
beforeAll(async () => {
  parts = await createParts();
});
afterAll(() => parts.close());

it('creates one fork and one prompt per item despite all faults, and leaves nothing running', {
  timeout: 3_600_000,
}, async () => {
  const service = await parts.startService('bad', {
    faultsEnabled: true,
    timings: { archiveMs: 100, hydrationMs: 100 },
  });
  const sourceId = await archivedSandbox(service, { path: 'note', content: 'of the source\n' });
  const environment = parts.environment(service, taskQueue);
  const worker = await startMortalWorker(parts, environment);
  await arm(service, badDay);
  const temporal = await connectTemporal({ address: environment.TEMPORAL_ADDRESS ?? '' });
  const batch: FanoutInput = {
    ...batchOfBadDay('bad-day', { concurrency: Math.max(40, items / 10) }),
    source: { kind: 'sandbox', sandboxId: sourceId, allowStale: false },
  };
  try {
    await submitFanout(temporal, batch, itemsOfBatch, { taskQueue });
    const ended = awaitFanout(temporal, batch);
    for (const share of [0.2, 0.4, 0.6]) {
      const see = async () => expect((await readBooks(service)).prompts.length).toBeGreaterThanOrEqual(items * share);
      await vi.waitFor(see, { timeout: 120_000 + items * 3_000, interval: 200 });
      await worker.replace();
    }
    const result = await ended;
    expect(result).toMatchObject({ outcome: 'completed', counts: { completed: items, failed: 0, retried: 0 } });
    expect(result.leftSandboxIds).toEqual([]);
    const answers = (await resultsOf(parts, result)).map(({ job }) => job?.prompts[0]?.result);
    expect(answers).toEqual(itemsOfBatch.map((_, index) => `of the source\nanswer ${index}\n`));
    await untilQuiet(temporal);
  } finally {
    await temporal.connection.close();
  }
  expect((await armed(service)).map(({ fault, remaining }) => [fault.kind, remaining < fault.times])).toEqual(
    badDay.map(({ kind }) => [kind, true]),
  );
  const books = await readBooks(service);
  const forks = books.sandboxes.filter(({ id }) => id !== sourceId);
  expect({ forks: forks.length, prompts: books.prompts.length }).toEqual({ forks: items, prompts: items });
  expect(new Set(books.prompts.map(({ sandboxId }) => sandboxId)).size).toBe(items);
  expect(books.sandboxes.filter(({ state }) => state !== 'archived')).toEqual([]);
});
