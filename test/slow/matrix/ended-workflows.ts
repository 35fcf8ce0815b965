/** Whether the workflows of a run ended correctly: by themselves, and without a failed task. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import { failedTasks } from '../../workflows/failed-tasks.js';

/** The time in which workflows that a run has started end after it, in ms. */
const settleMs = 10_000;
/** The allowed statuses of a job: its outcome is in its result. */
const ownEnds: readonly string[] = ['COMPLETED', 'CONTINUED_AS_NEW'];

interface Temporal {
  readonly stand: { readonly client: Client };
}

/** Problems as sentences. Waits for workflows that are about to end. */
export async function brokenWorkflows(
  world: Temporal,
  { workflowId, isReset = false }: { readonly workflowId: string; readonly isReset?: boolean | undefined },
): Promise<string[]> {
  const untilMs = Date.now() + settleMs;
  let found = await workflowsOf(world, workflowId);
  while (found.some(isOpen) && Date.now() < untilMs) {
    await sleep(200);
    found = await workflowsOf(world, workflowId);
  }
  const ends = found
    // A reset terminates the run before it.
    .filter((one) => !(isReset && one.status.name === 'TERMINATED' && one.workflowId === workflowId))
    .filter(({ status }) => !ownEnds.includes(status.name))
    .map((one) => `the workflow ${one.workflowId} is ${one.status.name}`);
  const tasks = await Promise.all(found.map((one) => failedTasksOf(world, one)));
  return [...ends, ...tasks.flat()];
}

const isOpen = ({ status }: WorkflowExecutionInfo) => status.name === 'RUNNING';

/** The runs of a job and of its items. */
export async function workflowsOf({ stand }: Temporal, workflowId: string): Promise<WorkflowExecutionInfo[]> {
  const found: WorkflowExecutionInfo[] = [];
  for await (const one of stand.client.workflow.list({ query: `WorkflowId STARTS_WITH "${workflowId}"` })) {
    // The id of another job may begin with this one, as `j12` does with `j1`.
    if (one.workflowId === workflowId || one.workflowId.startsWith(`${workflowId}/`)) found.push(one);
  }
  return found;
}

async function failedTasksOf({ stand }: Temporal, { workflowId, runId }: WorkflowExecutionInfo): Promise<string[]> {
  const failures = await failedTasks(stand.client.workflow.getHandle(workflowId, runId));
  return failures.map((failure) => `a task of the workflow ${workflowId} failed: ${failure}`);
}
