import { afterAll, beforeAll, expect, it } from 'vitest';
import { itemWorkflowId } from '../../../../src/addresses/addresses.js';
import { fanoutProgress } from '../../../../src/workflow-client/fanouts/fanout-client.js';
import {
  archivedSandbox,
  batchOf,
  chunkOf,
  ended,
  fanoutInput,
  forks,
  items,
  promptedForks,
  source,
  submitInChunks,
} from '../../../workflows/fanout/fanout-harness.js';
import { heal } from '../../../workflows/stop/stop-harness.js';
import { createStand, deployment, type Stand } from '../../../workflows/workflow-harness.js';

let stand: Stand;
let sandboxId: string;
beforeAll(async () => {
  stand = await createStand({ worker: { forksPerSecond: 1_000 } });
  sandboxId = await archivedSandbox(stand);
});
afterAll(() => stand.close());

/** The length of the newest run. */
const eventsOf = async (workflow: ReturnType<typeof batchOf>) =>
  Number((await workflow.describe()).raw.workflowExecutionInfo?.historyLength);
/** The number of runs. */
async function runsOf(workflow: ReturnType<typeof batchOf>): Promise<number> {
  let runId: string | null | undefined = (await workflow.describe()).raw.workflowExecutionInfo?.firstRunId;
  let runs = 0;
  for (; runId; runs += 1) {
    const { events } = await stand.client.workflow.getHandle(workflow.workflowId, runId).fetchHistory();
    runId = events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId;
  }
  return runs;
}

it('a chunk whose items are refused hundreds of times continues as new, and cancels and repeats nothing', async () => {
  const refusal = { kind: 'error', endpoint: 'sendPrompt', status: 429, code: 'rate_limited' } as const;
  await stand.fault({ ...refusal, retryAfterSeconds: 1, times: 100 });
  const maxHistoryEvents = 100;
  const policy = { concurrency: 20, itemDeadlineMs: 300_000, deadlineMs: 400_000 };
  const input = fanoutInput(source(sandboxId), { policy, pace: { maxHistoryEvents } });
  await submitInChunks(
    stand,
    input,
    items(20, () => 'sleep 1'),
    20,
  );
  const chunk = chunkOf(stand, input, 0);
  let most = 0;
  const look = setInterval(() => {
    void eventsOf(chunk).then(
      (events) => {
        most = Math.max(most, events);
      },
      () => undefined,
    );
  }, 300);
  const result = await ended(stand, input);
  clearInterval(look);
  await heal(stand);
  expect(result).toMatchObject({
    outcome: 'completed',
    counts: { completed: 20, retried: 0, byOutcome: { completed: 20 } },
    left: [],
  });
  expect(promptedForks(stand, input)).toHaveLength(20);
  expect(new Set(promptedForks(stand, input)).size).toBe(20);
  expect(forks(stand, input)).toHaveLength(20);
  const refused = stand.service.books
    .calls()
    .filter(({ endpoint, status }) => endpoint === 'sendPrompt' && status === 429);
  expect(refused.length).toBeGreaterThanOrEqual(100);
  expect(await runsOf(chunk), 'past the limit again and again').toBeGreaterThanOrEqual(3);
  expect(most).toBeLessThan(maxHistoryEvents + 400);
}, 240_000);

it('a batch continues as new after many messages', async () => {
  const input = fanoutInput(source(sandboxId), { pace: { maxMessages: 4 } });
  await submitInChunks(stand, input, items(8), 1);
  const result = await ended(stand, input);
  expect(result).toMatchObject({ outcome: 'completed', chunks: 8, counts: { items: 8, completed: 8 } });
  expect(await runsOf(batchOf(stand, input)), 'past the limit again and again').toBeGreaterThanOrEqual(3);
}, 120_000);

it('a batch whose runs follow each other quickly still notices a terminated chunk', async () => {
  const pace = { maxMessages: 2, checkChunksEveryMs: 1_500 };
  const input = fanoutInput(source(sandboxId), { pace, policy: { concurrency: 2 } });
  await submitInChunks(
    stand,
    input,
    items(12, (at) => (at === 0 ? 'sleep 6' : 'sleep 1')),
    6,
  );
  const started = async () => (await fanoutProgress(stand.client, input)).counts.completed;
  await expect.poll(started, { timeout: 40_000 }).toBeGreaterThan(0);
  await chunkOf(stand, input, 0).terminate();
  const item = stand.client.workflow.getHandle(itemWorkflowId(deployment, input.batchId, 0));
  const result = await ended(stand, input);
  expect(result).toMatchObject({ outcome: 'completed', counts: { completed: 12 } });
  expect((await item.describe()).status.name).toBe('COMPLETED');
  expect(new Set(promptedForks(stand, input)).size).toBe(promptedForks(stand, input).length);
}, 120_000);
