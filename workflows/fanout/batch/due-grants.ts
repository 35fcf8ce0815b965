/** Computes which chunks need a new grant, and the content of that grant. Pure. */
import type { ChunkRecord, FullGrant } from '../../../src/protocol/fanout/batch-parts.js';
import { allocateBudget, allocateConcurrency } from './allocate.js';
import { budgetHolderOf, holderOf, wasStarted } from './chunk-record.js';

export interface SourceTerms {
  /** True once the source is ready. */
  readonly hasSource: boolean;
  /** True once the source has changed, and while the batch is held: no further item starts, and those that run go on. */
  readonly isDraining: boolean;
  /** True once the source has failed, or the batch ends. */
  readonly isEnding: boolean;
}

export interface GrantTerms {
  /** Number of items that may run concurrently, over all chunks. */
  readonly limit: number;
  /** Machine-seconds of the whole batch; null: no limit. */
  readonly budgetSeconds: number | null;
  readonly pausedUntilMs: number | null;
  /** Of the source of this chunk. */
  readonly sourceOf: (record: ChunkRecord) => SourceTerms;
  /** Number of items, from the first, that run before the others. */
  readonly canaries: number;
  /** True once the others may start. */
  readonly isProven: boolean;
  readonly nowMs: number;
  /** True for chunks to which a grant is being sent. */
  readonly isBusy: (chunk: number) => boolean;
}

/**
 * @param all every chunk of the batch, by number, even if it has ended: the budget that it has spent still counts
 * @returns the grants with their chunks. A waiting chunk starts with the grant; an open one receives it as a signal
 */
export function dueGrants(all: readonly ChunkRecord[], terms: GrantTerms) {
  const { limit, pausedUntilMs, sourceOf, canaries, isProven, nowMs } = terms;
  const holder = (record: ChunkRecord) => {
    const { hasSource, isDraining, isEnding } = sourceOf(record);
    const known = holderOf(record);
    const whole = hasSource && !isDraining && !isEnding ? known : { ...known, demand: 0 };
    const own = isProven ? whole.demand : Math.max(0, canaries - record.firstIndex);
    return canaries > 0 ? { ...whole, demand: Math.min(whole.demand, own) } : whole;
  };
  const budgets = allocateBudget(terms.budgetSeconds, all.map(budgetHolderOf));
  const windows = allocateConcurrency(limit, all.map(holder));
  return all
    .map((record, at) => {
      const source = sourceOf(record);
      const { isEnding } = source;
      const grant = {
        seq: Math.max(nowMs, record.sent.seq + 1),
        window: isEnding ? record.sent.window : (windows[at] ?? 0),
        budgetSeconds: budgets[at] ?? null,
        pausedUntilMs,
        isEnding,
        ...answerOf(record, { isProven, ...source }),
      };
      return { record, grant, source };
    })
    .filter(({ record, grant, source }) => {
      const { hasSource, isEnding } = source;
      if (record.state === 'waiting') return hasSource && mustStart(record, grant.window, source);
      const isReachable = record.state === 'open' && !terms.isBusy(record.chunk) && (!record.awaitsReport || isEnding);
      return isReachable && differs(record.sent, grant, nowMs);
    });
}

/** A held batch gives no answer, so that no item takes the place of one that failed. A chunk that starts has asked nothing. */
function answerOf(
  { state, sent, report }: ChunkRecord,
  { isDraining, isProven }: Pick<SourceTerms & GrantTerms, 'isDraining' | 'isProven'>,
) {
  const known = isDraining ? sent.answered : report?.permanent;
  const answered = state === 'waiting' ? 0 : (known ?? 0);
  return {
    ...(answered > 0 && { answered }),
    // A chunk of an earlier execution may have other canaries.
    ...(isProven && ({ isProven } as const)),
  };
}

/**
 * A chunk that waits for a restart must start once more to end its items when the batch ends, or to wait for them once
 * the source has changed.
 */
function mustStart(record: ChunkRecord, window: number, { isDraining, isEnding }: SourceTerms): boolean {
  if (isEnding) return mayHaveItems(record);
  return isDraining ? wasStarted(record) : window > 0;
}

/** True if the chunk has started items, in this execution of the batch or, as far as is known, in an earlier one. */
export function mayHaveItems({ attempt, isFresh }: ChunkRecord): boolean {
  return attempt > 0 || !isFresh;
}

function differs(a: FullGrant, b: FullGrant, nowMs: number): boolean {
  const isSamePause = (a.pausedUntilMs ?? 0) === (b.pausedUntilMs ?? 0) || (b.pausedUntilMs ?? 0) <= nowMs;
  const isSame = isSamePause && (a.answered ?? 0) === (b.answered ?? 0) && a.isProven === b.isProven;
  return a.window !== b.window || a.budgetSeconds !== b.budgetSeconds || a.isEnding !== b.isEnding || !isSame;
}
