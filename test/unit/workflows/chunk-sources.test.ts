/** Chunks of one batch that have different sources, which may fail. */
import { CancellationScope } from '@temporalio/workflow';
import { expect, it } from 'vitest';
import type { ItemSummary } from '../../../src/protocol/fanout/fanout-result.js';
import { BatchState } from '../../../workflows/fanout/batch/batch-state.js';
import {
  endUnstarted,
  keptReport,
  newRecord,
  recordGrant,
  startAgain,
} from '../../../workflows/fanout/batch/chunk-record.js';
import { countsOf } from '../../../workflows/fanout/batch/counts.js';
import { dueGrants, type SourceTerms } from '../../../workflows/fanout/batch/due-grants.js';
import { holdDue, streakAfterReport, unrunCanariesOf } from '../../../workflows/fanout/batch/hold-decision.js';
import { ChunkState } from '../../../workflows/fanout/chunk/chunk-state.js';
import { reportOf } from '../../../workflows/fanout/chunk/report-to-batch.js';
import { defaultFanoutIntervals } from '../../../workflows/shared/wait-intervals.js';
import { policy } from '../../workflows/fanout/policy.js';

const ready: SourceTerms = { hasSource: true, isDraining: false, isEnding: false };
const record = (chunk: number) => newRecord({ chunk, firstIndex: chunk * 4, items: 4, digest: '' }, 0);
const open = (chunk: number) => {
  const one = { ...record(chunk), state: 'open' as const, attempt: 1 };
  recordGrant(one, { ...one.sent, seq: 1, window: 2 });
  return one;
};

function granted(records: readonly ReturnType<typeof record>[], terms: readonly SourceTerms[]) {
  const none = { canaries: 0, isProven: false, pausedUntilMs: null, budgetSeconds: null, isBusy: () => false };
  const due = dueGrants(records, { ...none, limit: 6, nowMs: 2, sourceOf: ({ chunk }) => terms[chunk] ?? ready });
  return due.map(({ record: { chunk }, grant: { window, isEnding } }) => ({ chunk, window, isEnding }));
}

it('a chunk whose source is not ready leaves its window to the next one', () => {
  const waiting = { ...ready, hasSource: false };
  expect(granted([record(0), record(1), record(2)], [waiting, ready, ready])).toEqual([
    { chunk: 1, window: 4, isEnding: false },
    { chunk: 2, window: 2, isEnding: false },
  ]);
});

it('only the chunks of a source that has failed end, and those of one that has changed start nothing', () => {
  const [failed, changed] = [
    { ...ready, isEnding: true },
    { ...ready, isDraining: true },
  ];
  expect(granted([open(0), open(1), record(2), record(3)], [failed, changed, changed, ready])).toEqual([
    { chunk: 0, window: 2, isEnding: true },
    { chunk: 1, window: 0, isEnding: false },
    { chunk: 3, window: 2, isEnding: false },
  ]);
});

it('the items of a chunk that ends without being started count as not started, once', () => {
  const one = record(0);
  for (const _ of ['first', 'again']) endUnstarted(one);
  expect(countsOf([one], false)).toMatchObject({ items: 4, queued: 0, failed: 0, byOutcome: { not_started: 4 } });
});

const failFast = { ...policy, stopAt: { kind: 'fail_fast' }, breaker: 9 } as const;
const place = { deployment: 'test', batchId: 'b', batchKey: 'k' };

function batchWith(...records: readonly ReturnType<typeof record>[]) {
  const batch = new BatchState({ ...place, policy: failFast });
  for (const one of records) batch.take(one, { digest: `${one.chunk}` });
  return batch;
}

/** A chunk whose items end like this, one after the other. */
function chunkAfter(...ends: readonly Partial<ItemSummary>[]) {
  const grant = { seq: 1, window: 1, budgetSeconds: null, pausedUntilMs: null, isEnding: false };
  const source = { kind: 'fork', sandboxId: 'bx_22222222' } as const;
  const rest = { sourceType: 'default', deadlineAtMs: 1e15, pace: defaultFanoutIntervals, grant } as const;
  const run = new ChunkState({ ...place, ...open(0), retryFailed: false, policy: failFast, source, ...rest });
  run.load(
    Array.from({ length: 4 }, (_, at) => ({ id: `${at}`, prompts: [] })),
    [],
  );
  for (const [at, end] of ends.entries()) {
    const slot = run.slots[at];
    if (slot) slot.carried.state = 'running';
    const none = { sandboxId: null, endedAsAsked: true, machineSeconds: 0, resultRef: null, ending: null, left: [] };
    if (slot)
      run.settle(slot, { index: at, generation: 1, outcome: 'completed', error: null, apiCalls: 0, ...none, ...end });
  }
  return run;
}

const refusal = (code: string) => {
  const error = { code, message: '', status: 404, requestId: null, details: null };
  return { outcome: 'rejected', failureClass: 'setup', error } as const;
};

it('a chunk that waits for a restart, and whose source nobody obtains, has nothing to end', () => {
  const one = open(1);
  const batch = batchWith(one);
  startAgain(one);
  const slot = batch.slotOf(one);
  expect(batch.hasNothing(one)).toBe(true);
  slot.obtaining = Object.create(CancellationScope.prototype);
  expect(batch.hasNothing(one)).toBe(false);
});

it('a chunk that ends without being started again leaves its window and its budget to others, and names what ran', () => {
  const one = open(0);
  one.charged = { window: 3, budgetSeconds: 900 };
  one.report = keptReport({ ...reportOf(chunkAfter({ machineSeconds: 5 })), running: 2 });
  startAgain(one);
  for (const _ of ['first', 'again']) endUnstarted(one);
  expect(one.charged).toEqual({ window: 0, budgetSeconds: 5 });
  expect(one.report.leftCount).toBe(2);
  expect(countsOf([one], false)).toMatchObject({ queued: 0, running: 0, byOutcome: { completed: 1, not_started: 3 } });
});

it('an item that is refused because its source is lost does not end a batch with --fail-fast', () => {
  const [lost, failed] = [record(0), record(1)];
  const batch = batchWith(lost, failed);
  lost.report = keptReport(reportOf(chunkAfter({}, refusal('sandbox_not_found'))));
  expect(batch.counts.failed).toBe(1);
  expect(batch.judged.failed).toBe(0);
  failed.report = keptReport(reportOf(chunkAfter({}, refusal('provider_not_configured'))));
  expect(batch.judged.failed).toBe(1);
});

it('items that started before their source changed go on, also with --fail-fast', () => {
  expect(chunkAfter(refusal('source_changed')).isEnding).toBe(false);
  expect(chunkAfter(refusal('sandbox_not_found')).isEnding).toBe(true);
});

it('a row of equal failures neither ends nor grows when a source is lost', () => {
  const failures = [refusal('setup_failed'), refusal('setup_failed')];
  const before = reportOf(chunkAfter(...failures));
  const after = reportOf(chunkAfter(...failures, refusal('sandbox_not_found'), { outcome: 'cancelled' }));
  expect([after.streak, after.permanent]).toEqual([before.streak, before.permanent]);
  const row = before.streak ?? null;
  expect(streakAfterReport(row, after, { before, isFirst: false })).toEqual(row);
  const alone = reportOf(chunkAfter(refusal('sandbox_not_found')));
  expect(streakAfterReport(row, alone, { before: null, isFirst: false })).toEqual(row);
});

it('canaries prove nothing if their source failed before they ended by themselves', () => {
  const [unstarted, lost, failed] = [record(0), record(1), record(2)];
  endUnstarted(unstarted);
  lost.report = keptReport(reportOf(chunkAfter(refusal('sandbox_not_found'), { outcome: 'cancelled' }, {})));
  expect([unrunCanariesOf([unstarted], 3), unrunCanariesOf([lost], 6), unrunCanariesOf([failed], 8)]).toEqual([
    3, 1, 0,
  ]);
  const counts = { items: 12, queued: 4 };
  const state = { streak: null, counts, endedCanaries: 3, isSealed: true, isProven: false };
  const due = (unrunCanaries: number) => holdDue({ ...state, unrunCanaries }, { canary: 3 });
  expect([due(0), due(2), due(3)]).toEqual(['proven', 'proven', 'canary']);
});
