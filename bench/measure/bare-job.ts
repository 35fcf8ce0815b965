/** Runs the bare workflow, for comparison with the product's job. */
import { randomBytes } from 'node:crypto';
import type { WorkflowHandle } from '@temporalio/client';
import type { BareInput, bare } from '../bare/workflow.js';
import type { Stand } from '../stand.js';

export interface BareRun {
  readonly handle: WorkflowHandle<typeof bare>;
  /** The time from sending the first signal to the first line of the next activity, in ms. */
  readonly lagMs: number;
}

export async function runBareJob(stand: Stand, input: BareInput): Promise<BareRun> {
  const handle = await stand.client.workflow.start<typeof bare>('bare', {
    workflowId: `bare-${randomBytes(8).toString('hex')}`,
    taskQueue: stand.bareTaskQueue,
    args: [input],
  });
  return { handle, lagMs: (await handle.result()) ?? Number.NaN };
}
