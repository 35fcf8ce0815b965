/**
 * Checks that Temporal has the calls that sandflow needs, before a job does. A server without update-with-start let jobs
 * repeat the lease and the deletion of their sandboxes for ever.
 */
import type { Client } from '@temporalio/client';
import { missingApiOf } from './missing-api.js';

const timeoutMs = 10_000;

/** Each does nothing: it lacks what the call needs, names a workflow that cannot exist, or reads. */
const questions: readonly ((client: Client, namespace: string) => Promise<unknown>)[] = [
  ({ workflowService }, namespace) => workflowService.executeMultiOperation({ namespace, operations: [] }),
  ({ workflowService }, namespace) =>
    workflowService.updateWorkflowExecution({
      namespace,
      workflowExecution: { workflowId: '-' },
      request: { meta: { updateId: '-' }, input: { name: '-' } },
    }),
  ({ workflowService }, namespace) => workflowService.listSchedules({ namespace, maximumPageSize: 1 }),
];

/** Whatever else these calls answer is met by who makes them in earnest. @throws SandflowError `temporal_api_missing` */
export async function requireApis(client: Client): Promise<void> {
  const { namespace } = client.options;
  const answers = await Promise.allSettled(
    questions.map((ask) => client.withDeadline(Date.now() + timeoutMs, () => ask(client, namespace))),
  );
  for (const answer of answers) {
    const missing = answer.status === 'rejected' ? missingApiOf(answer.reason) : undefined;
    if (missing) throw missing;
  }
}
