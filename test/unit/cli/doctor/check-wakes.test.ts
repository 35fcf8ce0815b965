/** The results of jobs of other versions, or of other programs, may hold anything. */
import { Client, type Connection } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import { temporal } from '@temporalio/proto';
import { expect, it } from 'vitest';
import { jobWorkflowId } from '../../../../src/addresses/addresses.js';
import { checkWakes } from '../../../../src/cli/doctor/check-wakes.js';

const deployment = 'test';
const nowSeconds = Math.floor(Date.now() / 1_000);

/** A client of a Temporal that has these results of jobs. */
function clientOf(results: readonly unknown[]): Client {
  const executions = results.map((_, at) => ({
    execution: { workflowId: jobWorkflowId(deployment, `job-${at}`), runId: `run-${at}` },
    type: { name: 'createThenPrompt' },
    status: 'WORKFLOW_EXECUTION_STATUS_COMPLETED',
    startTime: { seconds: nowSeconds - at },
    closeTime: { seconds: nowSeconds - at },
  }));
  const workflowService = {
    async listWorkflowExecutions({ query }: { readonly query: string }) {
      const listed = query.includes(`ExecutionStatus = 'Running'`) ? [] : executions;
      return temporal.api.workflowservice.v1.ListWorkflowExecutionsResponse.fromObject({ executions: listed });
    },
    async getWorkflowExecutionHistory({ execution }: { readonly execution: { readonly workflowId: string } }) {
      const at = executions.findIndex((one) => one.execution.workflowId === execution.workflowId);
      const result = { payloads: [defaultPayloadConverter.toPayload(results[at])] };
      return { history: { events: [{ workflowExecutionCompletedEventAttributes: { result } }] } };
    },
  };
  return new Client({ connection: { workflowService } as unknown as Connection });
}

it.each([
  ['null', null],
  ['one without wakes', {}],
  ['one with other wakes', { wakes: 7 }],
])('a result that cannot be understood does not hide the wakes of other jobs: %s', async (_, result) => {
  const own = { wakes: [{ waitedFor: 'usable', waitedMs: 1_000, by: 'webhook' }] };
  expect(await checkWakes(clientOf([result, own, result]), { deployment })).toMatchObject({
    status: 'ok',
    message: 'In the newest jobs, webhooks ended 1 of 1 waits.',
  });
});

it('nothing is thrown for wakes that cannot be counted', async () => {
  expect(await checkWakes(clientOf([{ wakes: [null] }]), { deployment })).toMatchObject({ status: 'skipped' });
});
