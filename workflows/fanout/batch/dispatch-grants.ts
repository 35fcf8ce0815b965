/** Starts chunks, and sends each its grants. */
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { getExternalWorkflowHandle, ParentClosePolicy, startChild, WorkflowIdReusePolicy } from '@temporalio/workflow';
import { executionOf } from '../../../src/addresses/addresses.js';
import type {
  ChunkGrant,
  ChunkInput,
  ChunkRecord,
  FullGrant,
  ReadySource,
} from '../../../src/protocol/fanout/batch-parts.js';
import { chunkGrantSignal, workflowTypes } from '../../../src/protocol/messages.js';
import { partAttributes } from '../../shared/search-attributes.js';
import { textInSummariesMemo } from '../../shared/text-in-summaries.js';
import type { fanoutChunk } from '../chunk/fanout-chunk.js';
import type { BatchState } from './batch-state.js';
import { recordGrant } from './chunk-record.js';
import { dueGrants } from './due-grants.js';

/** Sends a grant to every chunk whose window, budget, pause or end has changed. */
export function dispatchGrants(batch: BatchState): void {
  const { input } = batch;
  const { throttle, isProven } = batch.carried;
  const due = dueGrants(batch.records, {
    limit: throttle.limit,
    budgetSeconds: input.policy.budgetSeconds,
    pausedUntilMs: throttle.pausedUntilMs,
    sourceOf: (record) => batch.termsOf(record),
    canaries: input.policy.canary ?? 0,
    isProven: isProven === true,
    nowMs: Date.now(),
    isBusy: (chunk) => batch.sending.has(chunk),
  });
  for (const { record, grant } of due) {
    const isStart = record.state === 'waiting';
    const { source } = batch.slotOf(record).carried;
    recordGrant(record, grant);
    if (!isStart) send(batch, record, grant);
    else if (source) start(batch, record, { grant, source });
  }
}

/** Requests the progress of a chunk that an earlier execution started. The chunk keeps its grant. */
export function requestReport(batch: BatchState, record: ChunkRecord): void {
  const { throttle, ending } = batch.carried;
  const grant = { seq: Date.now(), pausedUntilMs: throttle.pausedUntilMs, isEnding: ending !== null };
  const { concurrency, budgetSeconds } = batch.input.policy;
  record.state = 'open';
  record.isAttached = true;
  record.awaitsReport = true;
  // If it was to be started, it has not received these.
  const { answered: _, isProven: __, ...sent } = record.sent;
  record.sent = { ...sent, ...grant };
  // Until the chunk reports its grant, assume that it holds the whole window and budget.
  record.charged = { window: Math.min(concurrency, record.items), budgetSeconds: budgetSeconds ?? 0 };
  send(batch, record, grant);
}

function send(batch: BatchState, record: ChunkRecord, grant: ChunkGrant): void {
  batch.sending.add(record.chunk);
  batch.inBackground(async () => {
    try {
      await getExternalWorkflowHandle(batch.places.chunkWorkflow(record.chunk)).signal(chunkGrantSignal, grant);
    } catch {
      // The workflow of the chunk is closed. Either its last report will still arrive, or the next check will detect
      // that it was terminated.
      record.reportedAtMs = 0;
    } finally {
      batch.sending.delete(record.chunk);
    }
  });
}

function start(
  batch: BatchState,
  record: ChunkRecord,
  { grant, source }: { readonly grant: FullGrant; readonly source: ReadySource },
): void {
  record.state = 'open';
  record.attempt += 1;
  record.reportedAtMs = Date.now();
  const input = chunkInput(batch, record, { grant, source });
  record.isFresh = false;
  record.retryFailed = false;
  batch.sending.add(record.chunk);
  batch.inBackground(async () => {
    try {
      await batch.starts.within(input, () => startChunk(batch, input));
      batch.sending.delete(record.chunk);
    } catch (error) {
      batch.sending.delete(record.chunk);
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      requestReport(batch, record);
    }
  });
}

function startChunk(batch: BatchState, input: ChunkInput) {
  return startChild<typeof fanoutChunk>(workflowTypes.fanoutChunk, {
    workflowId: batch.places.chunkWorkflow(input.chunk),
    args: [input],
    parentClosePolicy: ParentClosePolicy.ABANDON,
    workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
    memo: { execution: executionOf(batch.batchKey), ...textInSummariesMemo() },
    ...partAttributes('chunk'),
  });
}

function chunkInput(
  batch: BatchState,
  record: ChunkRecord,
  { grant, source }: { readonly grant: FullGrant; readonly source: ReadySource },
): ChunkInput {
  const { deployment, batchId, policy, notify, timing, resume } = batch.input;
  return {
    deployment,
    batchId,
    batchKey: batch.batchKey,
    chunk: record.chunk,
    firstIndex: record.firstIndex,
    items: record.items,
    attempt: record.attempt,
    isFresh: record.isFresh,
    retryFailed: record.retryFailed,
    ...(resume?.changed && { changed: resume.changed }),
    source: source.item,
    ...(source.state && { startsFrom: source.state }),
    sourceType: source.type,
    policy: policy.escalate ? { ...policy, escalate: { notify, ...policy.escalate } } : policy,
    deadlineAtMs: batch.deadlineAtMs,
    timing,
    pace: batch.pace,
    grant,
  };
}
