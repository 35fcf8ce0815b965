/** Starts chunks, and grants each what it may have. */
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { getExternalWorkflowHandle, ParentClosePolicy, startChild, WorkflowIdReusePolicy } from '@temporalio/workflow';
import { executionOf } from '../../src/contract/addresses.js';
import type { fanoutChunk } from '../fanout-chunk.js';
import type { ChunkGrant, ChunkInput, ChunkRecord, ReadySource } from '../fanout-parts.js';
import { chunkGrantSignal, workflowTypes } from '../messages.js';
import { allotBudget } from './allot-budget.js';
import { allotWindows } from './allot-window.js';
import type { BatchRun } from './batch-run.js';
import { budgetHolderOf, holderOf, sends } from './chunk-record.js';

/** Gives every chunk its share of window and budget, the pause, and word of the end. Nothing that is as it was is sent. */
export function shareOut(run: BatchRun): void {
  const { source, ending, throttle, input } = run;
  const records = run.records.filter(({ state }) => state !== 'ended');
  const isEnding = ending !== null;
  const windows = allotWindows(source && !isEnding ? throttle.limit : 0, records.map(holderOf));
  const budgets = allotBudget(input.policy.budgetSeconds, run.records.map(budgetHolderOf));
  const budgetOf = new Map(run.records.map(({ chunk }, at) => [chunk, budgets[at] ?? null]));
  for (const [at, record] of records.entries()) {
    const grant = {
      seq: Math.max(Date.now(), record.sent.seq + 1),
      window: isEnding ? record.sent.window : (windows[at] ?? 0),
      budgetSeconds: budgetOf.get(record.chunk) ?? null,
      pausedUntilMs: throttle.pausedUntilMs,
      isEnding,
    };
    // In the end one that was started before starts once more, to see its items closed.
    const mayStart = source !== null && (isEnding ? record.attempt > 0 : grant.window > 0);
    if (record.state === 'waiting' && mayStart) start(run, record, { grant, source });
    else if (isReachable(run, record) && differs(record.sent, grant)) {
      sends(record, grant);
      send(run, record, grant);
    }
  }
}

function isReachable(run: BatchRun, { state, chunk, isGreeted }: ChunkRecord): boolean {
  return state === 'open' && !run.sending.has(chunk) && (!isGreeted || run.ending !== null);
}

function differs(a: Required<ChunkGrant>, b: Required<ChunkGrant>): boolean {
  const isSamePause = (a.pausedUntilMs ?? 0) === (b.pausedUntilMs ?? 0) || (b.pausedUntilMs ?? 0) <= Date.now();
  return a.window !== b.window || a.budgetSeconds !== b.budgetSeconds || a.isEnding !== b.isEnding || !isSamePause;
}

/** Asks a chunk that an earlier execution has started how far it is. It keeps what it has. */
export function greet(run: BatchRun, record: ChunkRecord): void {
  const { throttle, ending } = run;
  const grant = { seq: Date.now(), pausedUntilMs: throttle.pausedUntilMs, isEnding: ending !== null };
  const { concurrency, budgetSeconds } = run.input.policy;
  record.state = 'open';
  record.isAttached = true;
  record.isGreeted = true;
  record.sent = { ...record.sent, ...grant };
  // Until it says what it has it may have all there is.
  record.charged = { window: Math.min(concurrency, record.items), budgetSeconds: budgetSeconds ?? 0 };
  send(run, record, grant);
}

function send(run: BatchRun, record: ChunkRecord, grant: ChunkGrant): void {
  run.sending.add(record.chunk);
  run.beside(async () => {
    try {
      await getExternalWorkflowHandle(run.places.chunkWorkflow(record.chunk)).signal(chunkGrantSignal, grant);
    } catch {
      // It is closed: its last report is on its way, or somebody terminated it, which the next check finds out.
      record.heardAtMs = 0;
    } finally {
      run.sending.delete(record.chunk);
    }
  });
}

function start(
  run: BatchRun,
  record: ChunkRecord,
  { grant, source }: { readonly grant: Required<ChunkGrant>; readonly source: ReadySource },
): void {
  record.state = 'open';
  record.attempt += 1;
  record.heardAtMs = Date.now();
  sends(record, grant);
  const input = chunkInput(run, record, { grant, source });
  record.isFresh = false;
  record.retryFailed = false;
  run.beside(async () => {
    try {
      await startChild<typeof fanoutChunk>(workflowTypes.fanoutChunk, {
        workflowId: run.places.chunkWorkflow(record.chunk),
        args: [input],
        parentClosePolicy: ParentClosePolicy.ABANDON,
        workflowIdReusePolicy: WorkflowIdReusePolicy.ALLOW_DUPLICATE,
        memo: { execution: executionOf(run.batchKey) },
      });
    } catch (error) {
      if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
      greet(run, record);
    }
  });
}

function chunkInput(
  run: BatchRun,
  record: ChunkRecord,
  { grant, source }: { readonly grant: Required<ChunkGrant>; readonly source: ReadySource },
): ChunkInput {
  const { deployment, batchId, policy, timing } = run.input;
  return {
    deployment,
    batchId,
    batchKey: run.batchKey,
    chunk: record.chunk,
    firstIndex: record.firstIndex,
    items: record.items,
    attempt: record.attempt,
    isFresh: record.isFresh,
    retryFailed: record.retryFailed,
    source: source.item,
    sourceType: source.type,
    policy,
    deadlineAtMs: run.deadlineAtMs,
    timing,
    pace: run.pace,
    grant,
  };
}
