/** A job of another installation, which reserves a sandbox for some seconds. */
import { WithStartWorkflowOperation } from '@temporalio/client';
import { sandboxWatchId } from '../../../src/addresses/addresses.js';
import { leaseSandboxUpdate, workflowTypes } from '../../../src/protocol/messages.js';
import type { Account } from './account.js';
import type { Traces } from './traces.js';

const lastsMs = 8_000;

/** Does nothing if the lease is refused. */
export async function leaseForSeconds(
  { client, taskQueue }: Account,
  sandboxId: string,
  workflowId: string,
  traces: Traces,
): Promise<void> {
  const askedMs = Date.now();
  const { granted } = await client.workflow.executeUpdateWithStart(leaseSandboxUpdate, {
    args: [{ workflowId, use: 'work', lastsMs }],
    startWorkflowOperation: new WithStartWorkflowOperation(workflowTypes.sandboxWatch, {
      workflowId: sandboxWatchId(sandboxId),
      taskQueue,
      args: [{ sandboxId }],
      workflowIdConflictPolicy: 'USE_EXISTING',
    }),
  });
  if (granted) traces.leases.push({ sandboxId, fromMs: Date.now(), untilMs: askedMs + lastsMs });
}
