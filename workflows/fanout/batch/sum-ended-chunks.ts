/** Sums ended chunks into one record: a batch that continues as new needs nothing else of them. Pure. */

import type { ChunkRecord, HeardReport } from '../protocol.js';
import type { ItemOutcome } from '../types.js';
import { newRecord } from './chunk-record.js';

/** Number of the summed record; no chunk has it. */
const foldedChunk = -1;

/** @param ended may include one record that is already a sum */
export function sumEndedChunks(ended: readonly ChunkRecord[]): ChunkRecord | null {
  if (ended.length === 0) return null;
  const reports = ended.flatMap(({ report }) => report ?? []);
  const sum = <T>(of: readonly T[], value: (one: T) => number) => of.reduce((total, one) => total + value(one), 0);
  const byOutcome: Partial<Record<ItemOutcome, number>> = {};
  for (const report of reports) {
    for (const [outcome, count] of Object.entries(report.byOutcome) as [ItemOutcome, number][]) {
      byOutcome[outcome] = (byOutcome[outcome] ?? 0) + count;
    }
  }
  const spentSeconds = sum(reports, ({ budget }) => budget.spentSeconds);
  const report: HeardReport = {
    chunk: foldedChunk,
    attempt: 1,
    report: 1,
    seq: 0,
    window: 0,
    running: 0,
    byOutcome,
    retried: sum(reports, ({ retried }) => retried),
    budget: { grantedSeconds: spentSeconds, spentSeconds, reservedSeconds: 0, nextSeconds: 0, wantedSeconds: 0 },
    throttledUntilMs: null,
    blocked: null,
    apiCalls: sum(reports, ({ apiCalls }) => apiCalls),
    leftCount: sum(reports, ({ leftCount }) => leftCount),
    isEnding: false,
    hasEnded: true,
    wasCut: false,
  };
  const items = sum(ended, (record) => record.items);
  return {
    ...newRecord({ chunk: foldedChunk, firstIndex: 0, items, digest: '' }, 0),
    state: 'ended',
    attempt: 1,
    isFresh: false,
    charged: { window: 0, budgetSeconds: sum(ended, ({ charged }) => charged.budgetSeconds) },
    report,
    before: {
      apiCalls: sum(ended, ({ before }) => before.apiCalls),
      leftCount: sum(ended, ({ before }) => before.leftCount),
    },
  };
}
