/** Summaries are stored apart from inputs, and only some SDK versions encrypt them. */
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { afterEach, expect, it } from 'vitest';
import { awaitFanout, submitFanout } from '../../../src/workflow-client/fanouts/submit-fanout.js';
import { startJob } from '../../../src/workflow-client/jobs/job-client.js';
import { fanoutInput } from '../../workflows/fanout/fanout-harness.js';
import { createStand, jobInput, type Stand, script } from '../../workflows/workflow-harness.js';

const prompt = `canary-of-a-prompt ${script('true')}`;
const commands = ['echo canary-of-a-command'];

let stand: Stand | undefined;
afterEach(() => stand?.close());

/** The summaries and details of all workflows, activities, timers and children on the stand's task queue, by event. */
async function metadataOf({ client, taskQueue }: Stand, types: readonly string[]): Promise<Record<string, string[]>> {
  const seen: Record<string, string[]> = {};
  const query = `TaskQueue = '${taskQueue}'`;
  const found = async () => {
    const all = [];
    for await (const one of client.workflow.list({ query })) all.push(one);
    return all;
  };
  // Visibility lags.
  await expect.poll(async () => (await found()).map(({ type }) => type)).toEqual(expect.arrayContaining([...types]));
  for (const { workflowId, runId } of await found()) {
    const { events } = await client.workflow.getHandle(workflowId, runId).fetchHistory();
    for (const { userMetadata, activityTaskScheduledEventAttributes: activity } of events ?? []) {
      const payloads = [userMetadata?.summary, userMetadata?.details].filter((one) => one != null) as Payload[];
      const texts = payloads.map((payload) => defaultPayloadConverter.fromPayload<string>(payload));
      const name = activity?.activityType?.name ?? 'others';
      seen[name] = [...(seen[name] ?? []), ...texts];
    }
  }
  return seen;
}

it.each([
  [true, ['canary-of-a-prompt'], ['echo canary-of-a-command']],
  [false, ['prompt'], ['command 1']],
])('summaries of a job show texts: %s', async (promptInSummary, ofPrompts, ofCommands) => {
  stand = await createStand();
  const input = jobInput({ prompts: [{ prompt }], commands });
  const { handle } = await startJob(stand.client, input, { taskQueue: stand.taskQueue, promptInSummary });
  expect(await handle.result()).toMatchObject({ outcome: 'completed' });
  const seen = await metadataOf(stand, ['createThenPrompt']);
  const firsts = (texts: readonly string[] | undefined) => texts?.map((text) => text.replace(/ Please.*/, ''));
  expect(firsts(seen.sendAndFollowPrompt)).toEqual(ofPrompts);
  expect(seen.runMarkedCommand).toEqual(ofCommands);
  expect(JSON.stringify(seen).includes('canary')).toBe(promptInSummary);
});

it('summaries of a batch, its preparation and its items show no texts if that was asked', async () => {
  stand = await createStand();
  const preparing = { body: {}, prompts: [{ prompt }], put: [], commands, deadlineMs: 600_000, end: 'delete' } as const;
  const input = fanoutInput({ kind: 'prepare', ...preparing });
  const items = [{ id: 'one', prompts: [{ prompt }] }];
  await submitFanout(stand.client, input, items, { taskQueue: stand.taskQueue, promptInSummary: false });
  expect(await awaitFanout(stand.client, input)).toMatchObject({ counts: { completed: 1 } });
  const seen = await metadataOf(stand, ['forkFanout', 'fanoutChunk', 'fanoutItem', 'createThenPrompt']);
  expect(seen.sendAndFollowPrompt).toEqual(['prompt', 'prompt']);
  expect(JSON.stringify(seen)).not.toContain('canary');
});
