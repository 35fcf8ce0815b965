/** Lists the jobs and the batches of a deployment from Temporal's visibility. */
import type { Client } from '@temporalio/client';
import { jobIdOfWorkflow, jobWorkflowId } from '../addresses/addresses.js';
import { workflowTypes } from '../protocol/messages.js';
import { chainStart } from '../temporal/chain-start.js';
import { lenientClient, memoOf, type UnreadableMemo } from '../temporal/readable-memos.js';
import { checkDeployment } from './cleanups/cleanup-input.js';
import { type Labels, labelsIn } from './labels.js';

/** What the lists of jobs and of batches have in common. */
export interface ListedWorkflow {
  /** `running`, or how the workflow ended. A workflow with any named outcome is `completed`. */
  readonly status: string;
  /**
   * How the job or batch ended; null while it runs, if its workflow was terminated or timed out, and if it cannot be
   * read.
   */
  readonly outcome: string | null;
  /**
   * What it lacks although its outcome does not tell it, in words, such as `1 file missing`; null if nothing, and while
   * it runs.
   */
  readonly shortfall: string | null;
  /** The labels that it was started with. */
  readonly labels: Labels;
  /** ISO 8601 time. A job or batch that continued as new keeps the start of its first run. */
  readonly startedAt: string;
  /** ISO 8601 time; null while it runs. */
  readonly endedAt: string | null;
  /** Temporal's id of the newest run. A job or batch that continues as new gets another. */
  readonly runId: string;
  /** Why the memo cannot be read, such as a missing key; null if it can. */
  readonly unreadable: UnreadableMemo | null;
}

/** A job in a list. */
export interface JobSummary extends ListedWorkflow {
  readonly jobId: string;
  /** First line of the first prompt. */
  readonly prompt: string | null;
  /** Id of the job that it runs again; null unless the job was started with it. */
  readonly rerunOf: string | null;
}

/** A batch in a list. */
export interface FanoutSummary extends ListedWorkflow {
  readonly batchId: string;
  /** The title of the batch; null if it has none or if it cannot be read. */
  readonly title: string | null;
  /** How many of its items completed; null while it runs, and if it cannot be read. */
  readonly counts: { readonly completed: number; readonly items: number } | null;
}

/** Options of `listJobs`. */
export interface ListJobsOptions {
  /** Name of the deployment. */
  readonly deployment: string;
  /** Lists only running jobs or batches. Default: false. */
  readonly open?: boolean;
  /**
   * Lists only jobs or batches that ended and failed. Their outcome is not `completed` or `cancelled`, or cannot be
   * read, or they lack a file or left something behind, or the workflow itself failed, was terminated or timed out.
   * Default: false.
   */
  readonly failed?: boolean;
  /** Lists only jobs or batches that started or ended at or after this time. Default: no limit. */
  readonly since?: Date;
  /** Lists only jobs or batches that have all these labels. Default: none. */
  readonly labels?: Labels;
  /** Maximum number of entries, newest first. Default: 50. */
  readonly limit?: number;
}

/** Options of `listFanouts`. */
export type ListFanoutsOptions = ListJobsOptions;

/**
 * Lists the newest jobs first, those that run and those that ended. Each job is listed once, with its newest execution.
 * Visibility lags: a job that was started a moment ago may be missing.
 * @throws SandflowError `bad_configuration`
 * @example
 * const failed = await listJobs(client, { deployment, failed: true, limit: 20 });
 */
export async function listJobs(client: Client, options: ListJobsOptions): Promise<JobSummary[]> {
  const found = await newestExecutions(client, 'createThenPrompt', options);
  return found.map(({ id, memo, unreadable, ...listed }) => ({
    jobId: id,
    ...listed,
    prompt: textIn(memo.prompt),
    rerunOf: textIn(memo.rerunOf),
    unreadable,
  }));
}

/**
 * Lists the newest batches first, those that run and those that ended. Each batch is listed once, with its newest
 * execution. Visibility lags: a batch that was started a moment ago may be missing.
 * @throws SandflowError `bad_configuration`
 * @example
 * const [newest] = await listFanouts(client, { deployment, limit: 1 });
 */
export async function listFanouts(client: Client, options: ListFanoutsOptions): Promise<FanoutSummary[]> {
  const found = await newestExecutions(client, 'forkFanout', options);
  return found.map(({ id, memo, unreadable, ...listed }) => ({
    batchId: id,
    ...listed,
    title: textIn(memo.title),
    counts: countsIn(memo.counts),
    unreadable,
  }));
}

function countsIn(value: unknown): FanoutSummary['counts'] {
  const { completed, items } = (value ?? {}) as Readonly<Record<string, unknown>>;
  return typeof completed === 'number' && typeof items === 'number' ? { completed, items } : null;
}

interface Execution extends ListedWorkflow {
  readonly id: string;
  readonly memo: Readonly<Record<string, unknown>>;
}

/** The newest execution of each workflow, if it fits the options. */
async function newestExecutions(
  client: Client,
  type: keyof typeof workflowTypes,
  options: ListJobsOptions,
): Promise<Execution[]> {
  const { deployment, limit = 50, open, since } = options;
  checkDeployment(deployment);
  const prefix = `WorkflowId STARTS_WITH '${jobWorkflowId(deployment, '')}'`;
  const query = [`WorkflowType = '${workflowTypes[type]}'`, prefix];
  if (since) query.push(`(StartTime >= '${since.toISOString()}' OR CloseTime >= '${since.toISOString()}')`);
  const known = new Set<string>();
  const read = (status: string) => executions(client, [...query, status].join(' AND '), known, options);
  // What ends after the first list was read is in the second one. Runs that continued as new are in neither, because
  // the workflow has not ended with them.
  const running = read(`ExecutionStatus = 'Running'`);
  const ended = read(`ExecutionStatus != 'Running' AND ExecutionStatus != 'ContinuedAsNew'`);
  return newestStarts(open ? [running] : [running, ended], limit);
}

/**
 * Temporal sorts what runs by the start of its run, and what has ended by its end, the last one first. An older
 * execution of the same workflow comes later.
 * @param known ids of the workflows whose newest execution was read
 */
async function* executions(
  client: Client,
  query: string,
  known: Set<string>,
  { deployment, limit = 50, failed, since, labels }: ListJobsOptions,
): AsyncGenerator<Listed<Execution>> {
  const pageSize = Math.min(2 * limit, 1_000);
  for await (const { workflowId, runId, status, startTime, closeTime, memo } of lenientClient(client).workflow.list({
    query,
    pageSize,
  })) {
    const notAfter = (closeTime ?? startTime).toISOString();
    const { memo: readable, unreadable } = memoOf(memo);
    const startedAt = chainStart({ startTime, memo: readable });
    const listed = {
      status: status.name.toLowerCase(),
      outcome: status.name === 'RUNNING' ? null : textIn(readable.outcome),
      shortfall: status.name === 'RUNNING' ? null : textIn(readable.shortfall),
      labels: labelsIn(readable.labels),
    };
    const id = jobIdOfWorkflow(deployment, workflowId);
    const isWanted =
      id !== undefined &&
      !known.has(id) &&
      // The query compares the start of the newest run, which is later.
      !(since && startedAt < since && !(closeTime && closeTime >= since)) &&
      !(failed && !hasFailed(listed)) &&
      Object.entries(labels ?? {}).every(([name, value]) => listed.labels[name] === value);
    const times = { startedAt: startedAt.toISOString(), endedAt: closeTime?.toISOString() ?? null, runId };
    yield { notAfter, row: isWanted ? { id, ...listed, ...times, memo: readable, unreadable } : undefined };
    if (id !== undefined) known.add(id);
  }
}

/** An outcome that cannot be read may be a failure: without it, the list would say that all is well. */
export function hasFailed({
  status,
  outcome,
  shortfall,
}: Pick<ListedWorkflow, 'status' | 'outcome' | 'shortfall'>): boolean {
  if (shortfall !== null) return true;
  if (status !== 'completed') return status !== 'cancelled' && status !== 'running';
  return outcome !== 'completed' && outcome !== 'cancelled';
}

function textIn(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

/** An entry of such a list. */
interface Listed<Row> {
  /** ISO 8601 time. Neither this entry nor any after it in its list started later. */
  readonly notAfter: string;
  /** Undefined if the entry is not wanted. */
  readonly row: Row | undefined;
}

/**
 * Reads each list only as far as it may still hold one of the newest.
 * @returns at most `limit` rows, those that started last first
 */
async function newestStarts<Row extends { readonly startedAt: string }>(
  lists: Iterable<AsyncIterable<Listed<Row>>>,
  limit: number,
): Promise<Row[]> {
  const newest: Row[] = [];
  for (const list of lists) {
    for await (const { notAfter, row } of list) {
      const oldest = newest[limit - 1];
      if (oldest && notAfter <= oldest.startedAt) break;
      if (!row) continue;
      newest.splice(newest.findLastIndex(({ startedAt }) => startedAt >= row.startedAt) + 1, 0, row);
      if (newest.length > limit) newest.pop();
    }
  }
  return newest;
}
