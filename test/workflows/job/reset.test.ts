import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type createThenPrompt, progressQuery } from '../../../workflows/index.js';
import { createStand, type Stand, script } from '../workflow-harness.js';

let stand: Stand;
beforeAll(async () => {
  stand = await createStand();
});
afterAll(() => stand.close());

it('adopts the sandbox and the prompt of the run before, when it is reset to its beginning', async () => {
  const handle = await stand.start({ prompts: [{ prompt: script('sleep 2; echo done') }] });
  await expect.poll(async () => (await handle.query(progressQuery)).phase).toBe('following');
  const { events } = await handle.fetchHistory();
  const firstTask = events?.find((event) => event.workflowTaskCompletedEventAttributes);
  const { runId } = await stand.client.workflowService.resetWorkflowExecution({
    namespace: 'default',
    workflowExecution: { workflowId: handle.workflowId },
    workflowTaskFinishEventId: firstTask?.eventId,
    reason: 'test',
    requestId: randomUUID(),
  });
  const result = await stand.client.workflow.getHandle<typeof createThenPrompt>(handle.workflowId, runId).result();
  expect(result).toMatchObject({ outcome: 'completed', prompts: [{ status: 'completed' }] });
  expect(result.prompts[0]?.result).toContain('done');
  expect(stand.service.books.sandboxes()).toHaveLength(1);
  expect(stand.service.books.prompts()).toHaveLength(1);
  expect(stand.service.books.stops()).toHaveLength(1);
});
