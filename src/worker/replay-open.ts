/** Replays what runs now with the workflows of this build, as a worker of this build would. */
import type { Client, WorkflowExecutionInfo } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { Worker } from '@temporalio/worker';
import { workflowTypes } from '../protocol/messages.js';
import { isNotFound } from '../temporal/errors.js';
import { lenientClient } from '../temporal/readable-memos.js';
import { type WorkflowSourceOptions, workflowSource } from './workflow-bundle.js';

/** Options of `replayOpenWorkflows`: whose work, and as in `createSandflowWorker` which code. */
export interface ReplayOptions extends WorkflowSourceOptions {
  /** The task queue of the workers: all that runs on it is replayed. */
  readonly taskQueue: string;
  /** As the workers have it. Default: that of Temporal. */
  readonly dataConverter?: DataConverter;
  /** The version of the workers of this build: they get what is pinned to it. Default: none. */
  readonly buildId?: string;
  /** Ends the replay. Default: none. */
  readonly signal?: AbortSignal;
}

/** A workflow that cannot continue on this build. */
export interface RefusedWorkflow {
  readonly workflowId: string;
  readonly type: string;
  /** Why, as Temporal's SDK says it. */
  readonly reason: string;
  /** True if it stays with another version, so that no worker of this build has to continue it. */
  readonly isPinned: boolean;
}

/** What `replayOpenWorkflows` found. */
export interface ReplayReport {
  /** Number of workflows that were replayed. */
  readonly replayed: number;
  readonly refused: readonly RefusedWorkflow[];
}

type History = Awaited<ReturnType<ReturnType<Client['workflow']['getHandle']>['fetchHistory']>>;

/** Of Temporal's enumeration of versioning behaviours. */
const pinned = 1;

/**
 * Replays each running workflow of a task queue with the workflows of this build: all of them if `workflowBundle` or
 * `workflowsPath` names yours, else those of sandflow. It changes nothing, and is safe to repeat. Visibility lags: a workflow
 * that was started a moment ago may be missing.
 * @throws SandflowError `bad_argument` as `createSandflowWorker`; the reason of `signal`
 * @example
 * const { refused } = await replayOpenWorkflows(client, { taskQueue });
 * if (refused.some(({ isPinned }) => !isPinned)) throw new Error('This build cannot continue what runs.');
 */
export async function replayOpenWorkflows(client: Client, options: ReplayOptions): Promise<ReplayReport> {
  const { dataConverter, signal, buildId } = options;
  const open = new Map<string, WorkflowExecutionInfo>();
  const histories = openHistories(client, options, (execution) => open.set(execution.workflowId, execution));
  const refused: RefusedWorkflow[] = [];
  let replayed = 0;
  const source = await workflowSource(options);
  for await (const { workflowId, error } of Worker.runReplayHistories({ ...source, dataConverter }, histories)) {
    signal?.throwIfAborted();
    replayed += 1;
    const execution = open.get(workflowId);
    open.delete(workflowId);
    if (!error || !execution) continue;
    const version = await versionOf(client, execution);
    const isPinned = version?.behavior === pinned && version.deploymentVersion?.buildId !== buildId;
    refused.push({ workflowId, type: execution.type, reason: error.message, isPinned });
  }
  return { replayed, refused };
}

/** One after the other, as they are replayed: one of a batch has megabytes. */
async function* openHistories(
  client: Client,
  { taskQueue, workflowBundle, workflowsPath }: ReplayOptions,
  note: (execution: WorkflowExecutionInfo) => void,
): AsyncGenerator<{ readonly workflowId: string; readonly history: History }> {
  const query = [`TaskQueue = '${taskQueue.replaceAll("'", "''")}'`, `ExecutionStatus = 'Running'`];
  if (!workflowBundle && !workflowsPath) {
    query.push(`WorkflowType IN (${Object.values(workflowTypes).map((type) => `'${type}'`)})`);
  }
  // A memo that cannot be read says nothing of the history.
  for await (const execution of lenientClient(client).workflow.list({ query: query.join(' AND ') })) {
    const { workflowId, runId } = execution;
    const history = await client.workflow.getHandle(workflowId, runId).fetchHistory().catch(endedSince);
    if (!history) continue;
    note(execution);
    yield { workflowId, history };
  }
}

async function versionOf(client: Client, { workflowId, runId }: WorkflowExecutionInfo) {
  const described = await lenientClient(client).workflow.getHandle(workflowId, runId).describe().catch(endedSince);
  return described?.raw.workflowExecutionInfo?.versioningInfo;
}

function endedSince(error: unknown): undefined {
  if (!isNotFound(error)) throw error;
}
