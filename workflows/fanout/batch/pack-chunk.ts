/**
 * Packs a chunk's record for the next run of the batch: without field names, with times relative to the start of the
 * batch. A thousand records share one payload with the rest of the batch's state. Pure.
 */

import type {
  ChunkPlace,
  ChunkRecord,
  KeptReport,
  PackedChunk,
  PackedPlace,
} from '../../../src/protocol/fanout/batch-parts.js';
import type { ItemOutcome } from '../../../src/protocol/fanout/fanout-input.js';
import { newRecord } from './chunk-record.js';

/** Outcomes are packed by their place in this list: add new ones at the end. */
const outcomes: readonly ItemOutcome[] = [
  'completed',
  'prompt_failed',
  'sandbox_failed',
  'sandbox_cancelled',
  'rejected',
  'deadline_exceeded',
  'cancelled',
  'outcome_unknown',
  'not_started',
];
const flagsOf = ['isFresh', 'retryFailed', 'isAttached', 'awaitsReport'] as const;

type Ms = number | null;
type Flag = 0 | 1;
type PackedReport = readonly [
  numbers: readonly [attempt: number, report: number, seq: number, window: number, running: number, retried: number],
  byOutcome: readonly number[],
  budget: readonly [granted: number | null, spent: number, reserved: number, next: number, wanted: number],
  rest: readonly [throttled: Ms, blockedSince: Ms, apiCalls: number, leftCount: number, ending: Flag, cut: Flag],
];
type PackedRest = readonly [
  state: Flag,
  flags: number,
  attempt: number,
  heardAt: number,
  sent: readonly [seq: number, window: number, budget: number | null, pausedUntil: Ms, ending: Flag],
  charged: readonly [window: number, budget: number],
  before: readonly [apiCalls: number, leftCount: number],
  report: PackedReport | 0,
];

export function packPlace({ chunk, firstIndex, items, digest }: ChunkPlace): PackedPlace {
  return [chunk, firstIndex, items, digest];
}

export function placeOf([chunk, firstIndex, items, digest]: PackedPlace): ChunkPlace {
  return { chunk, firstIndex, items, digest };
}

/** @param record of a chunk that has not ended */
export function packChunk(record: ChunkRecord, sinceMs: number): PackedChunk {
  const { sent, charged, before, report, state, attempt, reportedAtMs } = record;
  const flags = flagsOf.reduce((bits, flag, at) => bits + (record[flag] ? 2 ** at : 0), 0);
  const rest: PackedRest = [
    flag(state === 'open'),
    flags,
    attempt,
    reportedAtMs - sinceMs,
    [sent.seq - sinceMs, sent.window, sent.budgetSeconds, from(sent.pausedUntilMs, sinceMs), flag(sent.isEnding)],
    [charged.window, charged.budgetSeconds],
    [before.apiCalls, before.leftCount],
    report ? packReport(report, sinceMs) : 0,
  ];
  return [...packPlace(record), ...rest];
}

/** If the chunk is blocked, only the time of the block is packed; `CarriedBatch.blocked` holds the message. */
export function unpackChunk(packed: PackedChunk, sinceMs: number): ChunkRecord {
  const [chunk, firstIndex, items, digest, ...others] = packed;
  const [state, flags, attempt, heardAt, sent, charged, before, report] = others as unknown as PackedRest;
  const is = Object.fromEntries(flagsOf.map((flag, at) => [flag, Math.floor(flags / 2 ** at) % 2 === 1]));
  const [seq, window, budgetSeconds, pausedUntil, isEnding] = sent;
  return {
    ...newRecord({ chunk, firstIndex, items, digest }, heardAt + sinceMs),
    ...is,
    state: state === 1 ? 'open' : 'waiting',
    attempt,
    sent: {
      seq: seq + sinceMs,
      window,
      budgetSeconds,
      pausedUntilMs: pausedUntil === null ? null : pausedUntil + sinceMs,
      isEnding: isEnding === 1,
    },
    charged: { window: charged[0], budgetSeconds: charged[1] },
    before: { apiCalls: before[0], leftCount: before[1] },
    report: report === 0 ? null : unpackReport(chunk, report, sinceMs),
  };
}

function packReport(report: KeptReport, sinceMs: number): PackedReport {
  const { attempt, report: number, seq, window, running, retried, budget, blocked, byOutcome } = report;
  return [
    [attempt, number, seq - sinceMs, window, running, retried],
    outcomes.flatMap((outcome, at) => (byOutcome[outcome] === undefined ? [] : [at, byOutcome[outcome]])),
    [budget.grantedSeconds, budget.spentSeconds, budget.reservedSeconds, budget.nextSeconds, budget.wantedSeconds],
    [
      from(report.throttledUntilMs, sinceMs),
      from(blocked && Date.parse(blocked.since), sinceMs),
      report.apiCalls,
      report.leftCount,
      flag(report.isEnding),
      flag(report.wasCut),
    ],
  ];
}

function unpackReport(chunk: number, packed: PackedReport, sinceMs: number): KeptReport {
  const [[attempt, report, seq, window, running, retried], counts, budget, rest] = packed;
  const [throttled, blockedSince, apiCalls, leftCount, isEnding, wasCut] = rest;
  const [grantedSeconds, spentSeconds, reservedSeconds, nextSeconds, wantedSeconds] = budget;
  const byOutcome: Partial<Record<ItemOutcome, number>> = {};
  for (let at = 0; at < counts.length; at += 2) {
    const outcome = outcomes[counts[at] ?? -1];
    if (outcome) byOutcome[outcome] = counts[at + 1] ?? 0;
  }
  const since = blockedSince === null ? null : new Date(blockedSince + sinceMs).toISOString();
  return {
    chunk,
    attempt,
    report,
    seq: seq + sinceMs,
    window,
    running,
    byOutcome,
    retried,
    budget: { grantedSeconds, spentSeconds, reservedSeconds, nextSeconds, wantedSeconds },
    throttledUntilMs: throttled === null ? null : throttled + sinceMs,
    blocked: since === null ? null : { message: 'An item is blocked and cannot continue by itself', since },
    apiCalls,
    leftCount,
    isEnding: isEnding === 1,
    hasEnded: false,
    wasCut: wasCut === 1,
  };
}

function from(atMs: number | null, sinceMs: number): number | null {
  return atMs === null ? null : atMs - sinceMs;
}

function flag(is: boolean): Flag {
  return is ? 1 : 0;
}
