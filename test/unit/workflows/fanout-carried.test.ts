import { describe, expect, it } from 'vitest';
import type { BatchInput, ChunkRecord, ChunkReport } from '../../../src/protocol/fanout/batch-parts.js';
import type { ItemOutcome } from '../../../src/protocol/fanout/fanout-input.js';
import type { LeftBehind } from '../../../src/protocol/job/job-result.js';
import { payloadBytes } from '../../../src/texts/length.js';
import { BatchState } from '../../../workflows/fanout/batch/batch-state.js';
import { keptReport, newRecord, sumEndedChunks } from '../../../workflows/fanout/batch/chunk-record.js';
import { countsOf } from '../../../workflows/fanout/batch/counts.js';
import { addLeft } from '../../../workflows/fanout/left-list.js';
import { policy } from '../../workflows/fanout/policy.js';

const startedAtMs = Date.parse('2026-03-01T10:00:00Z');
const nowMs = startedAtMs + 3_000_000;
const outcomes: readonly ItemOutcome[] = ['completed', 'prompt_failed', 'rejected', 'outcome_unknown', 'cancelled'];
const left: readonly LeftBehind[] = Array.from({ length: 20 }, (_, at) => ({
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
    report: 1_800_000_000_000,
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
    blocked: { message: 'm'.repeat(298), since: new Date(nowMs - 60_000).toISOString() },
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

it('ended chunks are counted as one, repeatedly', () => {
  const ended = [1, 2, 3].map((chunk): ChunkRecord => ({ ...busiest(chunk), state: 'ended' }));
  const once = sumEndedChunks(ended.slice(0, 2));
  const twice = sumEndedChunks([...(once ? [once] : []), ...ended.slice(2)]);
  expect(countsOf(twice ? [twice] : [], false).byOutcome).toEqual(countsOf(ended, false).byOutcome);
  expect(twice).toMatchObject({ items: 300, before: { leftCount: 168 }, report: { leftCount: 300, retried: 126 } });
  expect(twice?.charged.budgetSeconds).toBe(3 * 87_654.123_046_875);
  expect(Buffer.byteLength(JSON.stringify(twice))).toBeLessThan(1_500);
});

it('what is left is named up to a limit, and counted from then on', () => {
  const list = { left: [], leftMore: 0 };
  for (let more = 0; more < 5; more += 1) addLeft(list, left.slice(0, 7));
  expect(list).toMatchObject({ left: { length: 20 }, leftMore: 15 });
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

  /** The next run receives JSON. */
  const nextRun = (carried: BatchInput) => new BatchState(JSON.parse(JSON.stringify(carried)));

  it('leaves room in a payload of 2 MiB for an input of 600 kB while none has ended, and is taken over whole', () => {
    const carried = handedOn('open');
    expect(payloadBytes(carried)).toBeLessThan(1_300_000);
    expect(Object.keys(carried.carried?.left ?? {})).toHaveLength(100);
    const next = nextRun(carried);
    expect(next.records).toEqual(Object.values(carried.carried?.chunks ?? {}));
    expect(next.carry()).toEqual(carried);
  });

  it('leaves that room also if each chunk names another source', () => {
    const run = new BatchState(nextRun(handedOn('open')).carry());
    for (const record of run.records) {
      run.take(record, { digest: `0123456789abc${String(record.chunk).padStart(3, '0')}`, end: 'delete' });
    }
    const carried = run.carry();
    expect(payloadBytes(carried)).toBeLessThan(1_495_000);
    const next = nextRun(carried);
    expect(next.progress().sources).toEqual({ waiting: 1_000, preparing: 0, ready: 0, ended: 0, failed: 0 });
    expect(next.carry()).toEqual(carried);
  });

  it('takes less than 150 kB once all have ended, run after run, and counts all of them', () => {
    const carried = handedOn('ended');
    const next = nextRun(carried);
    expect(payloadBytes(next.carry())).toBeLessThan(150_000);
    expect(next.counts).toEqual(nextRun(next.carry()).counts);
    expect(next.counts).toMatchObject({ items: 100_000, retried: 42_000 });
    expect(next.known).toHaveLength(1_000);
  });

  it('keeps the order of chunks, of which some have ended, when later ones arrive first', () => {
    const run = new BatchState(input);
    for (const chunk of [10, 2, 1]) run.take({ ...busiest(chunk), state: chunk === 2 ? 'ended' : 'open' });
    const next = nextRun(run.carry());
    expect(next.records.map(({ chunk }) => chunk)).toEqual([-1, 1, 10]);
    expect(next.known.map(({ chunk }) => chunk).sort((a, b) => a - b)).toEqual([1, 2, 10]);
    expect(next.counts.items).toBe(300);
  });
});
