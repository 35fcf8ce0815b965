/** What an item of a batch reports: the whole of it for the result store, and the little that its chunk needs. Pure. */
import { machineSeconds } from '../../src/contract/machine-types.js';
import type { FanoutItemInput, ItemResult, ItemSummary } from '../fanout.js';
import type { JobEnd, JobResult } from '../job.js';
import type { JobRun, Milestone } from './job-run.js';

const errorLength = 500;

/** The result of an item that was started. */
export type StartedItemResult = ItemResult & { readonly job: JobResult };

/** @param nowMs the end of an item whose fork is kept, or did not end */
export function itemResult(input: FanoutItemInput, run: JobRun, job: JobResult, nowMs: number): StartedItemResult {
  const { batchId, itemId, index, labels, type, queuedAt } = input;
  const at = (milestone: Milestone) => {
    const reachedAtMs = run.reachedAtMs.get(milestone);
    return reachedAtMs === undefined ? null : new Date(reachedAtMs).toISOString();
  };
  return {
    batchId,
    itemId,
    index,
    generation: run.generation,
    outcome: job.outcome,
    labels,
    type,
    times: {
      queuedAt,
      forkedAt: at('made'),
      usableAt: at('usable'),
      promptedAt: at('prompted'),
      answeredAt: at('answered'),
      endingAt: at('ending'),
      endedAt: at('ended') ?? new Date(nowMs).toISOString(),
    },
    machineSeconds:
      run.sandbox === null ? 0 : machineSeconds(type, (run.reachedAtMs.get('ended') ?? nowMs) - madeMs(run)),
    job,
  };
}

/** A fork that was found has run since an earlier run made it. */
function madeMs(run: JobRun): number {
  const madeAtMs = run.reachedAtMs.get('made') ?? run.startedAtMs;
  const createdAtMs = Date.parse(run.sandbox?.createdAt ?? '') || madeAtMs;
  return run.isFound ? Math.min(madeAtMs, createdAtMs) : madeAtMs;
}

export function itemSummary(
  item: StartedItemResult,
  options: { readonly end: JobEnd; readonly unconfirmedName: string | null; readonly resultRef: string | null },
): ItemSummary {
  const { index, generation, outcome, job } = item;
  const { error, sandboxId, apiCalls } = job;
  return {
    index,
    generation,
    outcome,
    sandboxId,
    endedAsAsked: options.unconfirmedName === null && endedAsAsked(job, options.end),
    machineSeconds: item.machineSeconds,
    resultRef: options.resultRef,
    apiCalls,
    // A hundred of these are in the history of one chunk.
    error: error && { ...error, message: error.message.slice(0, errorLength), details: null },
  };
}

/** Whether nothing of the job's sandbox is left that was to end: one that is gone needs no end. */
export function endedAsAsked(job: Pick<JobResult, 'sandboxId' | 'stop' | 'deletion'>, end: JobEnd): boolean {
  if (job.sandboxId === null || end === 'keep') return true;
  const { status } = (end === 'stop' ? job.stop : job.deletion) ?? { status: 'not_asked' };
  return status === 'completed' || status === 'gone';
}
