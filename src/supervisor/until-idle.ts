/** Waits until a stack has had nothing to do for long enough. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { workflowTypes } from '../../workflows/messages.js';
import type { Config } from '../config.js';
import { jobWorkflowId, notificationPrefix } from '../contract/addresses.js';
import { lenientClient } from '../temporal/readable-memos.js';

const maxCheckIntervalMs = 2_000;

interface UntilIdleOptions {
  /** Number of clients that are connected now. */
  readonly clients: () => number;
  /** Requests the number of open jobs from Temporal. If this fails, the stack counts as busy: jobs may be open. */
  readonly openJobs: () => Promise<number>;
  /** How long there must have been no clients and no open jobs, in ms. */
  readonly idleMs: number;
  /** True if the stack stays up while it is idle. Default: false. */
  readonly isKept?: () => boolean;
  /**
   * Called at each check with the time since which the stack is idle, in ms since the epoch; undefined while it is not
   * idle.
   */
  readonly onCheck?: (quietSinceMs: number | undefined) => void;
  /** Ends the wait. */
  readonly signal: AbortSignal;
}

/** Resolves true when no client and no open job have been seen for `idleMs`, false when the signal ends the wait. */
export async function untilIdle(options: UntilIdleOptions): Promise<boolean> {
  const { clients, openJobs, idleMs, isKept = () => false, onCheck, signal } = options;
  const checkIntervalMs = Math.min(maxCheckIntervalMs, Math.max(idleMs / 4, 20));
  let quietSince: number | undefined;
  while (!signal.aborted) {
    const isQuiet = async () =>
      !isKept() && clients() === 0 && (await openJobs().catch(() => 1)) === 0 && clients() === 0 && !isKept();
    if (!(await isQuiet())) quietSince = undefined;
    else if (quietSince === undefined) quietSince = Date.now();
    else if (Date.now() - quietSince >= idleMs) return true;
    onCheck?.(quietSince);
    await sleep(checkIntervalMs, undefined, { signal }).catch(() => undefined);
  }
  return false;
}

const waitForDeliveriesMs = 600_000;

/**
 * Counts the open workflows that this stack's worker works on. On the embedded server everything on the task queue
 * counts. On a configured server others may use the same queue, so only the jobs of this deployment and their
 * notifications count. A notification that could not be delivered for ten minutes does not keep the stack up. The
 * server keeps it, and the next stack tries again.
 * @param nowMs the present, in ms since the epoch. Default: now
 */
export async function countOpenJobs(client: Client, config: JobsOfStack, nowMs = Date.now()): Promise<number> {
  return (await client.workflow.count(openJobsQuery(config, nowMs))).count;
}

type JobsOfStack = Pick<Config, 'taskQueue' | 'deployment' | 'temporal'>;

const listedAtMost = 100;
const namedAtMost = 5;

/** Ids of some of the open jobs and batches, without the parts of batches. */
export async function someOpenJobs(client: Client, config: JobsOfStack): Promise<string[]> {
  const prefix = jobWorkflowId(config.deployment, '');
  const ids: string[] = [];
  let listed = 0;
  for await (const { workflowId } of lenientClient(client).workflow.list({
    query: openJobsQuery(config, Date.now()),
  })) {
    listed += 1;
    const id = workflowId.startsWith(prefix) ? workflowId.slice(prefix.length) : workflowId;
    if (!workflowId.startsWith(prefix) || !id.includes('/')) ids.push(id);
    if (ids.length === namedAtMost || listed === listedAtMost) break;
  }
  return ids;
}

function openJobsQuery(config: JobsOfStack, nowMs: number): string {
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
  return conditions.join(' AND ');
}
