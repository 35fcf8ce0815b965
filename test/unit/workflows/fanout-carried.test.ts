import { describe, expect, it } from 'vitest';
import { payloadBytes } from '../../../src/contract/workflow-safe/stored-text.js';
import type { BatchInput, ChunkRecord, ChunkReport } from '../../../src/protocol/fanout/batch-parts.js';
import type { ItemOutcome } from '../../../src/protocol/fanout/fanout-input.js';
import { BatchState } from '../../../workflows/fanout/batch/batch-state.js';
import { keptReport, newRecord, sumEndedChunks } from '../../../workflows/fanout/batch/chunk-record.js';
import { countsOf } from '../../../workflows/fanout/batch/counts.js';
import { packChunk, unpackChunk } from '../../../workflows/fanout/batch/pack-chunk.js';
import { LeftList } from '../../../workflows/fanout/left-list.js';
import { policy } from '../../workflows/fanout/policy.js';

const startedAtMs = Date.parse('2026-03-01T10:00:00Z');
const nowMs = startedAtMs + 3_000_000;
const outcomes: readonly ItemOutcome[] = ['completed', 'prompt_failed', 'rejected', 'outcome_unknown', 'cancelled'];
const left = Array.from({ length: 20 }, (_, at) => ({
  kind: 'sandbox' as const,
  sandboxId: `bx_${at}`,
  sandboxName: 'n'.repeat(60),
  conversationId: null,
  why: 'w'.repeat(200),
}));

/** A chunk of a hundred items with every field at its maximum. */
function busiest(chunk: number): ChunkRecord {
  const place = { chunk, firstIndex: chunk * 100, items: 100, digest: '0123456789abcdef' };
  const report: ChunkReport = {
    chunk,
    attempt: 3,
    report: 12_345,
    seq: nowMs,
    window: 87,
    running: 87,
    byOutcome: Object.fromEntries(outcomes.map((outcome, at) => [outcome, at + 1])),
    retried: 42,
    budget: {
      grantedSeconds: 87_654.123_046_875,
      spentSeconds: 12_345.678_710_937_5,
      reservedSeconds: 54_321.000_976_562_5,
      nextSeconds: 960,
      wantedSeconds: 83_520,
    },
    throttledUntilMs: nowMs + 900_000,
    blocked: { message: 'm'.repeat(500), since: new Date(nowMs - 60_000).toISOString() },
    sourceError: null,
    left,
    leftMore: 80,
    apiCalls: 98_765,
    isEnding: true,
    hasEnded: false,
    wasCut: false,
  };
  const sent = { seq: nowMs, window: 87, budgetSeconds: 87_654.123_046_875, pausedUntilMs: nowMs, isEnding: false };
  return {
    ...newRecord(place, nowMs),
    state: 'open',
    attempt: 3,
    isFresh: false,
    isAttached: true,
    sent,
    charged: { window: 87, budgetSeconds: 87_654.123_046_875 },
    report: keptReport(report),
    before: { apiCalls: 1_234, leftCount: 56 },
  };
}

it('B12: a thousand chunks with full records take less than 300 bytes each when a batch continues as new', () => {
  const packed = Array.from({ length: 1_000 }, (_, chunk) => packChunk(busiest(chunk), startedAtMs));
  const bytes = Buffer.byteLength(JSON.stringify(packed));
  expect(Buffer.byteLength(JSON.stringify(busiest(1)))).toBeGreaterThan(1_000);
  expect(bytes / 1_000).toBeLessThan(300);
});

it('B12: packing keeps everything except the text of what blocks a chunk', () => {
  const record = busiest(7);
  const back = unpackChunk(JSON.parse(JSON.stringify(packChunk(record, startedAtMs))), startedAtMs);
  expect(back.report?.blocked?.since).toBe(record.report?.blocked?.since);
  const unblocked = (of: ChunkRecord) => ({ ...of, report: of.report && { ...of.report, blocked: null } });
  expect(unblocked(back)).toEqual(unblocked(record));
  const fresh = newRecord({ chunk: 1, firstIndex: 100, items: 3, digest: 'd' }, startedAtMs);
  expect(unpackChunk(packChunk(fresh, startedAtMs), startedAtMs)).toEqual(fresh);
});

it('B12: ended chunks are counted as one, repeatedly', () => {
  const ended = [1, 2, 3].map((chunk): ChunkRecord => ({ ...busiest(chunk), state: 'ended' }));
  const once = sumEndedChunks(ended.slice(0, 2));
  const twice = sumEndedChunks([...(once ? [once] : []), ...ended.slice(2)]);
  expect(countsOf(twice ? [twice] : [], false).byOutcome).toEqual(countsOf(ended, false).byOutcome);
  expect(twice).toMatchObject({ items: 300, before: { leftCount: 168 }, report: { leftCount: 300, retried: 126 } });
  expect(twice?.charged.budgetSeconds).toBe(3 * 87_654.123_046_875);
  expect(Buffer.byteLength(JSON.stringify(twice))).toBeLessThan(1_500);
});

it('B12: what is left is named up to a limit, and counted from then on', () => {
  const list = new LeftList();
  for (let more = 0; more < 5; more += 1) list.add(left.slice(0, 7), 1);
  expect(list.all).toMatchObject({ left: { length: 20 }, leftMore: 20 });
  const again = new LeftList(list.all.left, list.all.leftMore);
  again.add(left.slice(0, 1));
  expect(again.all).toMatchObject({ left: { length: 20 }, leftMore: 21 });
});

describe('what a batch of 1,000 chunks carries over to its next run', () => {
  const input: BatchInput = {
    deployment: 'test',
    batchId: 'b',
    batchKey: '0198f000-0000-7000-8000-000000000000',
    source: { kind: 'sandbox', sandboxId: 'bx_22222222', allowStale: false },
    policy,
  };
  /** A batch whose chunks are all `state`, with every field at its maximum. */
  function handedOn(state: ChunkRecord['state']) {
    const run = new BatchState(input);
    for (let chunk = 0; chunk < 1_000; chunk += 1) {
      run.take({ ...busiest(chunk), state });
      run.leave(left.map((one) => ({ ...one, sandboxId: `${one.sandboxId}_${chunk}` })));
    }
    return run.carry();
  }

  it('B12: takes less than 400 kB while none has ended, and contains all of them', () => {
    const carried = handedOn('open');
    expect(payloadBytes(carried)).toBeLessThan(400_000);
    expect(carried.carried?.left).toHaveLength(100);
    const next = new BatchState(carried);
    expect(next.records).toHaveLength(1_000);
    expect(payloadBytes(next.carry())).toBeLessThan(400_000);
  });

  it('B12: takes less than 150 kB once all have ended, run after run, and counts all of them', () => {
    const carried = handedOn('ended');
    const next = new BatchState(carried);
    expect(payloadBytes(next.carry())).toBeLessThan(150_000);
    expect(next.counts).toEqual(new BatchState(next.carry()).counts);
    expect(next.counts).toMatchObject({ items: 100_000, retried: 42_000 });
  });
});
