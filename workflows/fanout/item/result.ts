/** The result of an item: in full for the result store, and as a summary for its chunk. Pure. */
import { machineSeconds } from '../../../src/contract/workflow-safe/machine-types.js';
import type { FanoutItemInput } from '../../../src/protocol/fanout/fanout-input.js';
import type { ItemEnding, ItemResult, ItemSummary } from '../../../src/protocol/fanout/fanout-result.js';
import type { JobEnd } from '../../../src/protocol/job/job-input.js';
import type { JobResult, LeftBehind } from '../../../src/protocol/job/job-result.js';
import { payloadBytes } from '../../../src/texts/length.js';
import type { Milestone } from '../../job/carried-job.js';
import { hasEndedAsRequested } from '../../job/end/has-ended.js';
import type { JobState } from '../../job/job-state.js';
import { sourceChangedCode } from '../../shared/job-termination.js';

const errorLength = 500;
const whyLength = 200;
/** Limit of a summary: the history of one chunk holds a hundred summaries. */
const leftAtMost = 3;
/** Longest ending that an item leaves to its chunk, in bytes of a payload. */
const endingBytes = 4_000;

/** The result of an item that was started. */
export type StartedItemResult = ItemResult & { readonly job: JobResult };

/**
 * @param options.hasEnded false before the fork has ended; the rest of the result is already final
 * @param options.isOfEarlierRun true if an earlier run may have sent prompts that this one does not know
 * @param options.nowMs end of an item whose fork is kept or did not end, in ms since the epoch
 */
export function itemResult(
  input: FanoutItemInput,
  job: JobState,
  result: JobResult,
  { nowMs, hasEnded, isOfEarlierRun }: Readonly<{ nowMs: number; hasEnded: boolean; isOfEarlierRun: boolean }>,
): StartedItemResult {
  const { batchId, itemId, index, labels, type, queuedAt } = input;
  const startsFrom = input.job.origin?.startsFrom;
  const at = (milestone: Milestone) => {
    const reachedAtMs = job.carried.reachedAtMs[milestone];
    return reachedAtMs === undefined ? null : new Date(reachedAtMs).toISOString();
  };
  return {
    batchId,
    itemId,
    index,
    generation: job.carried.generation,
    outcome: result.outcome,
    failureClass: result.failureClass ?? null,
    wasPrompted: isOfEarlierRun || result.prompts.some(({ status }) => status !== 'not_sent'),
    labels,
    type,
    ...(startsFrom && result.error?.code !== sourceChangedCode && { startsFrom }),
    times: {
      queuedAt,
      forkedAt: at('made'),
      usableAt: at('usable'),
      promptedAt: at('prompted'),
      answeredAt: at('answered'),
      endingAt: at('ending'),
      endedAt: hasEnded ? (at('ended') ?? new Date(nowMs).toISOString()) : null,
    },
    machineSeconds:
      job.sandbox === null ? 0 : machineSeconds(type, (job.carried.reachedAtMs.ended ?? nowMs) - madeMs(job)),
    job: result,
  };
}

/**
 * The time from which a fork is charged. If this run found an existing fork, the fork has run since an earlier run
 * created it. It may have been stopped for some of this time, so at most the time limit of an item is charged.
 */
function madeMs({ sandbox, input, timing, carried: { reachedAtMs, startedAtMs, isFound } }: JobState): number {
  const madeAtMs = reachedAtMs.made ?? startedAtMs;
  const createdAtMs = Date.parse(sandbox?.createdAt ?? '') || madeAtMs;
  const longestMs = input.deadlineMs + timing.cleanUpMs;
  return isFound ? Math.min(madeAtMs, Math.max(createdAtMs, madeAtMs - longestMs)) : madeAtMs;
}

/** @returns what `after` adds to the stored result `before`; null if that is too long for the chunk */
export function endingOf(key: string, before: StartedItemResult, after: StartedItemResult): ItemEnding | null {
  const { job: _, ...item } = changed(before, after);
  const ending = { key, item, job: changed(before.job, after.job) };
  return payloadBytes(ending) <= endingBytes ? ending : null;
}

/** The fields of `after` that differ. */
function changed<T extends object>(before: T, after: T): Partial<T> {
  const differs = (name: string) => JSON.stringify(before[name as keyof T]) !== JSON.stringify(after[name as keyof T]);
  return Object.fromEntries(Object.entries(after).filter(([name]) => differs(name))) as Partial<T>;
}

export function itemSummary(
  item: StartedItemResult,
  options: {
    readonly end: JobEnd;
    readonly unconfirmedName: string | null;
    readonly resultRef: string | null;
    readonly ending: ItemEnding | null;
  },
): ItemSummary {
  const { index, generation, outcome, failureClass, wasPrompted, job } = item;
  const { error, sandboxId, apiCalls } = job;
  const left = leftOf(job, options);
  const endedAsAsked = !left.some(({ kind }) => kind === 'sandbox');
  return {
    index,
    generation,
    outcome,
    ...(failureClass && { failureClass }),
    wasPrompted,
    sandboxId,
    endedAsAsked,
    machineSeconds: item.machineSeconds,
    resultRef: options.resultRef,
    ending: options.ending,
    apiCalls,
    error: error && { ...error, message: error.message.slice(0, errorLength), details: null },
    left,
  };
}

/** The entries of `left` in the summary of an item: machines first. */
export function leftOf(
  job: Pick<JobResult, 'sandboxId' | 'sandboxName' | 'stop' | 'deletion' | 'left'>,
  { end, unconfirmedName }: { readonly end: JobEnd; readonly unconfirmedName: string | null },
): LeftBehind[] {
  const { sandboxId, sandboxName } = job;
  const left = job.left.map((one) => ({ ...one, why: one.why.slice(0, whyLength) }));
  const unnamed = { kind: 'sandbox', conversationId: null } as const;
  const isNamed = left.some((one) => one.kind === 'sandbox' && one.sandboxId === sandboxId);
  if (!hasEndedAsRequested(job, end) && !isNamed) {
    left.unshift({ ...unnamed, sandboxId, sandboxName, why: 'The fork was not stopped or deleted as requested.' });
  }
  if (unconfirmedName !== null && !left.some((one) => one.sandboxName === unconfirmedName)) {
    const why = 'It is unknown whether the fork was created.';
    left.unshift({ ...unnamed, sandboxId: null, sandboxName: unconfirmedName, why });
  }
  // A running machine costs more than a running prompt, so the limit must not cut it off.
  const rank = ({ kind }: LeftBehind) => (kind === 'sandbox' ? 0 : 1);
  return left.sort((a, b) => rank(a) - rank(b)).slice(0, leftAtMost);
}
