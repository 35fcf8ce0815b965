/** What reports of chunks mean for the row of failures of a batch that is resumed. */
import { expect, it, vi } from 'vitest';
import type { ChunkRecord, ChunkReport } from '../../../src/protocol/fanout/batch-parts.js';
import { BatchState } from '../../../workflows/fanout/batch/batch-state.js';
import { builtReport, newRecord } from '../../../workflows/fanout/batch/chunk-record.js';
import { dueGrants } from '../../../workflows/fanout/batch/due-grants.js';
import { policy } from '../../workflows/fanout/policy.js';

// Outside of a workflow there is neither a marker nor a place for details.
vi.mock('@temporalio/workflow', async (real) => ({
  ...(await real<object>()),
  patched: () => true,
  setCurrentDetails: () => undefined,
}));

const source = { kind: 'sandbox', sandboxId: 'bx_22222222', allowStale: false } as const;

function resumed(record: Partial<ChunkRecord>): BatchState {
  const resume = { round: 1, retryFailed: true };
  const batch = new BatchState({ deployment: 'test', batchId: 'b', batchKey: 'k', source, policy, resume });
  const place = { chunk: 0, firstIndex: 0, items: 20, digest: '' };
  batch.take({ ...newRecord(place, 0), state: 'open', attempt: 1, ...record });
  return batch;
}

const failures = (count: number) => ({ outcome: 'rejected', code: 'forbidden', isPermanent: true, count }) as const;
const report = (number: number, of: Partial<ChunkReport>): ChunkReport => ({
  ...builtReport(0, { byOutcome: {}, spentSeconds: 0 }),
  ...{ attempt: 1, report: number, left: [], leftMore: 0, sourceError: null },
  ...of,
});

it('failures of an earlier execution do not hold a batch that a person resumes, and later ones count', () => {
  const batch = resumed({ isAttached: true, awaitsReport: true });
  batch.receiveReport(report(7, { byOutcome: { rejected: 6 }, streak: failures(6), permanent: 6 }));
  expect(batch.carried.streak ?? null).toBeNull();
  batch.receiveReport(report(8, { byOutcome: { rejected: 8 }, streak: failures(8), permanent: 8 }));
  expect(batch.carried.streak).toEqual(failures(2));
});

it('a chunk that tells no row of its failures changes none, and one without a failure ends it', () => {
  const batch = resumed({});
  batch.carried.streak = failures(3);
  batch.receiveReport(report(1, { byOutcome: { rejected: 2, completed: 1 } }));
  expect(batch.carried.streak).toEqual(failures(3));
  batch.receiveReport(report(2, { byOutcome: { rejected: 2, completed: 2 } }));
  expect(batch.carried.streak).toBeNull();
});

it('is shown as held until it ends, and in its result', () => {
  const batch = resumed({});
  batch.carried.held = { by: 'breaker', ...failures(5), since: '' };
  expect(batch.progress().held).toBeDefined();
  batch.end('cancelled');
  expect(batch.progress().held).toBeUndefined();
  batch.outcome = 'cancelled';
  expect(batch.progress().held).toBeDefined();
});

it('a chunk of an earlier execution learns that the others may start, whatever canaries the batch has now', () => {
  const { records } = resumed({ isAttached: true });
  const holding = { canaries: 0, isProven: true, isDraining: false, isEnding: false };
  const terms = { limit: 0, budgetSeconds: null, pausedUntilMs: null, hasSource: true, nowMs: 1, ...holding };
  const due = dueGrants(records, { ...terms, isBusy: () => false });
  expect(due.map(({ grant }) => grant.isProven)).toEqual([true]);
});
