/** What the batch records of a chunk, and what the chunk may still use. Pure. */
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
 * Prepares the record of a chunk whose workflow is gone for its next start. That start continues from the result store,
 * which does not hold everything. The items keep running, so the chunk keeps its grant.
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

/** The part of a report that the batch keeps. */
export function heard({ left, leftMore, sourceError: _, ...report }: ChunkReport): HeardReport {
  return { ...report, leftCount: left.length + leftMore };
}

/**
 * Applies a report, and takes back what the chunk returns. Until a chunk has received the last grant it may use any grant
 * since the one it reports, so the largest of them counts.
 * @returns false if a newer report is already known
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
    // A chunk without a limit holds what it has used.
    const window = Math.max(report.window, report.running);
    record.charged = { window, budgetSeconds: grantedSeconds ?? spentSeconds + reservedSeconds };
  }
  return true;
}

/** The chunk as a holder of concurrency and budget, for the next allocation. */
export function holderOf(record: ChunkRecord) {
  const { state, report } = record;
  // A chunk that is ending requests nothing more.
  const isEnding = state === 'open' && report?.isEnding === true;
  return {
    demand: state === 'ended' ? 0 : isEnding ? report.running : unfinished(record),
    sent: record.sent.window,
    charged: record.charged.window,
  };
}

export function budgetHolderOf(record: ChunkRecord) {
  const { report } = record;
  // The chunk cannot have spent a grant that it has not received.
  const isHeard = record.state === 'open' && report !== null && report.seq >= record.sent.seq;
  return {
    charged: record.charged.budgetSeconds,
    next: isHeard ? report.budget.nextSeconds : 0,
    wanted: isHeard ? report.budget.wantedSeconds : 0,
    unspent: record.charged.budgetSeconds - (report?.budget.spentSeconds ?? 0),
  };
}

/** Records a grant that is about to be sent. */
export function recordGrant(record: ChunkRecord, grant: Required<ChunkGrant>): void {
  record.sent = grant;
  record.charged = {
    window: Math.max(record.charged.window, grant.window),
    budgetSeconds: Math.max(record.charged.budgetSeconds, grant.budgetSeconds ?? 0),
  };
}
