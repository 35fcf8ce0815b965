/** The real batch and chunks with delayed signals between them: in any order, and through every continue-as-new of a chunk, nobody uses too much, or starts items that must fail. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type {
  CarriedBatch,
  ChunkGrant,
  ChunkRecord,
  ChunkReport,
  FullGrant,
} from '../../../src/protocol/fanout/batch-parts.js';
import type { ItemSummary } from '../../../src/protocol/fanout/fanout-result.js';
import { isBudgetSpent } from '../../../workflows/fanout/batch/allocate.js';
import {
  applyReport,
  budgetHolderOf,
  keptReport,
  newRecord,
  recordGrant,
} from '../../../workflows/fanout/batch/chunk-record.js';
import { countsOf, endedIn } from '../../../workflows/fanout/batch/counts.js';
import { dueGrants } from '../../../workflows/fanout/batch/due-grants.js';
import { endedCanariesOf, holdDue } from '../../../workflows/fanout/batch/hold-decision.js';
import { ChunkState } from '../../../workflows/fanout/chunk/chunk-state.js';
import { reportOf } from '../../../workflows/fanout/chunk/report-to-batch.js';
import { streakAfter } from '../../../workflows/fanout/failure-streak.js';
import { defaultFanoutIntervals } from '../../../workflows/shared/wait-intervals.js';

interface World {
  readonly concurrency: number;
  readonly budgetSeconds: number | null;
  /** Default: 0. */
  readonly breaker?: number;
  /** Default: 0. */
  readonly canary?: number;
  /** True for an item that the service refuses for good. Default: none. */
  readonly refuses?: (index: number) => boolean;
  /** Items of each chunk. */
  readonly sizes: readonly number[];
  /** The next event, at random. */
  readonly picks: readonly number[];
}

const worlds: fc.Arbitrary<World> = fc.record({
  concurrency: fc.integer({ min: 1, max: 6 }),
  budgetSeconds: fc.option(fc.integer({ min: 0, max: 100 }), { nil: null }),
  sizes: fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 2, maxLength: 4 }),
  picks: fc.array(fc.nat(1_000), { minLength: 1_000, maxLength: 1_000 }),
});

const refusal = { code: 'provider_not_configured', message: '', status: 409, requestId: null, details: null };

/** A small item reserves 5 machine-seconds, a large one 20. */
const typeOf = (index: number) => (index % 3 === 0 ? 'large' : 'small');

function chunkOf(
  record: ChunkRecord,
  grant: FullGrant,
  { concurrency, budgetSeconds, breaker = 0, canary = 0 }: World,
): ChunkState {
  const run = new ChunkState({
    deployment: 'test',
    batchId: 'b',
    batchKey: 'k',
    ...record,
    isFresh: true,
    source: { kind: 'fork', sandboxId: 'bx_22222222' },
    sourceType: 'default',
    policy: {
      concurrency,
      stopAt: { kind: 'go_on' },
      retries: 1,
      breaker,
      canary,
      itemDeadlineMs: 8_000,
      deadlineMs: 60_000,
      budgetSeconds,
      type: null,
      end: 'delete',
      ttlSeconds: 600,
      onUnknownOutcome: 'wait',
    },
    deadlineAtMs: Number.MAX_SAFE_INTEGER,
    timing: { cleanUpMs: 2_000 },
    pace: defaultFanoutIntervals,
    grant,
  });
  const items = Array.from({ length: record.items }, (_, at) => {
    const index = record.firstIndex + at;
    return { id: `${index}`, prompts: [], type: typeOf(index) } as const;
  });
  run.load(items, []);
  return run;
}

/** The next run of the chunk. */
function continued(run: ChunkState): ChunkState {
  const next = new ChunkState(JSON.parse(JSON.stringify(run.carry())));
  next.loadCarried(run.slots.map(({ item }) => item));
  expect(next.carried).toEqual(run.carried);
  return next;
}

/** @returns what is left when nothing more can happen, or the picks are used up */
function play(world: World, check: (state: { readonly atWork: number; readonly taken: number }) => void) {
  const { concurrency, budgetSeconds, sizes, breaker = 0, canary = 0, refuses = () => false } = world;
  const batch: Pick<CarriedBatch, 'streak' | 'held' | 'isProven'> = {};
  /** Places of the items in the order of their starts. */
  const started: number[] = [];
  let firstIndex = 0;
  const records = sizes.map((items, chunk) => {
    const record = newRecord({ chunk, firstIndex, items, digest: '' }, 0);
    firstIndex += items;
    return record;
  });
  const runs = new Map<number, ChunkState>();
  const grants = new Map<number, ChunkGrant[]>();
  const reports = new Map<number, ChunkReport[]>();
  const told = new Map<number, number>();
  let nowMs = 1;
  let limit = concurrency;

  const share = () => {
    nowMs += 1;
    const { streak = null, isProven = false } = batch;
    const counts = countsOf(records, false);
    const endedCanaries = endedCanariesOf(records, records, canary);
    const state = { streak, counts, endedCanaries, isSealed: true, isProven };
    const due = batch.held ? null : holdDue(state, { breaker, canary });
    if (due === 'proven') batch.isProven = true;
    else if (due !== null && streak) batch.held = { by: due, ...streak, since: '' };
    const sourceOf = () => ({ hasSource: true, isDraining: batch.held != null, isEnding: false });
    const holding = { sourceOf, isProven: batch.isProven === true, canaries: canary };
    const isBusy = (chunk: number) => (grants.get(chunk) ?? []).length > 0;
    const terms = { limit, budgetSeconds, pausedUntilMs: null, ...holding };
    for (const { record, grant } of dueGrants(records, { ...terms, nowMs, isBusy })) {
      const isStart = record.state === 'waiting';
      recordGrant(record, grant);
      if (!isStart) grants.set(record.chunk, [grant]);
      else {
        Object.assign(record, { state: 'open', attempt: 1 });
        runs.set(record.chunk, chunkOf(record, grant, world));
      }
    }
  };

  const steps = (): (() => void)[] => {
    const possible: (() => void)[] = [];
    for (const [chunk, run] of runs) {
      const slot = run.next(nowMs);
      if (slot) {
        possible.push(() => {
          slot.carried.state = 'running';
          started.push(slot.index);
        });
      }
      for (const running of run.running) {
        const summary: ItemSummary = {
          index: running.index,
          generation: running.carried.generation,
          outcome: (running.index + running.carried.generation) % 2 === 0 ? 'completed' : 'prompt_failed',
          sandboxId: null,
          endedAsAsked: true,
          machineSeconds: running.costSeconds * ((running.index % 4) / 3),
          resultRef: null,
          ending: null,
          apiCalls: 1,
          error: null,
          left: [],
          ...(refuses(running.index) && { outcome: 'rejected', error: refusal }),
        };
        possible.push(() => run.settle(running, summary));
      }
      const [grant, ...later] = grants.get(chunk) ?? [];
      if (grant) {
        possible.push(() => {
          run.applyGrant(grant);
          grants.set(chunk, later);
        });
      }
      const sent = reports.get(chunk) ?? [];
      if (told.get(chunk) !== run.changes && sent.length === 0) {
        possible.push(() => {
          told.set(chunk, run.changes);
          reports.set(chunk, [reportOf(run)]);
        });
      }
      const record = records[chunk];
      if (sent[0] && record) {
        const report = sent[0];
        possible.push(() => {
          // As the batch counts it.
          const before = endedIn(record.report);
          if (applyReport(record, report)) {
            const news = { ended: endedIn(report) - before, streak: report.streak ?? null };
            batch.streak = streakAfter(batch.streak ?? null, news);
            record.report = keptReport(report);
          }
          reports.set(chunk, []);
          share();
        });
      }
    }
    return possible;
  };

  share();
  for (const [at, pick] of world.picks.entries()) {
    // The service throttles for a limited time.
    if (at < 200 && pick % 10 === 0) {
      limit = 1 + (pick % concurrency);
      share();
    } else if (limit !== concurrency && at >= 200) {
      limit = concurrency;
      share();
    }
    const chunk = pick % sizes.length;
    const run = runs.get(chunk);
    if (run && at < 200 && pick % 7 === 0) {
      runs.set(chunk, continued(run));
      told.delete(chunk);
    }
    const possible = steps();
    const step = possible[pick % Math.max(1, possible.length)];
    if (!step) return { records, runs, isOver: true, batch, started };
    step();
    const all = [...runs.values()];
    check({
      atWork: all.reduce((sum, run) => sum + run.running.length, 0),
      taken: all.reduce((sum, run) => sum + run.carried.spentSeconds + run.reservedSeconds, 0),
    });
  }
  return { records, runs, isOver: false, batch, started };
}

it('the protocol never runs more items, nor uses more budget, than allowed', () => {
  fc.assert(
    fc.property(worlds, (world) => {
      play(world, ({ atWork, taken }) => {
        expect(atWork).toBeLessThanOrEqual(world.concurrency);
        if (world.budgetSeconds !== null) expect(taken).toBeLessThanOrEqual(world.budgetSeconds);
      });
    }),
    { endOnFailure: true, numRuns: 400 },
  );
});

it('the protocol ends: every item has ended, or the budget has no room for a waiting one', () => {
  fc.assert(
    fc.property(worlds, (world) => {
      const { records, runs, isOver } = play(world, () => undefined);
      expect(isOver).toBe(true);
      const isDone = records.every(({ state }) => state === 'ended');
      const isSpent = isBudgetSpent(world.budgetSeconds, records.map(budgetHolderOf));
      const left = [...runs.values()].map(
        (run) => `${run.waiting.length} waiting, ${JSON.stringify(run.carried.grant)}`,
      );
      expect(isDone || isSpent, left.join('\n')).toBe(true);
    }),
    { endOnFailure: true, numRuns: 400 },
  );
});

const failing = fc
  .record({ world: worlds, breaker: fc.integer({ min: 1, max: 5 }), goods: fc.array(fc.boolean(), { maxLength: 20 }) })
  .map(({ world, breaker, goods }) => ({ ...world, budgetSeconds: null, breaker, goods }));

it('an identical permanent failure starts at most as many items as the breaker and the concurrency say', () => {
  fc.assert(
    fc.property(failing, (world) => {
      const { started, batch, isOver } = play({ ...world, refuses: () => true }, () => undefined);
      expect(isOver).toBe(true);
      expect(started.length).toBeLessThan(world.breaker + world.concurrency);
      const items = world.sizes.reduce((sum, size) => sum + size, 0);
      if (started.length < items) expect(batch.held).toMatchObject({ by: 'breaker', code: refusal.code });
    }),
    { endOnFailure: true, numRuns: 400, seed: 56 },
  );
});

it('a batch of which other items succeed is held or ends, and never waits for an answer', () => {
  fc.assert(
    fc.property(failing, (world) => {
      const refuses = (index: number) => world.goods[index] !== true;
      const { records, batch, isOver } = play({ ...world, refuses }, () => undefined);
      expect(isOver).toBe(true);
      expect(batch.held != null || records.every(({ state }) => state === 'ended')).toBe(true);
    }),
    { endOnFailure: true, numRuns: 400, seed: 56 },
  );
});

it('canaries of any size get the budget that other items wait for', () => {
  fc.assert(
    fc.property(worlds, fc.integer({ min: 1, max: 6 }), (world, canary) => {
      const { records, batch, isOver } = play({ ...world, canary }, () => undefined);
      expect(isOver).toBe(true);
      const isSpent = isBudgetSpent(world.budgetSeconds, records.map(budgetHolderOf));
      expect(batch.held != null || isSpent || records.every(({ state }) => state === 'ended')).toBe(true);
    }),
    { endOnFailure: true, numRuns: 400, seed: 56 },
  );
});

it('no other item starts before the canaries have ended, and none after they have failed alike', () => {
  fc.assert(
    fc.property(failing, fc.integer({ min: 1, max: 6 }), (world, canary) => {
      const refuses = (index: number) => world.goods[index] !== true;
      const { started, batch, isOver, records } = play({ ...world, breaker: 0, canary, refuses }, () => undefined);
      expect(isOver).toBe(true);
      const items = world.sizes.reduce((sum, size) => sum + size, 0);
      const canaries = Math.min(canary, items);
      const first = started.findIndex((index) => index >= canaries);
      const before = started.slice(0, first < 0 ? undefined : first);
      expect(new Set(before).size).toBe(canaries);
      const alike = Array.from({ length: canaries }, (_, index) => refuses(index)).every(Boolean);
      if (alike && items > canaries) {
        expect(batch.held).toMatchObject({ by: 'canary', count: canaries });
        expect(first).toBe(-1);
      } else expect(records.every(({ state }) => state === 'ended')).toBe(true);
    }),
    { endOnFailure: true, numRuns: 400, seed: 56 },
  );
});
