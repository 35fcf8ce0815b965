/** Replays what runs now with the workflows of this build, as a worker of this build would. */
import { type Client, WorkflowNotFoundError } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { Worker } from '@temporalio/worker';
import { type WorkflowSourceOptions, workflowSource } from './workflow-bundle.js';

/** Options of `replayOpenWorkflows`: whose work, and as in `createSandflowWorker` which code. */
export interface ReplayOptions extends WorkflowSourceOptions {
  /** The task queue of the workers: all that runs on it is replayed. */
  readonly taskQueue: string;
  /** As the workers have it. Default: that of Temporal. */
  readonly dataConverter?: DataConverter;
  /** Ends the replay. Default: none. */
  readonly signal?: AbortSignal;
}

/** A workflow that cannot continue on this build. */
export interface RefusedWorkflow {
  readonly workflowId: string;
  readonly type: string;
  /** Why, as Temporal's SDK says it. */
  readonly reason: string;
  /** True if it stays with the version of its worker, so that no worker of this build has to continue it. */
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
 * Replays each running workflow of a task queue with the workflows of this build. It changes nothing, and is safe to
 * repeat. Visibility lags: a workflow that was started a moment ago may be missing.
 * @throws SandflowError `bad_argument` as `createSandflowWorker`; the reason of `signal`
 * @example
 * const { refused } = await replayOpenWorkflows(client, { taskQueue });
 * if (refused.some(({ isPinned }) => !isPinned)) throw new Error('This build cannot continue what runs.');
 */
export async function replayOpenWorkflows(client: Client, options: ReplayOptions): Promise<ReplayReport> {
  const { dataConverter, signal } = options;
  const replays = Worker.runReplayHistories(
    { ...(await workflowSource(options)), dataConverter },
    openHistories(client, options),
  );
  const refused: RefusedWorkflow[] = [];
  let replayed = 0;
  for await (const { workflowId, runId, error } of replays) {
    signal?.throwIfAborted();
    replayed += 1;
    if (!error) continue;
    const { type, raw } = await client.workflow.getHandle(workflowId, runId).describe();
    const isPinned = raw.workflowExecutionInfo?.versioningInfo?.behavior === pinned;
    refused.push({ workflowId, type, reason: error.message, isPinned });
  }
  return { replayed, refused };
}

/** One after the other, as they are replayed: one of a batch has megabytes. */
async function* openHistories(
  client: Client,
  { taskQueue }: ReplayOptions,
): AsyncGenerator<{ readonly workflowId: string; readonly history: History }> {
  const query = `TaskQueue = '${taskQueue}' AND ExecutionStatus = 'Running'`;
  for await (const { workflowId, runId } of client.workflow.list({ query })) {
    const history = await client.workflow.getHandle(workflowId, runId).fetchHistory().catch(endedSince);
    if (history) yield { workflowId, history };
  }
}

function endedSince(error: unknown): undefined {
  if (!(error instanceof WorkflowNotFoundError)) throw error;
}
