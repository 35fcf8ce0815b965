import { temporal } from '@temporalio/proto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chunkOf, ended, fanoutInput, items, submit } from '../../../workflows/fanout/fanout-harness.js';
import { createStand, type Stand } from '../../../workflows/workflow-harness.js';

let stand: Stand;
beforeAll(async () => {
  stand = await createStand({ worker: { forksPerSecond: 1_000 } });
});
afterAll(() => stand.close());

it('a batch starts a hundred items at once whose inputs together exceed an answer to Temporal', async () => {
  const body = { setupScript: `true # ${'x'.repeat(60_000)}` };
  const from = { kind: 'snapshot', from: 'no-such-snapshot', body } as const;
  const input = await submit(stand, fanoutInput(from, { policy: { concurrency: 100 } }), items(100));
  expect(await ended(stand, input)).toMatchObject({ counts: { items: 100, running: 0, completed: 0 } });
  const { events } = await chunkOf(stand, input, 0).fetchHistory();
  const started = events?.filter((event) => event.childWorkflowExecutionStartedEventAttributes != null);
  expect(started?.length, 'none was found to be refused before its fork').toBeGreaterThan(20);
  // A task that ends the chunk while another answer arrives is repeated with that answer.
  const { WORKFLOW_TASK_FAILED_CAUSE_UNHANDLED_COMMAND: isRepeated } = temporal.api.enums.v1.WorkflowTaskFailedCause;
  const failures = events?.flatMap(({ workflowTaskFailedEventAttributes: failed }) => failed ?? []);
  expect(failures?.filter(({ cause }) => cause !== isRepeated)).toEqual([]);
});
