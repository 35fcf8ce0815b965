/**
 * Prepares a source with a job: creates a sandbox, sets it up and stops it, so that all forks start from the same
 * state.
 */
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import {
  CancellationScope,
  getExternalWorkflowHandle,
  ParentClosePolicy,
  startChild,
  WorkflowIdReusePolicy,
  workflowInfo,
} from '@temporalio/workflow';
import type { AwaitedJob } from '../../../activities/fanout/workflow-status.js';
import { executionOf, followTaskQueue, ownedSandboxName, prepareWorkflowId } from '../../../src/addresses/addresses.js';
import { jobSettings } from '../../../src/job-settings/job-settings.js';
import type { FanoutSource } from '../../../src/protocol/fanout/fanout-input.js';
import type { JobInput } from '../../../src/protocol/job/job-input.js';
import { jobSettingsWith } from '../../../src/protocol/job/job-settings-with.js';
import { workflowTypes } from '../../../src/protocol/messages.js';
import type { createThenPrompt } from '../../job/create-then-prompt.js';
import { problemWithin } from '../../job/end/within-time.js';
import { followProxies, longFollow, lookups } from '../../shared/activity-options.js';
import { addApiCalls } from '../../shared/count-api-calls.js';
import { JobTermination, jobError } from '../../shared/job-termination.js';
import { textInSummariesMemo } from '../../shared/text-in-summaries.js';
import { itemEndsInMs } from '../../shared/wait-intervals.js';
import type { BatchState } from '../batch/batch-state.js';
import { knowsLosses } from '../markers.js';
import { readLasting, sourceJob } from './caller.js';
import type { SourceSlot } from './source-slot.js';

type Preparation = Extract<FanoutSource, { kind: 'prepare' }>;

const maxGenerations = jobSettings.maxGenerations.default;

/**
 * Prepares the source. The job continues when the batch continues as new, so it is not a child workflow. If an earlier
 * run has already started the job, this run waits for the same job. Safe to repeat.
 * @returns the id of the sandbox
 * @throws JobTermination if the job did not complete
 */
export async function prepare(batch: BatchState, slot: SourceSlot, source: Preparation): Promise<string> {
  const { deployment, batchId, resume } = batch.input;
  const input = jobInput(batch, slot, source);
  const workflowId = prepareWorkflowId(deployment, batchId, slot.step);
  // A source that an earlier execution prepared is reused, unless it was deleted.
  let job = resume ? await awaited(workflowId) : null;
  if (job?.outcome !== 'completed' || !(await exists(batch, job.sandboxId))) {
    await start(batch, input, workflowId);
    job = await awaited(workflowId).catch(async (error: unknown) => {
      // The end of the source ends the job too, within a time limit.
      if (batch.carried.ending && !knowsLosses())
        takeOver(batch, slot, await CancellationScope.nonCancellable(() => cancelJob(workflowId)));
      throw error;
    });
  }
  takeOver(batch, slot, job);
  if (job.outcome === 'completed' && job.sandboxId !== null) return job.sandboxId;
  const why = job.error ?? jobError('prepare_lost', 'Somebody ended the job that prepared the source');
  throw new JobTermination('rejected', { ...why, message: `The source could not be prepared: ${why.message}` });
}

/**
 * Ends what an earlier run or execution has begun to prepare, within a time limit. Safe to repeat.
 * @param end what is to be done with the prepared sandbox; the caller does it
 * @returns why it did not end, or null
 */
export async function endPreparation(batch: BatchState, slot: SourceSlot, end: 'stop' | 'delete') {
  const { deployment, batchId, resume, timing } = batch.input;
  const workflowId = prepareWorkflowId(deployment, batchId, slot.step);
  const step = async () => {
    const [status] = await lookups.describeWorkflows([workflowId]);
    // What an earlier execution has stopped as requested may be in use again.
    const isEarlier = resume !== undefined && status !== 'RUNNING' && (end === 'stop' || status !== 'COMPLETED');
    if (status !== 'NOT_FOUND' && !isEarlier) takeOver(batch, slot, await cancelJob(workflowId));
  };
  const problem = await problemWithin(itemEndsInMs(timing), step, 'The job that prepares it did not end in time.');
  if (problem) takeOver(batch, slot, { outcome: null, sandboxId: null, error: null, apiCalls: 0, left: [] });
  return problem;
}

async function awaited(workflowId: string): Promise<AwaitedJob> {
  const waits = followProxies(followTaskQueue(workflowInfo().taskQueue));
  const summary = 'until the source is prepared';
  let job = await waits.awaitJob.executeWithOptions({ summary }, [workflowId, true]);
  while (job === null) job = await waits.awaitJob.executeWithOptions({ summary, ...longFollow }, [workflowId]);
  return job;
}

async function exists(batch: BatchState, sandboxId: string | null): Promise<boolean> {
  if (sandboxId === null) return false;
  return (await readLasting(sourceJob(batch, sandboxId), sandboxId)) !== null;
}

async function start(batch: BatchState, input: JobInput, workflowId: string): Promise<void> {
  const begin = () =>
    startChild<typeof createThenPrompt>(workflowTypes.createThenPrompt, {
      workflowId,
      args: [input],
      parentClosePolicy: ParentClosePolicy.ABANDON,
      memo: { execution: executionOf(batch.batchKey), ...textInSummariesMemo() },
      workflowIdReusePolicy:
        batch.input.resume === undefined
          ? WorkflowIdReusePolicy.REJECT_DUPLICATE
          : WorkflowIdReusePolicy.ALLOW_DUPLICATE,
    });
  // A child is cancelled with the scope that started it, and that scope ends when the batch continues as new.
  try {
    await CancellationScope.nonCancellable(begin);
  } catch (error) {
    // An earlier run of the batch started it.
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}

async function cancelJob(workflowId: string): Promise<AwaitedJob> {
  const job = getExternalWorkflowHandle(workflowId);
  // It may have just ended.
  await job.cancel().catch(() => undefined);
  return awaited(workflowId);
}

/**
 * From now on, the batch must stop or delete the job's sandbox. Also reports everything else that the job left running.
 */
function takeOver(batch: BatchState, slot: SourceSlot, { outcome, sandboxId, left, apiCalls }: AwaitedJob): void {
  slot.isTakenOver = true;
  addApiCalls(apiCalls);
  slot.carried.preparedSandboxId = sandboxId;
  batch.leaveOwn(left);
  if (outcome !== null) return;
  const why =
    'The job that prepared it did not tell how it ended. This sandbox may still run, or a later one with the same name and another number.';
  const { deployment, batchId } = batch.input;
  const own = { execution: executionOf(batch.batchKey), step: slot.step, generation: firstGenerationOf(batch) };
  const sandboxName = ownedSandboxName({ deployment, jobId: batchId, ...own });
  batch.leaveOwn([{ kind: 'sandbox', sandboxId: null, sandboxName, conversationId: null, why }]);
}

function firstGenerationOf({ input: { resume } }: BatchState): number {
  return 1 + (resume?.round ?? 0) * maxGenerations;
}

function jobInput(batch: BatchState, { step }: SourceSlot, source: Preparation): JobInput {
  const { deployment, batchId, policy, timing } = batch.input;
  return {
    deployment,
    jobId: `${batchId}-${step}`,
    source: { kind: 'create', body: source.body },
    ...jobSettingsWith({
      put: source.put,
      commands: source.commands,
      prompts: source.prompts,
      end: 'stop',
      deadlineMs: source.deadlineMs,
      ttlSeconds: policy.ttlSeconds,
      onUnknownOutcome: policy.onUnknownOutcome,
    }),
    // The name of the sandbox identifies the job, and the idempotency key prevents a second sandbox.
    origin: {
      key: batch.batchKey,
      execution: executionOf(batch.batchKey),
      batchId,
      step,
      firstGeneration: firstGenerationOf(batch),
      lookFirst: false,
    },
    timing,
  };
}
