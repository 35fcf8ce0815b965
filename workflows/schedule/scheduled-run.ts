/**
 * One run of a schedule: starts its job, batch or cleanup under an id that names the time for which it was due, and lasts
 * as long, so that the schedule knows whether its last run has ended.
 */
import {
  defineSearchAttributeKey,
  SearchAttributeType,
  WorkflowExecutionAlreadyStartedError,
} from '@temporalio/common';
import {
  ApplicationFailure,
  type ChildWorkflowHandle,
  type ChildWorkflowOptions,
  getExternalWorkflowHandle,
  isCancellation,
  ParentClosePolicy,
  startChild,
  upsertMemo,
  type Workflow,
  WorkflowIdReusePolicy,
  workflowInfo,
} from '@temporalio/workflow';
import { cleanupPrefix, jobWorkflowId } from '../../src/addresses/addresses.js';
import { scheduledRunId } from '../../src/addresses/schedule-addresses.js';
import { taskPriority } from '../../src/protocol/job/task-priority.js';
import { workflowTypes } from '../../src/protocol/messages.js';
import type {
  ScheduledBatch,
  ScheduledRunInput,
  ScheduledRunMemo,
  ScheduledRunResult,
} from '../../src/protocol/schedule.js';
import { openAttributes } from '../../src/protocol/search-attributes.js';
import { bulk } from '../shared/activity-options.js';

const dueTime = defineSearchAttributeKey('TemporalScheduledStartTime', SearchAttributeType.DATETIME);

/**
 * @throws ApplicationFailure `not_scheduled` if no schedule started it; ActivityFailure if the items of a batch are lost
 */
export async function scheduledRun(input: ScheduledRunInput): Promise<ScheduledRunResult> {
  const dueAt = workflowInfo().typedSearchAttributes.get(dueTime);
  if (dueAt === undefined) {
    throw ApplicationFailure.nonRetryable('Only a schedule of Temporal can start this workflow.', 'not_scheduled');
  }
  const id = scheduledRunId(input.schedule, dueAt);
  const child = await startOnce(input, id);
  if (child === undefined) return { id, started: false, outcome: null };
  remember(input, { id, outcome: null });
  const failure = input.work.kind === 'batch' ? await sendItems(child, { ...input, batchId: id }, input.work) : null;
  const outcome = await outcomeOf(child);
  remember(input, { id, outcome });
  if (failure) throw failure;
  return { id, started: true, outcome };
}

function remember({ schedule }: ScheduledRunInput, now: Omit<ScheduledRunMemo, 'schedule'>): void {
  const memo: ScheduledRunMemo = { schedule, ...now };
  upsertMemo({ ...memo });
}

type Child = ChildWorkflowHandle<Workflow>;

/** Undefined if something with this id was started before: a time that is run twice does its work once. */
async function startOnce({ deployment, work }: ScheduledRunInput, id: string): Promise<Child | undefined> {
  const options: ChildWorkflowOptions = {
    workflowIdReusePolicy: WorkflowIdReusePolicy.REJECT_DUPLICATE,
    // What has begun must end by itself, or its machines go on costing.
    parentClosePolicy: ParentClosePolicy.ABANDON,
    memo: { ...work.memo },
    staticSummary: work.summary,
  };
  try {
    switch (work.kind) {
      case 'job':
        return await startChild(workflowTypes.createThenPrompt, {
          ...options,
          workflowId: jobWorkflowId(deployment, id),
          priority: taskPriority(work.input),
          args: [{ ...work.input, jobId: id }],
          ...(work.searchAttributes && { typedSearchAttributes: openAttributes() }),
        });
      case 'batch':
        return await startChild(workflowTypes.forkFanout, {
          ...options,
          workflowId: jobWorkflowId(deployment, id),
          priority: taskPriority(work.input.policy, id),
          args: [{ ...work.input, batchId: id }],
          ...(work.searchAttributes && { typedSearchAttributes: openAttributes(id) }),
        });
      case 'cleanup':
        return await startChild(workflowTypes.retentionCleanup, {
          ...options,
          workflowId: `${cleanupPrefix(deployment)}${id}`,
          args: [work.input],
        });
    }
  } catch (error) {
    if (error instanceof WorkflowExecutionAlreadyStartedError) return undefined;
    throw error;
  }
}

/** Returns why the items could not be sent: the batch then ends without them. A cancel has reached the batch already. */
async function sendItems(
  child: Child,
  { deployment, batchId }: { readonly deployment: string; readonly batchId: string },
  { itemsRef }: ScheduledBatch,
): Promise<Error | null> {
  try {
    await bulk.sendScheduledItems({ deployment, batchId, itemsRef });
    return null;
  } catch (error) {
    if (isCancellation(error)) return null;
    await getExternalWorkflowHandle(child.workflowId).cancel();
    return error as Error;
  }
}

/** Every job, batch and cleanup ends with a named outcome, also after a cancel. Null if somebody terminated it. */
async function outcomeOf(child: Child): Promise<string | null> {
  try {
    const { outcome } = (await child.result()) as { readonly outcome: string };
    return outcome;
  } catch (error) {
    if (isCancellation(error)) throw error;
    return null;
  }
}
