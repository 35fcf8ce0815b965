/** What reports of chunks mean for the row of failures of a batch that is resumed. */
import { expect, it } from 'vitest';
import type { FailureStreak } from '../../../src/protocol/fanout/batch-parts.js';
import { newRecord } from '../../../workflows/fanout/batch/chunk-record.js';
import { dueGrants } from '../../../workflows/fanout/batch/due-grants.js';
import { streakAfterReport } from '../../../workflows/fanout/batch/hold-decision.js';

const failures = (count: number): FailureStreak => ({
  outcome: 'rejected',
  code: 'forbidden',
  isPermanent: true,
  count,
});

it('failures of an earlier execution do not hold a batch that a person resumes, and later ones count', () => {
  const first = { byOutcome: { rejected: 6 }, streak: failures(6) };
  const streak = streakAfterReport(null, first, { before: null, isFirst: true });
  expect(streak).toBeNull();
  const next = { byOutcome: { rejected: 8 }, streak: failures(8) };
  expect(streakAfterReport(streak, next, { before: first, isFirst: false })).toEqual(failures(2));
});

it('a chunk that tells no row of its failures changes none, and one without a failure ends it', () => {
  const first = { byOutcome: { rejected: 2, completed: 1 } };
  expect(streakAfterReport(failures(3), first, { before: null, isFirst: false })).toEqual(failures(3));
  const next = { byOutcome: { rejected: 2, completed: 2 } };
  expect(streakAfterReport(failures(3), next, { before: first, isFirst: false })).toBeNull();
});

it('a chunk of an earlier execution learns that the others may start, whatever canaries the batch has now', () => {
  const place = { chunk: 0, firstIndex: 0, items: 20, digest: '' };
  const records = [{ ...newRecord(place, 0), state: 'open' as const, attempt: 1, isAttached: true }];
  const sourceOf = () => ({ hasSource: true, isDraining: false, isEnding: false });
  const holding = { canaries: 0, isProven: true, sourceOf };
  const terms = { limit: 0, budgetSeconds: null, pausedUntilMs: null, nowMs: 1, ...holding };
  const due = dueGrants(records, { ...terms, isBusy: () => false });
  expect(due.map(({ grant }) => grant.isProven)).toEqual([true]);
});
