import fc from 'fast-check';
import { expect, it } from 'vitest';
import { itemLines } from '../../../../src/cli/fanout/progress/board.js';
import { endedTries, type ItemRow, type KnownItems, noItems } from '../../../../src/cli/fanout/progress/shown-items.js';
import { pauseAfterLookMs, whileConnected } from '../../../../src/cli/fanout/progress/watch-fanout.js';
import { createPaint } from '../../../../src/cli/output/terminal.js';

const paint = createPaint({ write: () => true });
const allItems = 200;

/** A batch whose items start, end and are tried again, and what somebody who watches it has read. */
function createBatch() {
  const items = Array.from({ length: allItems }, (_, index) => ({
    index,
    state: 'queued',
    hasFailed: false,
    tries: 0,
  }));
  const some = (state: string, { count, from }: { readonly count: number; readonly from: number }) => {
    const found = items.filter((item) => item.state === state);
    return [...found.slice(from % (found.length || 1)), ...found].slice(0, Math.min(count, found.length));
  };
  const numberOf = (state: string) => items.filter((item) => item.state === state).length;
  const row = (index: number, phase: string): ItemRow => ({
    ...{ index, itemId: `i${index}`, phase, since: null, text: '' },
  });
  const readCounts = () => ({
    ...{ items: allItems, queued: numberOf('queued'), running: numberOf('running') },
    ...{ completed: numberOf('completed'), failed: numberOf('failed'), byOutcome: {} },
    retried: items.reduce((sum, { tries, state }) => sum + tries - (state === 'queued' ? 0 : 1), 0),
  });
  const end = (state: string, hasFailed: boolean) => (which: Parameters<typeof some>[1]) => {
    for (const item of some('running', which)) Object.assign(item, { state, hasFailed });
  };
  let counts = readCounts();
  let wasRead = new Map(items.map((item) => [item.index, { ...item }]));
  let running: KnownItems['running'] = { ...noItems, endedTries: 0 };
  let failures: readonly ItemRow[] = [];
  const ops: Record<string, (which: Parameters<typeof some>[1]) => void> = {
    start: (which) => {
      for (const item of some('queued', which)) Object.assign(item, { state: 'running', tries: item.tries + 1 });
    },
    complete: end('completed', false),
    fail: end('failed', true),
    failOnce: end('queued', true),
    readCounts() {
      counts = readCounts();
      wasRead = new Map(items.map((item) => [item.index, { ...item }]));
    },
    list({ count }) {
      const run = items.filter(({ state }) => state === 'running').map(({ index }) => index);
      const rows = run.slice(0, count * 10).map((index) => row(index, 'works'));
      running = { rows, indexes: new Set(run), endedTries: endedTries(counts) };
    },
    readFailures() {
      failures = items.filter(({ hasFailed }) => hasFailed).map(({ index }) => row(index, 'failed'));
    },
  };
  return {
    ops,
    known: (): KnownItems => ({ counts, running, failures }),
    stateOf: (index: number) => wasRead.get(index),
  };
}

it('shows no item that has ended as running, no more than run, and every failure that there is room for', () => {
  const kinds = Object.keys(createBatch().ops);
  const step = fc.record({
    kind: fc.constantFrom(...kinds),
    count: fc.integer({ min: 1, max: 40 }),
    from: fc.nat({ max: allItems }),
  });
  let seen = { running: 0, failed: 0, dropped: 0 };
  const steps = fc.array(step, { minLength: 10, maxLength: 60 });
  fc.assert(
    fc.property(steps, fc.integer({ min: 2, max: 2 * allItems }), (all, rows) => {
      const batch = createBatch();
      for (const { kind, ...which } of all) {
        batch.ops[kind]?.(which);
        const known = batch.known();
        const lines = itemLines({ ...known, nowMs: 0 }, { rows, width: 80, paint }).map(({ text }) => text);
        const shown = lines.flatMap((text) => {
          const [, index, phase] = /^i(\d+) +(\w+)/.exec(text) ?? [];
          return phase === undefined ? [] : { index: Number(index), phase };
        });
        const works = shown.filter(({ phase }) => phase === 'works').map(({ index }) => index);
        const failed = shown.filter(({ phase }) => phase === 'failed').map(({ index }) => index);
        const states = works.map((index) => batch.stateOf(index)?.state);
        expect(states.filter((state) => state === 'completed' || state === 'failed')).toEqual([]);
        expect(works.length).toBeLessThanOrEqual(known.counts.running);
        expect(new Set([...works, ...failed]).size).toBe(shown.length);
        const ended = known.failures.filter(({ index }) => batch.stateOf(index)?.state === 'failed');
        if (lines.length < rows) expect(failed).toEqual(expect.arrayContaining(ended.map(({ index }) => index)));
        else expect(failed.length).toBeGreaterThanOrEqual(Math.min(ended.length, Math.floor((rows - 2) / 2)));
        const isOld = known.running.endedTries !== endedTries(known.counts);
        seen = {
          running: seen.running + works.length,
          failed: seen.failed + failed.length,
          dropped: seen.dropped + (isOld ? known.running.rows.length : 0),
        };
      }
    }),
    { numRuns: 150 },
  );
  expect(Math.min(seen.running, seen.failed, seen.dropped)).toBeGreaterThan(500);
});

it('looks at the items again at most ten seconds after a look, however long that took', () => {
  expect([0, 600, 900, 10_000, 60_000].map(pauseAfterLookMs)).toEqual([5_000, 6_000, 9_000, 10_000, 10_000]);
});

it('gives up a look that has no answer when another connection replaces its own, and looks again at once', async () => {
  let connection = new AbortController();
  const end = new AbortController();
  const looks: string[] = [];
  const look = async (signal: AbortSignal) => {
    looks.push('began');
    if (looks.length > 1) return end.abort();
    await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
  };
  const looking = whileConnected(look, { view: { room: 9 }, replaced: () => connection.signal }, end.signal);
  const first = connection;
  connection = new AbortController();
  first.abort();
  await looking;
  expect(looks).toEqual(['began', 'began']);
});
