/** Which failures are the same, and when they hold a batch. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { ChunkRecord } from '../../../src/protocol/fanout/batch-parts.js';
import { builtReport, newRecord } from '../../../workflows/fanout/batch/chunk-record.js';
import { endedCanariesOf, heldText, holdDue } from '../../../workflows/fanout/batch/hold-decision.js';
import { failureOf, longerStreak, streakAfter } from '../../../workflows/fanout/failure-streak.js';

const error = (code: string, status: number | null) => ({ code, status, message: '', requestId: null, details: null });
type Outcome = Parameters<typeof failureOf>[0]['outcome'];

describe('a failure', () => {
  it.each<[Outcome, string, number | null, boolean]>([
    ['rejected', 'provider_not_configured', 409, true],
    ['rejected', 'invented_code', 422, true],
    ['rejected', 'forbidden', null, true],
    ['rejected', 'invented_code', null, false],
    ['rejected', 'fork_failed', 409, false],
    ['rejected', 'activity_timeout', null, false],
    ['rejected', 'http_500', 500, false],
    ['rejected', 'rate_limited', 429, false],
    ['sandbox_failed', 'setup_failed', null, true],
    ['sandbox_failed', 'command_failed', null, true],
    ['sandbox_failed', 'sandbox_gone', null, false],
    ['prompt_failed', 'prompt_failed', null, false],
    ['deadline_exceeded', 'deadline_exceeded', null, false],
  ])('%s with %s and status %s is permanent: %s', (outcome, code, status, isPermanent) => {
    expect(failureOf({ outcome, error: error(code, status) })).toEqual({ outcome, code, isPermanent });
  });

  it.each<Outcome>(['completed', 'cancelled', 'not_started'])('is not an item that is %s', (outcome) => {
    expect(failureOf({ outcome, error: null })).toBeNull();
  });

  it('has a code of a limited length, or none', () => {
    expect(failureOf({ outcome: 'rejected', error: error('x'.repeat(500), 422) })?.code).toHaveLength(100);
    expect(failureOf({ outcome: 'rejected', error: null })).toMatchObject({ code: null, isPermanent: false });
  });
});

const endings = fc.constantFrom<[Outcome, string, number | null]>(
  ['completed', '', null],
  ['rejected', 'forbidden', 403],
  ['rejected', 'not_found', 404],
  ['prompt_failed', 'prompt_failed', null],
);

it('reports of any number of endings of one chunk add up to the streak of all its endings', () => {
  fc.assert(
    fc.property(fc.array(fc.tuple(endings, fc.boolean())), (all) => {
      let [own, known]: ReturnType<typeof longerStreak>[] = [null, null];
      let ended = 0;
      for (const [[outcome, code, status], isReported] of all) {
        own = longerStreak(own ?? null, failureOf({ outcome, error: error(code, status) }));
        ended += 1;
        if (!isReported) continue;
        known = streakAfter(known ?? null, { ended, streak: own });
        ended = 0;
      }
      expect(streakAfter(known ?? null, { ended, streak: own ?? null })).toEqual(own ?? null);
    }),
    { seed: 56 },
  );
});

it('equal failures of several chunks follow one another, and another ending of any chunk begins the row anew', () => {
  const streak = (count: number, code = 'forbidden') =>
    ({ outcome: 'rejected', code, isPermanent: true, count }) as const;
  const after = (...reports: Parameters<typeof streakAfter>[1][]) =>
    reports.reduce<ReturnType<typeof streakAfter>>((known, report) => streakAfter(known, report), null);
  expect(after({ ended: 2, streak: streak(2) }, { ended: 1, streak: streak(1) })).toEqual(streak(3));
  // This chunk had three such failures before, which were reported.
  expect(after({ ended: 2, streak: streak(2) }, { ended: 1, streak: streak(4) })).toEqual(streak(3));
  expect(after({ ended: 2, streak: streak(2) }, { ended: 2, streak: streak(1) })).toEqual(streak(1));
  expect(after({ ended: 2, streak: streak(2) }, { ended: 1, streak: null })).toBeNull();
  expect(after({ ended: 2, streak: streak(2) }, { ended: 0, streak: null })).toEqual(streak(2));
  expect(after({ ended: 2, streak: streak(2) }, { ended: 1, streak: streak(1, 'not_found') })).toEqual(
    streak(1, 'not_found'),
  );
});

describe('a batch', () => {
  const permanent = { outcome: 'rejected', code: 'forbidden', isPermanent: true } as const;
  const state = { counts: { items: 20, queued: 10 }, endedCanaries: 5, isSealed: true, isProven: false };
  const streak = (count: number, isPermanent = true) => ({ ...permanent, isPermanent, count });

  it('is held by its breaker if enough permanent failures follow one another, and an item is left', () => {
    const due = (over: Partial<Parameters<typeof holdDue>[0]>, breaker = 3) =>
      holdDue({ ...state, streak: streak(3), ...over }, { breaker });
    expect(due({})).toBe('breaker');
    expect(due({ streak: streak(2) })).toBeNull();
    expect(due({ streak: streak(9, false) })).toBeNull();
    expect(due({ streak: null })).toBeNull();
    expect(due({}, 0)).toBeNull();
    expect(holdDue({ ...state, streak: streak(99) }, {})).toBeNull();
    expect(due({ counts: { items: 5, queued: 0 } })).toBeNull();
    expect(due({ counts: { items: 5, queued: 0 }, isSealed: false })).toBe('breaker');
  });

  it('is held by its canaries if all of them failed alike, and proven if they ended otherwise', () => {
    const due = (over: Partial<Parameters<typeof holdDue>[0]>, canary = 5) =>
      holdDue({ ...state, streak: streak(5, false), ...over }, { canary });
    expect(due({})).toBe('canary');
    expect(due({ streak: streak(4) })).toBe('proven');
    expect(due({ streak: null })).toBe('proven');
    expect(due({}, 6)).toBeNull();
    expect(due({ isProven: true })).toBeNull();
    // More items may come, so it is not known yet whether there are as many.
    expect(due({ counts: { items: 5, queued: 0 }, isSealed: false }, 6)).toBeNull();
    expect(due({ counts: { items: 5, queued: 0 } }, 6)).toBeNull();
  });

  it('counts the canaries of a chunk that ended without them as ended, and no other item', () => {
    const chunk = (at: number, state: ChunkRecord['state'], completed: number) => {
      const place = { chunk: at, firstIndex: at * 4, items: 4, digest: '' };
      const report = builtReport(at, { byOutcome: { completed }, spentSeconds: 0 });
      return { ...newRecord(place, 0), state, report };
    };
    const count = (records: ChunkRecord[], canary = 6) => endedCanariesOf(records, records, canary);
    expect(count([chunk(0, 'open', 1), chunk(1, 'open', 1)])).toBe(2);
    expect(count([chunk(0, 'ended', 1), chunk(1, 'open', 1)])).toBe(5);
    expect(count([chunk(0, 'open', 3), chunk(1, 'ended', 0)])).toBe(5);
    expect(count([chunk(0, 'ended', 0), chunk(1, 'ended', 0)])).toBe(6);
    expect(count([chunk(1, 'ended', 4)])).toBe(2);
    // The first chunk is only known by its place.
    const places = [chunk(0, 'ended', 4), chunk(1, 'open', 1)];
    expect(endedCanariesOf(places, places.slice(1), 6)).toBe(5);
  });

  it('says why it is held, and what to do', () => {
    const hold = { ...permanent, since: '' };
    const texts = [
      heldText('b', { ...hold, by: 'breaker', count: 5 }),
      heldText('b', { ...hold, by: 'canary', count: 3, outcome: 'prompt_failed', code: 'prompt_failed' }),
      heldText('b', { ...hold, by: 'canary', count: 1, code: null }),
    ];
    const next = 'so no further item starts. Mend the cause and run `sandflow fanout resume b`, or cancel the batch.';
    expect(texts).toEqual([
      `5 items in a row failed alike (rejected, forbidden), ${next}`,
      `All 3 canaries failed alike (prompt_failed), ${next}`,
      `The canary failed (rejected), ${next}`,
    ]);
  });
});
