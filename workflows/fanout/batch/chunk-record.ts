/** The batch's record of a chunk, including the grant that the chunk may still use. Pure. */
import type {
  ChunkPlace,
  ChunkRecord,
  ChunkReport,
  FullGrant,
  KeptReport,
} from '../../../src/protocol/fanout/batch-parts.js';
import { knowsLosses } from '../markers.js';
import { sumCounts, sumOf, unfinished } from './counts.js';

export function newRecord({ chunk, firstIndex, items, digest }: ChunkPlace, nowMs: number): ChunkRecord {
  return {
    chunk,
    firstIndex,
    items,
    digest,
    state: 'waiting',
    attempt: 0,
    isFresh: true,
    retryFailed: false,
    isAttached: false,
    awaitsReport: false,
    sent: { seq: 0, window: 0, budgetSeconds: null, pausedUntilMs: null, isEnding: false },
    charged: { window: 0, budgetSeconds: 0 },
    report: null,
    reportedAtMs: nowMs,
    before: { apiCalls: 0, leftCount: 0 },
  };
}

/**
 * Prepares the record of a chunk for another start, because the chunk's workflow no longer exists. The new workflow
 * reads its items from the result store. The record keeps the sums that the store does not contain. The items keep
 * running, so the chunk keeps its grant.
 */
export function startAgain(record: ChunkRecord): void {
  const { report, before } = record;
  record.state = 'waiting';
  record.isAttached = false;
  if (!report) return;
  record.before = {
    apiCalls: before.apiCalls + report.apiCalls,
    leftCount: before.leftCount + report.leftCount,
  };
  const { permanent: _, ...kept } = report;
  record.report = { ...kept, apiCalls: 0, leftCount: 0 };
}

/** True if the chunk has run in this execution of the batch. */
export function wasStarted({ attempt }: Pick<ChunkRecord, 'attempt'>): boolean {
  return attempt > 0;
}

/** A chunk that cannot read its items reports nothing of them. What an earlier start of it reported still counts. */
export function withKnown(report: ChunkReport, known: KeptReport | null): ChunkReport {
  if (!report.unreadable || known === null) return report;
  const { byOutcome, byClass, retried, lost } = known;
  const budget = { ...known.budget, reservedSeconds: 0, nextSeconds: 0, wantedSeconds: 0 };
  return { ...report, byOutcome, byClass, retried, lost, budget };
}

type IncomingReport = Omit<KeptReport, 'leftCount'>;

/** The part of a report that the batch keeps. */
export function keptReport({
  left,
  leftMore,
  sourceError: _,
  unreadable: __,
  streak: ___,
  ...report
}: ChunkReport): KeptReport {
  return { ...report, leftCount: left.length + leftMore };
}

/**
 * Applies a report, and takes back the window and budget that the chunk returns. The chunk may not have received the
 * last grant yet. It may still use any grant since the one named in its report, so the largest of these grants counts.
 * @returns false if a newer report is already known
 */
export function applyReport(record: ChunkRecord, report: IncomingReport): boolean {
  const known = record.report;
  const isOlder =
    report.attempt < record.attempt || (known?.attempt === report.attempt && report.report <= known.report);
  if (isOlder || record.state !== 'open') return false;
  record.attempt = report.attempt;
  record.awaitsReport = false;
  const { grantedSeconds, spentSeconds, reservedSeconds } = report.budget;
  if (report.hasEnded) {
    record.state = 'ended';
    record.charged = { window: 0, budgetSeconds: spentSeconds };
  } else if (report.seq >= record.sent.seq) {
    record.sent = { ...record.sent, seq: report.seq, window: report.window, budgetSeconds: grantedSeconds };
    // Without a budget limit, the chunk is charged for the seconds that it has spent or reserved.
    const window = Math.max(report.window, report.running);
    record.charged = { window, budgetSeconds: grantedSeconds ?? spentSeconds + reservedSeconds };
  }
  return true;
}

/** What the chunk holds and needs, for the next allocation of concurrency and budget. */
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
  // If the chunk sent the report before it received the last grant, the report does not show what it needs beyond this
  // grant.
  const isHeard = record.state === 'open' && report !== null && report.seq >= record.sent.seq;
  return {
    charged: record.charged.budgetSeconds,
    next: isHeard ? report.budget.nextSeconds : 0,
    wanted: isHeard ? report.budget.wantedSeconds : 0,
    unspent: record.charged.budgetSeconds - (report?.budget.spentSeconds ?? 0),
  };
}

/** Records a grant that is about to be sent. */
export function recordGrant(record: ChunkRecord, grant: FullGrant): void {
  record.sent = grant;
  record.charged = {
    window: Math.max(record.charged.window, grant.window),
    budgetSeconds: Math.max(record.charged.budgetSeconds, grant.budgetSeconds ?? 0),
  };
}

/** A report that the batch itself creates from the result store or from other reports. */
export function builtReport(
  chunk: number,
  { spentSeconds, ...counts }: Pick<KeptReport, 'byOutcome' | 'byClass'> & { readonly spentSeconds: number },
): KeptReport {
  return {
    chunk,
    attempt: 0,
    report: 0,
    seq: 0,
    window: 0,
    running: 0,
    ...counts,
    retried: 0,
    budget: { grantedSeconds: spentSeconds, spentSeconds, reservedSeconds: 0, nextSeconds: 0, wantedSeconds: 0 },
    throttledUntilMs: null,
    blocked: null,
    leftCount: 0,
    apiCalls: 0,
    isEnding: false,
    hasEnded: false,
    wasCut: false,
  };
}

/**
 * Ends a chunk whose items nobody can run: those that have not ended will never start, or are left if they ran. It gives
 * back its grant.
 */
export function endUnstarted(record: ChunkRecord): void {
  const never = unfinished(record);
  const isWaiting = record.state === 'waiting';
  record.state = 'ended';
  const report = record.report ?? builtReport(record.chunk, { byOutcome: {}, spentSeconds: 0 });
  const { byOutcome, budget } = report;
  if (isWaiting && knowsLosses()) record.charged = { window: 0, budgetSeconds: budget.spentSeconds };
  if (never === 0) return;
  record.report = {
    ...report,
    running: 0,
    leftCount: report.leftCount + report.running,
    byOutcome: { ...byOutcome, not_started: (byOutcome.not_started ?? 0) + never },
    budget: { ...budget, reservedSeconds: 0 },
  };
}

/** Number of the record that sums up all ended chunks. No chunk has this number. */
const summedChunk = -1;

/**
 * Sums ended chunks into one record, which is all that a batch needs when it continues as new.
 * @param ended may include one record that is already a sum
 */
export function sumEndedChunks(ended: readonly ChunkRecord[]): ChunkRecord | null {
  if (ended.length === 0) return null;
  const reports = ended.flatMap(({ report }) => report ?? []);
  const spentSeconds = sumOf(reports, ({ budget }) => budget.spentSeconds);
  const items = sumOf(ended, (record) => record.items);
  return {
    ...newRecord({ chunk: summedChunk, firstIndex: 0, items, digest: '' }, 0),
    state: 'ended',
    attempt: 1,
    isFresh: false,
    charged: { window: 0, budgetSeconds: sumOf(ended, ({ charged }) => charged.budgetSeconds) },
    report: {
      ...builtReport(summedChunk, { ...sumCounts(reports), spentSeconds }),
      attempt: 1,
      report: 1,
      retried: sumOf(reports, ({ retried }) => retried),
      lost: sumOf(reports, ({ lost = 0 }) => lost),
      apiCalls: sumOf(reports, ({ apiCalls }) => apiCalls),
      leftCount: sumOf(reports, ({ leftCount }) => leftCount),
      hasEnded: true,
    },
    before: {
      apiCalls: sumOf(ended, ({ before }) => before.apiCalls),
      leftCount: sumOf(ended, ({ before }) => before.leftCount),
    },
  };
}
