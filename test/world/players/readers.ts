/** People who look at open workflows all the time, as Temporal's UI does. A query must never change a workflow. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';

/** Time between two looks, in ms. */
const lookEveryMs = 200;
const listEveryLooks = 10;
const timeoutMs = 20_000;

/** Looks at one open workflow after another, until `signal` aborts. Does not wait for the answers. */
export async function readOpenWorkflows(client: Client, signal: AbortSignal): Promise<void> {
  let open: string[] = [];
  for (let look = 0; !signal.aborted; look += 1) {
    // Temporal is away at times, and a workflow may have ended meanwhile.
    if (look % listEveryLooks === 0) open = await listOpen(client).catch(() => open);
    const workflowId = open[look % Math.max(1, open.length)];
    if (workflowId !== undefined) readOnce(client, workflowId).catch(() => undefined);
    await sleep(lookEveryMs, undefined, { signal }).catch(() => undefined);
  }
}

async function listOpen(client: Client): Promise<string[]> {
  const ids: string[] = [];
  for await (const { workflowId } of client.workflow.list({ query: "ExecutionStatus = 'Running'" })) {
    ids.push(workflowId);
  }
  return ids;
}

/** The query that the UI sends for every workflow. */
const readOnce = (client: Client, workflowId: string) =>
  client.withDeadline(Date.now() + timeoutMs, () =>
    client.workflow.getHandle(workflowId).query('__temporal_workflow_metadata'),
  );
