/** What the batch keeps of a chunk, and what the chunk may still act upon. Pure. */
import type { ChunkGrant, ChunkRecord, ChunkReport, HeardReport } from '../protocol.js';
import { unfinished } from './counts.js';

export function newRecord(
  chunk: Pick<ChunkRecord, 'chunk' | 'firstIndex' | 'items' | 'digest'>,
  nowMs: number,
): ChunkRecord {
  const { firstIndex, items, digest } = chunk;
  return {
    chunk: chunk.chunk,
    firstIndex,
    items,
    digest,
    state: 'waiting',
    attempt: 0,
    isFresh: true,
    retryFailed: false,
    isAttached: false,
    isGreeted: false,
    sent: { seq: 0, window: 0, budgetSeconds: null, pausedUntilMs: null, isEnding: false },
    charged: { window: 0, budgetSeconds: 0 },
    report: null,
    heardAtMs: nowMs,
    before: { apiCalls: 0, leftCount: 0 },
  };
}

/**
 * Its workflow is gone; the next start goes on from what is stored, which does not tell everything. Its items run on, so
 * it holds what it was granted.
 */
export function startAgain(record: ChunkRecord): void {
  const { report, before } = record;
  Object.assign(record, { state: 'waiting', isAttached: false, isGreeted: false });
  if (!report) return;
  record.before = {
    apiCalls: before.apiCalls + report.apiCalls,
    leftCount: before.leftCount + report.leftCount,
  };
  record.report = { ...report, apiCalls: 0, leftCount: 0 };
}

type HearableReport = Omit<HeardReport, 'leftCount'>;

/** What the batch keeps of a report. */
export function heard({ left, leftMore, sourceError: _, ...report }: ChunkReport): HeardReport {
  return { ...report, leftCount: left.length + leftMore };
}

/**
 * Takes what a report gives back. Until a chunk has seen the last grant it may act upon any since the one before, so the
 * largest of them counts.
 * @returns false for a report that is older than the one that is known
 */
export function applyReport(record: ChunkRecord, report: HearableReport): boolean {
  const known = record.report;
  const isOlder =
    report.attempt < record.attempt || (known?.attempt === report.attempt && report.report <= known.report);
  if (isOlder || record.state !== 'open') return false;
  record.attempt = report.attempt;
  record.isGreeted = false;
  const { grantedSeconds, spentSeconds, reservedSeconds } = report.budget;
  if (report.hasEnded) {
    record.state = 'ended';
    record.charged = { window: 0, budgetSeconds: spentSeconds };
  } else if (report.seq >= record.sent.seq) {
    record.sent = {
      ...record.sent,
      seq: report.seq,
      window: report.window,
      budgetSeconds: report.budget.grantedSeconds,
    };
    // One that had no limit holds what it has taken.
    const window = Math.max(report.window, report.running);
    record.charged = { window, budgetSeconds: grantedSeconds ?? spentSeconds + reservedSeconds };
  }
  return true;
}

/** What the chunk has in hand when it is next granted something. */
export function holderOf(record: ChunkRecord) {
  const { state, report } = record;
  // One that ends by itself asks for nothing more.
  const isEnding = state === 'open' && report?.isEnding === true;
  return {
    demand: state === 'ended' ? 0 : isEnding ? report.running : unfinished(record),
    sent: record.sent.window,
    charged: record.charged.window,
  };
}

export function budgetHolderOf(record: ChunkRecord) {
  const { report } = record;
  // Of a grant that it has not seen yet it cannot have spent anything.
  const isHeard = record.state === 'open' && report !== null && report.seq >= record.sent.seq;
  return {
    charged: record.charged.budgetSeconds,
    next: isHeard ? report.budget.nextSeconds : 0,
    wanted: isHeard ? report.budget.wantedSeconds : 0,
    unspent: record.charged.budgetSeconds - (report?.budget.spentSeconds ?? 0),
  };
}

/** Remembers a grant that is about to be sent. */
export function recordGrant(record: ChunkRecord, grant: Required<ChunkGrant>): void {
  record.sent = grant;
  record.charged = {
    window: Math.max(record.charged.window, grant.window),
    budgetSeconds: Math.max(record.charged.budgetSeconds, grant.budgetSeconds ?? 0),
  };
}
