/** Starts jobs and sends them requests. */

import { randomUUID } from 'node:crypto';
import {
  type Client,
  WorkflowExecutionAlreadyStartedError,
  type WorkflowExecutionDescription,
  type WorkflowHandle,
  WorkflowIdConflictPolicy,
  WorkflowIdReusePolicy,
} from '@temporalio/client';
import { jobIdProblem, jobWorkflowId } from '../../addresses/addresses.js';
import { SandflowError } from '../../errors/sandflow-error.js';
import type { JobInput, NewJob, PromptStep } from '../../protocol/job/job-input.js';
import type { JobProgress } from '../../protocol/job/job-progress.js';
import type { JobResult } from '../../protocol/job/job-result.js';
import { taskPriority } from '../../protocol/job/task-priority.js';
import type { OutcomeMemo, TextInSummariesMemo } from '../../protocol/memos.js';
import {
  progressQuery,
  promptUpdate,
  type Resolution,
  resolveUpdate,
  skipCollectingSignal,
  workflowTypes,
} from '../../protocol/messages.js';
import { bytesOf, headOf } from '../../protocol/stored-text.js';
import type { ResultStore } from '../../result-store/index.js';
import { requireOptions } from '../../settings/required-options.js';
import { firstQueryTimeoutMs } from '../../temporal/calls.js';
import { requireClient } from '../../temporal/own-copy.js';
import { queryOnce } from '../../temporal/query-once.js';
import { hasCodec } from '../../temporal/read-payloads.js';
import { describeReadable } from '../../temporal/readable-memos.js';
import { cut } from '../../texts/length.js';
import { type AskedWorkflow, askWorkflow, endedError, otherKindError } from '../ask-workflow.js';
import { inputDigest } from '../input-digest.js';
import { type Labels, parseLabels } from '../labels.js';
import { parseWith } from '../parse-with.js';
import { requireSearchAttributes } from '../search-attributes.js';
import { promptStepSchema } from '../settings/setting-schemas.js';
import { keepJobTexts, keepPromptText } from '../store-texts.js';
import { badJob, checkJobSize, parseJobInput, resolutionSchema } from './job-input.js';

const summaryLength = 120;
/** The longest update id that Temporal accepts, in bytes. */
const longestUpdateId = 1_000;
/** A follow-up prompt with more bytes is sent by reference if there is a result store. */
const followUpRoomBytes = 1_000;

/** Identifies a job. */
export interface JobAddress {
  /** Name of the deployment. */
  readonly deployment: string;
  /** Id of the job, unique within the deployment. */
  readonly jobId: string;
}

/** Temporal's handle of a job. */
export type JobHandle = WorkflowHandle<(input: JobInput) => Promise<JobResult>>;

/** Options of `startJob`. */
export interface StartJobOptions {
  /** Task queue of the workers that run jobs. */
  readonly taskQueue: string;
  /** Starts a new run if an earlier job with this id has ended. Default: false, which returns the earlier one. */
  readonly again?: boolean;
  /**
   * The result store, which the workers use too. It receives prompts, scripts, commands and files that are too long for
   * Temporal. Without a store they are refused.
   */
  readonly results?: ResultStore;
  /**
   * Whether summaries in Temporal show the first line of prompts and commands. If false, the summary of a job is its id,
   * and those of activities are `prompt`, or `command` and its number. Default: true, unless the client has a payload
   * codec.
   */
  readonly promptInSummary?: boolean;
  /** Labels that lists show and select by. Values are text. Default: none. */
  readonly labels?: Labels;
  /** Whether lists can filter by what `registerSearchAttributes` has added to the namespace. Default: false. */
  readonly searchAttributes?: boolean;
  /** Id of the job that this one runs again, which lists show. Default: none. */
  readonly rerunOf?: string;
}

/** The result of `startJob`. */
export interface StartedJob {
  /** Handle of the job, new or existing. */
  readonly handle: JobHandle;
  /** False if the job already exists: it runs, or it has ended and `again` is not set. */
  readonly started: boolean;
}

/** The memo of a job, which lists show. */
export interface JobMemo extends OutcomeMemo, TextInSummariesMemo, Pick<StartJobOptions, 'labels' | 'rerunOf'> {
  /** First line of the first prompt. */
  readonly prompt: string;
  /** Digest that shows whether a second start with the same id has the same input. */
  readonly inputDigest: string;
}

/**
 * Starts a job, or returns the existing one with this id. Safe to repeat and to call concurrently: Temporal ensures
 * that only one caller starts the job.
 * @throws SandflowError `bad_job_input` and `bad_search_attributes` before anything is started; `not_a_job` if the id
 *   belongs to a batch
 * @example
 * const prompts = [{ prompt: 'Fix the failing test.' }];
 * const { handle } = await startJob(client, { deployment, jobId: 'fix-1', prompts }, { taskQueue });
 * const { outcome } = await handle.result();
 */
export async function startJob(client: Client, input: NewJob, options: StartJobOptions): Promise<StartedJob> {
  requireClient(client);
  requireOptions(options, { taskQueue: 'a text' });
  const { checked, memo, summary } = await prepareJob(client, input, options);
  const workflowId = jobWorkflowId(checked.deployment, checked.jobId);
  try {
    const handle = await client.workflow.start<(input: JobInput) => Promise<JobResult>>(
      workflowTypes.createThenPrompt,
      {
        workflowId,
        taskQueue: options.taskQueue,
        args: [checked],
        workflowIdReusePolicy: options.again
          ? WorkflowIdReusePolicy.ALLOW_DUPLICATE
          : WorkflowIdReusePolicy.REJECT_DUPLICATE,
        workflowIdConflictPolicy: WorkflowIdConflictPolicy.FAIL,
        priority: taskPriority(checked),
        memo: { ...memo },
        typedSearchAttributes: options.searchAttributes ? await requireSearchAttributes(client) : undefined,
        staticSummary: summary,
      },
    );
    return { handle, started: true };
  } catch (error) {
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
    await describeJob(client, checked);
    return { handle: jobHandle(client, checked), started: false };
  }
}

/**
 * Checks the input of a job, and moves its long texts into the result store. Starts nothing.
 * @throws SandflowError `bad_job_input`
 */
export async function prepareJob(
  client: Client,
  input: NewJob,
  { results, labels: given, rerunOf, promptInSummary = !hasCodec(client) }: Partial<StartJobOptions>,
) {
  const checked = await keepJobTexts(parseJobInput(input), { results, refuse: badJob });
  checkJobSize(checked);
  const prompt = firstLine(headOf(checked.prompts[0]?.prompt ?? checked.commands?.[0] ?? '', 2 * summaryLength));
  const labels = parseLabels(given, badJob);
  const memo: JobMemo = {
    prompt,
    inputDigest: inputDigest(checked),
    outcome: null,
    ...(labels && { labels }),
    ...(rerunOf && { rerunOf }),
    ...(!promptInSummary && { textInSummaries: false }),
  };
  return { checked, memo, summary: promptInSummary ? prompt : checked.jobId };
}

/**
 * A handle on the newest run of a job. Sends no request.
 * @example
 * const { outcome, left } = await jobHandle(client, { deployment, jobId: 'fix-1' }).result();
 */
export function jobHandle(client: Client, job: JobAddress): JobHandle {
  const problem = jobIdProblem(job.deployment, job.jobId);
  if (problem) throw new SandflowError('bad_job_id', `The job id ${problem}.`);
  return client.workflow.getHandle(jobWorkflowId(job.deployment, job.jobId));
}

/**
 * Reads Temporal's description of a job: its status, when it started and ended, and the readable part of its memo.
 * Needs no worker.
 * @throws SandflowError `job_not_found`, `not_a_job` if the id belongs to a batch
 * @example
 * const { status } = await describeJob(client, { deployment, jobId: 'fix-1' });
 */
export async function describeJob(client: Client, job: JobAddress): Promise<WorkflowExecutionDescription> {
  const description = await askWorkflow(client, askedJob(job), () =>
    describeReadable(client, jobHandle(client, job).workflowId),
  );
  if (description.type === workflowTypes.createThenPrompt) return description;
  throw otherKindError(askedJob(job));
}

/**
 * Queries the progress of a job, also after its end. Needs a worker.
 * @throws SandflowError `job_not_found`, or `no_worker` if no worker answers within 30 s
 * @example
 * const { phase, sandboxId } = await jobProgress(client, { deployment, jobId: 'fix-1' });
 */
export function jobProgress(client: Client, job: JobAddress): Promise<JobProgress> {
  const ask = () => queryOnce(jobHandle(client, job), progressQuery);
  return askWorkflow(client, askedJob(job), ask, firstQueryTimeoutMs);
}

/** Options of a request that a job must not carry out twice. */
export interface UpdateJobOptions {
  /** Requests with the same id are carried out once, at most 1,000 bytes. Default: a new one. */
  readonly updateId?: string;
}

export interface PromptJobOptions extends UpdateJobOptions {
  /** As for `startJob`. */
  readonly results?: ResultStore;
}

/**
 * Sends another prompt to a running job. A repeated call with the same `updateId` does not send the prompt again, unless
 * the job has had a hundred requests since. After `no_worker` the prompt may still be sent; the message has its id.
 * @returns the index of the prompt in the job
 * @throws SandflowError `bad_job_input`, `refused` with the job's reason, `job_not_found`, `job_ended`, `no_worker`
 * @example
 * await promptJob(client, { deployment, jobId: 'fix-1' }, { prompt: 'Now add a test.' }, { updateId: 'add-a-test' });
 */
export async function promptJob(
  client: Client,
  job: JobAddress,
  step: PromptStep,
  { updateId, results }: PromptJobOptions = {},
): Promise<{ readonly index: number }> {
  const refuse = (why: string) => new SandflowError('bad_job_input', `The prompt cannot be sent: ${why}.`);
  const checked = parseWith(promptStepSchema, step, refuse);
  requireUpdateId(updateId, refuse);
  // It is not known here how much space the job's other prompts leave.
  const roomBytes = results ? followUpRoomBytes : undefined;
  const sent = await keepPromptText(checked, { results, refuse, roomBytes });
  return updateJob(client, job, updateId, (options) =>
    jobHandle(client, job).executeUpdate(promptUpdate, { ...options, args: [sent] }),
  );
}

/** Sends an update under one id, however often it is sent. */
function updateJob<Answer>(
  client: Client,
  job: JobAddress,
  updateId: string = randomUUID(),
  send: (options: { readonly updateId: string }) => Promise<Answer>,
): Promise<Answer> {
  return askWorkflow(client, { ...askedJob(job), updateId }, () => send({ updateId }));
}

function requireUpdateId(updateId: string | undefined, refuse: (why: string) => SandflowError): void {
  if (updateId === '') throw refuse('updateId: must not be empty');
  if (bytesOf(updateId ?? '') > longestUpdateId) {
    throw refuse(`updateId: must not be longer than ${longestUpdateId} bytes`);
  }
}

/**
 * Resolves a job's call whose outcome is unknown. A repeated call with the same `updateId` changes nothing; see
 * `promptJob`.
 * @returns the resolved step: `create` or `prompt`
 * @throws SandflowError `bad_job_input`, `refused` if no call is unresolved or the decision does not fit; and the
 * errors of `promptJob`
 * @example
 * await resolveJob(client, { deployment, jobId: 'fix-1' }, { action: 'abandon' });
 */
export async function resolveJob(
  client: Client,
  job: JobAddress,
  resolution: Resolution,
  { updateId }: UpdateJobOptions = {},
): Promise<{ readonly step: string }> {
  const refuse = (why: string) => new SandflowError('bad_job_input', `The decision cannot be sent: ${why}.`);
  parseWith(resolutionSchema, resolution, refuse);
  requireUpdateId(updateId, refuse);
  return updateJob(client, job, updateId, (options) =>
    jobHandle(client, job).executeUpdate(resolveUpdate, { ...options, args: [resolution] }),
  );
}

/**
 * Cancels a job. The job interrupts the agent, collects the existing files, and stops, deletes or keeps the sandbox as
 * its input says. It ends as `cancelled`. A second cancel skips the collection of files. Returns when Temporal has
 * accepted the request.
 * @param options.once true: a second cancel changes nothing. Default: false
 * @returns `again`: true if the job was cancelled before
 * @throws SandflowError `job_not_found`, `job_ended`
 * @example
 * const { again } = await cancelJob(client, { deployment, jobId: 'fix-1' });
 */
export async function cancelJob(
  client: Client,
  job: JobAddress,
  { once = false }: { readonly once?: boolean } = {},
): Promise<{ readonly again: boolean }> {
  // Temporal accepts a cancel request for a closed workflow without an error.
  const { status, raw } = await describeJob(client, job);
  if (status.name !== 'RUNNING') throw endedError(askedJob(job));
  const again = raw.workflowExtendedInfo?.cancelRequested === true;
  if (again && once) return { again };
  const handle = jobHandle(client, job);
  await askWorkflow(
    client,
    askedJob(job),
    async () => void (await (again ? handle.signal(skipCollectingSignal) : handle.cancel())),
  );
  return { again };
}

/** Converts the address of a job into the form that `askWorkflow` takes. */
export function askedJob({ deployment, jobId }: JobAddress): AskedWorkflow {
  return { kind: 'job', deployment, id: jobId };
}

function firstLine(text: string): string {
  const line = text.trim().split('\n', 1)[0] ?? '';
  return cut(line, summaryLength);
}
