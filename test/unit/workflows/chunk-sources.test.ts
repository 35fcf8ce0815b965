/** Chunks of one batch that have different sources. */
import { expect, it } from 'vitest';
import { endUnstarted, newRecord, recordGrant } from '../../../workflows/fanout/batch/chunk-record.js';
import { countsOf } from '../../../workflows/fanout/batch/counts.js';
import { dueGrants, type SourceTerms } from '../../../workflows/fanout/batch/due-grants.js';

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
