/** Lists the jobs and the batches of a deployment from Temporal's visibility. */
import type { Client } from '@temporalio/client';
import { jobIdOfWorkflow, jobWorkflowId } from '../addresses/addresses.js';
import { SandflowError } from '../errors/sandflow-error.js';
import { workflowTypes } from '../protocol/messages.js';
import { searchAttributes } from '../protocol/search-attributes.js';
import { chainStart } from '../temporal/chain-start.js';
import { lenientClient, memoOf, type UnreadableMemo } from '../temporal/readable-memos.js';
import { checkDeployment } from './cleanups/cleanup-input.js';
import { type Labels, labelsIn } from './labels.js';
import { requireSearchAttributes } from './search-attributes.js';

/** What the lists of jobs and of batches have in common. */
export interface ListedWorkflow {
  /** `running`, or how the workflow ended. A workflow with any named outcome is `completed`. */
  readonly status: string;
  /**
   * How the job or batch ended; null while it runs, if its workflow was terminated or timed out, and if it cannot be
   * read.
   */
  readonly outcome: string | null;
  /** Whose failure that is (docs/errors.md); null if nobody's, of earlier versions, and of items of batches. */
  readonly failureClass: string | null;
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
  /** Its place in each list, for `after`. It keeps its place. */
  readonly place: string;
  /** Why the memo cannot be read, such as a missing key; null if it can. */
  readonly unreadable: UnreadableMemo | null;
}

/** A job in a list. */
export interface JobSummary extends ListedWorkflow {
  /** Of an item: the id of its batch, a slash, and `i` with its index in base 36. */
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
  /** Lists only what was started with search attributes and ended with this outcome. Default: any. */
  readonly outcome?: string;
  /** Lists only the items of this batch, if it was started with search attributes. Default: jobs outside of batches. */
  readonly batch?: string;
  /** Lists only jobs and items with this newest sandbox that were started with search attributes. Default: any. */
  readonly sandbox?: string;
  /** Lists only jobs that are blocked and were started with search attributes. Default: false. */
  readonly blocked?: boolean;
  /**
   * Lists only what follows this place, of the last entry of the page before. None is missing or listed twice. Each page
   * reads the newer ones again. Default: from the newest.
   */
  readonly after?: string;
}

/** Options of `listFanouts`. */
export type ListFanoutsOptions = Omit<ListJobsOptions, 'batch' | 'sandbox' | 'blocked'>;

/**
 * Lists the newest jobs first, those that run and those that ended. Each job is listed once, with its newest execution.
 * Visibility lags: a job that was started a moment ago may be missing.
 * @throws SandflowError `bad_configuration`, `bad_argument`, `bad_search_attributes`
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
 * @throws SandflowError `bad_configuration`, `bad_argument`, `bad_search_attributes`
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

/** The start and the id: sorts as the list does, backwards. */
const placePattern = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z\/./;

/** The newest execution of each workflow, if it fits the options. */
async function newestExecutions(
  client: Client,
  type: keyof typeof workflowTypes,
  options: ListJobsOptions,
): Promise<Execution[]> {
  const { deployment, limit = 50, open, since, after } = options;
  checkDeployment(deployment);
  if (after !== undefined && !placePattern.test(after))
    throw new SandflowError('bad_argument', `"${after}" is no place in a list. Use \`next\` or \`place\` of a list.`);
  const searches = (['outcome', 'batch', 'sandbox'] as const).flatMap((name) =>
    options[name] === undefined ? [] : `${searchAttributes[name].name} = ${quoted(options[name])}`,
  );
  if (options.blocked) searches.push(`${searchAttributes.blocked.name} IS NOT NULL`, `ExecutionStatus = 'Running'`);
  if (searches.length > 0) await requireSearchAttributes(client);
  const ofItems = listsParts(options) ? ` OR WorkflowType = '${workflowTypes.fanoutItem}'` : '';
  const prefix = `WorkflowId STARTS_WITH '${jobWorkflowId(deployment, '')}'`;
  const query = [`(WorkflowType = '${workflowTypes[type]}'${ofItems})`, prefix, ...searches];
  if (since) query.push(`(StartTime >= '${since.toISOString()}' OR CloseTime >= '${since.toISOString()}')`);
  for (let want = limit; ; want *= 8) {
    const known = new Set<string>();
    const read = (status: string) =>
      executions(client, [...query, status].join(' AND '), known, { ...options, limit: want });
    // What ends after the first list was read is in the second one. Runs that continued as new are in neither, because
    // the workflow has not ended with them.
    const running = read(`ExecutionStatus = 'Running'`);
    const found = await newestStarts(open ? [running] : [running, read(hasEnded)], want);
    const rows = searches.length > 0 ? await withoutEarlier(client, found, deployment) : found;
    if (rows.length >= limit || found.length < want) return rows.slice(0, limit);
  }
}

const hasEnded = `ExecutionStatus != 'Running' AND ExecutionStatus != 'ContinuedAsNew'`;
const quoted = (value: string) => `'${value.replace(/[\\']/g, '\\$&')}'`;
const listsParts = ({ batch, sandbox }: Partial<ListJobsOptions>) => (batch ?? sandbox) !== undefined;

const idsAtOnce = 100;

/** A search may miss the newest execution of a workflow, and find one that ended before it. */
async function withoutEarlier(client: Client, found: readonly Execution[], deployment: string): Promise<Execution[]> {
  const idOf = ({ id }: Execution) => jobWorkflowId(deployment, id);
  const ended = new Map(found.flatMap((one) => (one.endedAt === null ? [] : [[idOf(one), one.endedAt] as const])));
  const earlier = new Set<string>();
  const ids = [...ended.keys()].map(quoted);
  for (let at = 0; at < ids.length; at += idsAtOnce) {
    const query = `WorkflowId IN (${ids.slice(at, at + idsAtOnce).join(', ')})`;
    for await (const { workflowId, startTime } of lenientClient(client).workflow.list({ query }))
      if (startTime.toISOString() >= (ended.get(workflowId) ?? '')) earlier.add(workflowId);
  }
  return found.filter((one) => !earlier.has(idOf(one)));
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
  { deployment, limit = 50, failed, since, labels, after, ...search }: ListJobsOptions,
): AsyncGenerator<Listed> {
  const pageSize = after === undefined ? Math.min(2 * limit, 1_000) : 1_000;
  const listing = lenientClient(client).workflow.list({ query, pageSize });
  for await (const { workflowId, runId, status, startTime, closeTime, memo, typedSearchAttributes } of listing) {
    const notAfter = (closeTime ?? startTime).toISOString();
    const { memo: readable, unreadable } = memoOf(memo);
    const started = chainStart({ startTime, memo: readable });
    const startedAt = started.toISOString();
    // The memo of an item has no outcome. One that cannot be read may have a shortfall too.
    const shown = unreadable ? null : typedSearchAttributes.get(searchAttributes.outcome);
    const outcome = textIn(readable.outcome ?? (shown === 'open' ? null : shown));
    const listed = {
      status: status.name.toLowerCase(),
      outcome: status.name === 'RUNNING' ? null : outcome,
      failureClass: status.name === 'RUNNING' ? null : textIn(readable.failureClass),
      shortfall: status.name === 'RUNNING' ? null : textIn(readable.shortfall),
      labels: labelsIn(readable.labels),
    };
    const id = listsParts(search)
      ? workflowId.slice(jobWorkflowId(deployment, '').length)
      : jobIdOfWorkflow(deployment, workflowId);
    const place = `${startedAt}/${id}`;
    const times = { startedAt, endedAt: closeTime?.toISOString() ?? null, runId, place };
    const isWanted =
      id !== undefined &&
      !known.has(id) &&
      (after === undefined || place < after) &&
      // The query compares the start of the newest run, which is later.
      !(since && started < since && !(closeTime && closeTime >= since)) &&
      !(failed && !hasFailed(listed)) &&
      Object.entries(labels ?? {}).every(([name, value]) => listed.labels[name] === value);
    yield { notAfter, row: isWanted ? { id, ...listed, ...times, memo: readable, unreadable } : undefined };
    if (id !== undefined) known.add(id);
  }
}

/** An outcome that cannot be read may be a failure: without it, the list would say that all is well. */
export function hasFailed(listed: Pick<ListedWorkflow, 'status' | 'outcome' | 'shortfall'>): boolean {
  const { status, outcome, shortfall } = listed;
  if (shortfall !== null) return true;
  if (status !== 'completed') return status !== 'cancelled' && status !== 'running';
  return outcome !== 'completed' && outcome !== 'cancelled';
}

function textIn(value: unknown): string | null {
  return typeof value === 'string' ? value : null;
}

interface Listed {
  /** ISO 8601 time. Neither this entry nor any after it in its list started later. */
  readonly notAfter: string;
  /** Undefined if the entry is not wanted. */
  readonly row: Execution | undefined;
}

/**
 * Reads each list only as far as it may still hold one of the newest.
 * @returns at most `limit` rows, those that started last first, and of the same start in a fixed order
 */
async function newestStarts(lists: Iterable<AsyncIterable<Listed>>, limit: number): Promise<Execution[]> {
  const newest: Execution[] = [];
  for (const list of lists) {
    for await (const { notAfter, row } of list) {
      const oldest = newest[limit - 1];
      if (oldest && notAfter < oldest.startedAt) break;
      if (!row) continue;
      newest.splice(newest.findLastIndex(({ place }) => place >= row.place) + 1, 0, row);
      if (newest.length > limit) newest.pop();
    }
  }
  return newest;
}
