/** A job with very many long answers, against the limits of Temporal. */
import type { WorkflowExecutionDescription } from '@temporalio/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { SandboxClient } from '../../../../src/client/index.js';
import { changedBy } from '../../../workflows/changed-stand.js';
import { createStand, type Stand } from '../../../workflows/workflow-harness.js';

/** Temporal suggests to continue as new after 4,096 events, which 800 answers exceed. */
const answers = Number(process.env.SANDFLOW_TEST_ANSWERS ?? 800);
const answerBytes = 50_000;
const answerOf = (index: number) => `${index} `.padEnd(answerBytes, 'x');
/** A tenth of what makes Temporal terminate a workflow. */
const most = { events: 5_120, bytes: 5_000_000 };

let sent = 0;
/** Agents would take most of the time: these prompts are answered as soon as they are sent. */
const answering: Partial<SandboxClient> = {
  sendPrompt: async () => {
    sent += 1;
    return { promptId: `prm_${sent - 1}`, conversationId: 'conv_1', status: 'queued' } as never;
  },
  getPrompt: async (_, id) =>
    ({ prompt: { id, status: 'completed', result: answerOf(Number(id.split('_')[1])) } }) as never,
  listEvents: async () => ({ events: [] }) as never,
};

let stand: Stand;
beforeAll(async () => {
  stand = await createStand({ worker: { follow: { minIntervalMs: 1 } }, through: changedBy(() => answering) });
});
afterAll(() => stand.close());

it(`a job with ${answers} long answers ends with all of them, in runs of a bounded history`, {
  timeout: 600_000,
}, async () => {
  sent = 0;
  const prompts = Array.from({ length: answers }, () => ({ prompt: 'the same' }));
  const job = await stand.start({ prompts, deadlineMs: 580_000 });
  const result = await job.result();
  expect(result).toMatchObject({ outcome: 'completed', error: null, left: [] });
  expect(sent, 'each prompt was sent once').toBe(answers);
  expect(new Set(result.prompts.map(({ status }) => status))).toEqual(new Set(['completed']));
  const stored = await Promise.all(result.prompts.map(({ resultRef }) => stand.results.get(resultRef ?? '')));
  expect(stored.map((whole, index) => whole.toString('utf8') === answerOf(index)).indexOf(false)).toBe(-1);
  // Visibility lags.
  await expect.poll(async () => (await runsOf(job)).map(({ status }) => status.name)).toContain('COMPLETED');
  const runs = await runsOf(job);
  expect(runs.length).toBeGreaterThan(1);
  for (const { historyLength, historySize } of runs) {
    expect(historyLength).toBeLessThan(most.events);
    expect(historySize ?? 0).toBeLessThan(most.bytes);
  }
});

async function runsOf({ workflowId }: { readonly workflowId: string }): Promise<WorkflowExecutionDescription[]> {
  const { workflow } = stand.client;
  const found: WorkflowExecutionDescription[] = [];
  for await (const { runId } of workflow.list({ query: `WorkflowId = '${workflowId}'` })) {
    found.push(await workflow.getHandle(workflowId, runId).describe());
  }
  return found;
}
