/** Starts batches and sends them requests. */

import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowExecutionDescription,
  WorkflowIdConflictPolicy,
  WorkflowIdReusePolicy,
  type WorkflowOptions,
} from '@temporalio/client';
import { jobIdProblem, jobWorkflowId } from '../../addresses/addresses.js';
import { SandflowError } from '../../errors/sandflow-error.js';
import { defaultBreaker } from '../../job-settings/batch-settings.js';
import type { BatchInput, ChunkPlace } from '../../protocol/fanout/batch-parts.js';
import type { FanoutInput } from '../../protocol/fanout/fanout-input.js';
import type { FanoutProgress } from '../../protocol/fanout/fanout-progress.js';
import { taskPriority } from '../../protocol/job/task-priority.js';
import type { BatchEndMemo, OutcomeMemo, TextInSummariesMemo } from '../../protocol/memos.js';
import { fanoutPlacesQuery, fanoutProgressQuery, workflowTypes } from '../../protocol/messages.js';
import { firstQueryTimeoutMs } from '../../temporal/calls.js';
import { queryOnce } from '../../temporal/query-once.js';
import { hasCodec } from '../../temporal/read-payloads.js';
import { describeReadable } from '../../temporal/readable-memos.js';
import { type AskedWorkflow, askWorkflow, endedError, notFoundError, otherKindError } from '../ask-workflow.js';
import { contentDigest } from '../input-digest.js';
import type { StartJobOptions } from '../jobs/job-client.js';
import { type Labels, parseLabels } from '../labels.js';
import { requireSearchAttributes } from '../search-attributes.js';
import { keepFanoutTexts } from '../store-texts.js';
import { bad, badBatch, checkFanoutSize, type NewFanout, parseFanoutInput } from './fanout-input.js';

/** Identifies a batch. */
export interface FanoutAddress {
  /** Name of the deployment. */
  readonly deployment: string;
  /** Id of the batch, unique within the deployment. */
  readonly batchId: string;
}

/** Options of starting a batch. */
export type StartFanoutOptions = Omit<StartJobOptions, 'again' | 'rerunOf'>;

/** The result of starting a batch. */
export interface StartedFanout {
  /** False if the batch already exists: it runs, or it has ended. */
  readonly started: boolean;
  /** Temporal run id of the batch. */
  readonly runId: string;
}

export interface FanoutMemo extends OutcomeMemo, BatchEndMemo, TextInSummariesMemo {
  readonly title: string | null;
  /** Digest that shows whether a second start with the same id has the same input. */
  readonly inputDigest: string;
  /** Run id of the first execution of the batch; set only for a resumed batch. */
  readonly batchKey?: string;
  /** The labels of the batch; absent if it has none. */
  readonly labels?: Labels;
}

/**
 * Starts a batch that `prepareFanout` has checked, and which then waits for its items. An existing batch with this id is
 * not changed. Safe to repeat and to call concurrently: Temporal ensures that only one caller starts the batch.
 * @throws SandflowError `fanout_differs` if the id belongs to a batch with other settings; `not_a_fanout` if it belongs
 *   to a job
 */
export async function startPrepared(
  client: Client,
  { checked, memo }: PreparedFanout,
  { taskQueue, searchAttributes }: Pick<StartFanoutOptions, 'taskQueue' | 'searchAttributes'>,
): Promise<StartedFanout> {
  try {
    const workflowIdReusePolicy = WorkflowIdReusePolicy.REJECT_DUPLICATE;
    return await launchBatch(client, checked, { taskQueue, memo, workflowIdReusePolicy, searchAttributes });
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    const there = await describeFanout(client, checked);
    const known = there.memo?.inputDigest;
    if (known === undefined || known === memo.inputDigest) return { started: false, runId: there.runId };
    const message = `The batch "${checked.batchId}" already exists with other settings. Use the same settings to continue it, or choose another id.`;
    throw new SandflowError('fanout_differs', message);
  }
}

export interface PreparedFanout {
  readonly checked: FanoutInput;
  readonly memo: FanoutMemo;
}

/**
 * Checks the input of a batch, and moves its long texts into the result store. Starts nothing.
 * @throws SandflowError `bad_fanout_input`
 */
export async function prepareFanout(
  client: Client,
  input: NewFanout,
  { results, labels: given, promptInSummary = !hasCodec(client) }: Omit<StartFanoutOptions, 'taskQueue'>,
): Promise<PreparedFanout> {
  const checked = await keepFanoutTexts(parseFanoutInput(input), { results, refuse: badBatch });
  checkFanoutSize(checked);
  const labels = parseLabels(given, badBatch);
  const { batchId: _, deployment: __, ...rest } = checked;
  const memo: FanoutMemo = {
    title: checked.title ?? null,
    inputDigest: contentDigest(rest),
    outcome: null,
    ...(labels && { labels }),
    ...(!promptInSummary && { textInSummaries: false }),
  };
  return { checked: { ...checked, policy: { breaker: defaultBreaker, ...checked.policy } }, memo };
}

/**
 * Starts the first or a later execution of a batch.
 * @throws WorkflowExecutionAlreadyStartedError if an execution runs, or if the reuse policy does not allow the id again
 */
export async function launchBatch(
  client: Client,
  input: BatchInput,
  {
    searchAttributes,
    ...options
  }: Pick<WorkflowOptions, 'taskQueue' | 'workflowIdReusePolicy'> &
    Pick<StartFanoutOptions, 'searchAttributes'> & { readonly memo: FanoutMemo },
): Promise<StartedFanout> {
  const handle = await client.workflow.start<(input: BatchInput) => Promise<unknown>>(workflowTypes.forkFanout, {
    ...options,
    workflowId: jobWorkflowId(input.deployment, input.batchId),
    args: [input],
    workflowIdConflictPolicy: WorkflowIdConflictPolicy.FAIL,
    priority: taskPriority(input.policy, input.batchId),
    memo: { ...options.memo },
    typedSearchAttributes: searchAttributes ? await requireSearchAttributes(client, input.batchId) : undefined,
    staticSummary: input.title ?? input.batchId,
  });
  return { started: true, runId: handle.firstExecutionRunId };
}

/** A handle on the newest run of a batch. Sends no request. */
export function fanoutHandle(client: Client, { deployment, batchId }: FanoutAddress) {
  const problem = jobIdProblem(deployment, batchId);
  if (problem) throw bad(`The batch id ${problem}.`);
  return client.workflow.getHandle(jobWorkflowId(deployment, batchId));
}

/**
 * Queries the progress of a batch, also after its end. The query is cheap for any number of items. Needs a worker.
 * @throws SandflowError `fanout_not_found`, `not_a_fanout`, or `no_worker` if no worker answers within 30 s
 * @example
 * const { counts } = await fanoutProgress(client, { deployment, batchId: 'issues' });
 */
export function fanoutProgress(client: Client, batch: FanoutAddress): Promise<FanoutProgress> {
  const ask = () => queryOnce(fanoutHandle(client, batch), fanoutProgressQuery);
  return askWorkflow(client, askedBatch(batch), ask, firstQueryTimeoutMs);
}

/** Queries where the items of a batch are, also after its end. @throws SandflowError as `fanoutProgress` */
export function fanoutPlaces(client: Client, batch: FanoutAddress): Promise<readonly ChunkPlace[]> {
  const ask = () => queryOnce(fanoutHandle(client, batch), fanoutPlacesQuery);
  return askWorkflow(client, askedBatch(batch), ask, firstQueryTimeoutMs);
}

/**
 * Cancels a batch. The batch interrupts its items, and stops, deletes or keeps their forks as its policy says. It
 * confirms that this has happened, and ends as `cancelled`. Returns when Temporal has accepted the request. Safe to
 * repeat.
 * @throws SandflowError `fanout_not_found`, `fanout_ended`
 * @example
 * await cancelFanout(client, { deployment, batchId: 'issues' });
 */
export async function cancelFanout(client: Client, batch: FanoutAddress): Promise<void> {
  // Temporal accepts a cancel request for a closed workflow without an error.
  const { status } = await describeFanout(client, batch);
  if (status.name !== 'RUNNING') throw endedError(askedBatch(batch));
  await askWorkflow(client, askedBatch(batch), () => fanoutHandle(client, batch).cancel());
}

/**
 * Reads Temporal's description of a batch. Needs no worker.
 * @throws SandflowError `fanout_not_found`, `not_a_fanout`
 * @example
 * const { status } = await describeFanout(client, { deployment, batchId: 'issues' });
 */
export async function describeFanout(client: Client, batch: FanoutAddress): Promise<WorkflowExecutionDescription> {
  const there = await askWorkflow(client, askedBatch(batch), () =>
    describeReadable(client, fanoutHandle(client, batch).workflowId),
  );
  if (there.type === workflowTypes.forkFanout) return there;
  if (there.type !== workflowTypes.createThenPrompt) throw notFoundError(askedBatch(batch));
  throw otherKindError(askedBatch(batch));
}

/** Converts the address of a batch into the form that `askWorkflow` takes. */
export function askedBatch({ deployment, batchId }: FanoutAddress): AskedWorkflow {
  return { kind: 'batch', deployment, id: batchId };
}
