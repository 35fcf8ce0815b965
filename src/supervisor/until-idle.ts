/** Waits until a stack has had nothing to do for long enough. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { workflowTypes } from '../../workflows/messages.js';
import type { Config } from '../config.js';
import { jobWorkflowId, notificationPrefix } from '../contract/addresses.js';

const maxCheckIntervalMs = 2_000;

interface UntilIdleOptions {
  /** Number of clients that are connected now. */
  readonly clients: () => number;
  /** Requests the number of open jobs from Temporal. If this fails, the stack counts as busy: jobs may be open. */
  readonly openJobs: () => Promise<number>;
  /** How long there must have been no clients and no open jobs, in ms. */
  readonly idleMs: number;
  /** Ends the wait. */
  readonly signal: AbortSignal;
}

/** Resolves true when no client and no open job have been seen for `idleMs`, false when the signal ends the wait. */
export async function untilIdle({ clients, openJobs, idleMs, signal }: UntilIdleOptions): Promise<boolean> {
  const checkIntervalMs = Math.min(maxCheckIntervalMs, Math.max(idleMs / 4, 20));
  let quietSince: number | undefined;
  while (!signal.aborted) {
    const quiet = clients() === 0 && (await openJobs().catch(() => 1)) === 0 && clients() === 0;
    if (!quiet) quietSince = undefined;
    else if (quietSince === undefined) quietSince = Date.now();
    else if (Date.now() - quietSince >= idleMs) return true;
    await sleep(checkIntervalMs, undefined, { signal }).catch(() => undefined);
  }
  return false;
}

const waitForDeliveriesMs = 600_000;

/**
 * Counts the open workflows that this stack's worker works on. On the embedded server everything on the task queue
 * counts. On a configured server others may use the same queue, so only the jobs of this deployment and their
 * notifications count. A notification that could not be delivered for ten minutes does not keep the stack up: the
 * server keeps it, and it is tried again when the stack is up again.
 * @param nowMs the present, in ms since the epoch. Default: now
 */
export async function countOpenJobs(
  client: Client,
  config: Pick<Config, 'taskQueue' | 'deployment' | 'temporal'>,
  nowMs = Date.now(),
): Promise<number> {
  const jobs = jobWorkflowId(config.deployment, '');
  const youngest = new Date(nowMs - waitForDeliveriesMs).toISOString();
  const conditions = [
    `ExecutionStatus = 'Running'`,
    `TaskQueue = '${config.taskQueue.replaceAll("'", "''")}'`,
    `(WorkflowType != '${workflowTypes.deliverNotification}' OR StartTime > '${youngest}')`,
  ];
  if (config.temporal.configured) {
    conditions.push(`(WorkflowId STARTS_WITH '${jobs}' OR WorkflowId STARTS_WITH '${notificationPrefix(jobs)}')`);
  }
  return (await client.workflow.count(conditions.join(' AND '))).count;
}
