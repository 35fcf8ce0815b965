import { describe, expect, it } from 'vitest';
import type { ChunkInput } from '../../../src/protocol/fanout/batch-parts.js';
import type { ItemOutcome } from '../../../src/protocol/fanout/fanout-input.js';
import { countsOf, unfinished } from '../../../workflows/fanout/batch/counts.js';
import { endReasonOf, outcomeOf } from '../../../workflows/fanout/batch/end-decision.js';
import { placeProblem, sealProblem } from '../../../workflows/fanout/batch/handlers.js';
import { reservedSeconds } from '../../../workflows/fanout/chunk/budget.js';
import {
  isFailure,
  isFreelyTriedAgain,
  isRetriable,
  isSourceLost,
  isTriedAgain,
  resumptionOf,
} from '../../../workflows/fanout/chunk/retry-policy.js';
import { slotOf, startingItem } from '../../../workflows/fanout/chunk/slot.js';
import { defaultFanoutIntervals } from '../../../workflows/shared/wait-intervals.js';
import { policy } from '../../workflows/fanout/policy.js';

const known = (outcome: ItemOutcome, generation = 1) => ({
  index: 0,
  generation,
  outcome,
  errorCode: null,
  machineSeconds: 1,
  newestSeconds: 1,
  toEnd: null,
  startsFrom: null,
});

describe('an ended item', () => {
  it.each([
    ['completed', false, false],
    ['unverified', true, true],
    ['prompt_failed', true, true],
    ['sandbox_failed', true, true],
    ['sandbox_cancelled', true, true],
    ['deadline_exceeded', true, true],
    ['outcome_unknown', true, true],
    ['rejected', true, false],
    ['cancelled', false, false],
    ['not_started', false, false],
  ] as const)('%s: has failed %s, may be retried %s', (outcome, failed, again) => {
    expect([isFailure(outcome), isRetriable({ outcome, errorCode: null })]).toEqual([failed, again]);
  });

  it('is retried as often as requested; after a refusal only if it may pass', () => {
    const failed = { outcome: 'prompt_failed', errorCode: null } as const;
    expect([0, 1, 2].map((retried) => isTriedAgain(failed, retried, { retries: 2 }))).toEqual([true, true, false]);
    expect(isRetriable({ outcome: 'unverified', errorCode: 'check_repeated' })).toBe(true);
    expect(isRetriable({ outcome: 'unverified', errorCode: 'check_not_started' })).toBe(false);
    expect(isRetriable({ outcome: 'rejected', errorCode: 'fork_failed' })).toBe(true);
    expect(isRetriable({ outcome: 'rejected', errorCode: 'provider_not_configured' })).toBe(false);
  });

  it.each([
    ['agent', false, false],
    ['check', false, false],
    ['provider', false, false],
    ['setup', false, false],
    ['cancelled', false, false],
    ['machine', true, true],
    ['service', true, true],
    ['sandflow', true, true],
    [null, false, false],
    [undefined, false, false],
  ] as const)(
    'is tried again for nothing after a failure of %s: without a prompt %s, after one with retries %s',
    (failureClass, unsent, sent) => {
      const failed = { outcome: 'sandbox_failed', errorCode: null, failureClass } as const;
      const again = (wasPrompted: boolean | undefined, retries: number, excused = 0) =>
        isFreelyTriedAgain({ ...failed, ...(wasPrompted !== undefined && { wasPrompted }) }, excused, { retries });
      expect([again(false, 0), again(true, 1)]).toEqual([unsent, sent]);
      // Nobody has asked for a second prompt, or it is unknown whether there was a first.
      expect([again(true, 0), again(undefined, 0)]).toEqual([false, false]);
      expect([again(false, 0, 2), again(false, 0, 3), again(true, 9, 3)]).toEqual([unsent, false, false]);
      const refused = { ...failed, outcome: 'rejected', wasPrompted: false } as const;
      expect(isFreelyTriedAgain(refused, 0, { retries: 1 })).toBe(false);
    },
  );

  it.each([
    ['outcome_unknown', 'outcome_unknown', 'service', false],
    ['sandbox_failed', 'sandbox_stopped', 'machine', false],
    ['sandbox_failed', 'sandbox_gone', 'machine', false],
    ['deadline_exceeded', 'deadline_exceeded', 'service', false],
    ['deadline_exceeded', 'deadline_exceeded', 'machine', true],
    ['sandbox_failed', 'sandbox_error', 'machine', true],
  ] as const)('after %s (%s, %s) costs no retry: %s', (outcome, errorCode, failureClass, isFree) => {
    const ended = { outcome, errorCode, failureClass, wasPrompted: false };
    expect([0, 1].map((retries) => isFreelyTriedAgain(ended, 0, { retries }))).toEqual([isFree, isFree]);
    expect(isTriedAgain(ended, 0, { retries: 1 })).toBe(true);
  });

  it('reports a lost source only if nothing was forked', () => {
    const refused = { outcome: 'rejected', errorCode: 'snapshot_data_expired' } as const;
    expect(isSourceLost(refused, null)).toBe(true);
    expect(isSourceLost(refused, 'bx_22222222')).toBe(false);
    expect(isSourceLost({ ...refused, errorCode: 'provider_not_configured' }, null)).toBe(false);
  });
});

describe('an item of an earlier start', () => {
  const options = { retryFailed: true, retries: 0 };

  it('is not repeated if it is done, and runs with its first keys if it left nothing', () => {
    expect(resumptionOf(known('completed'), options)).toEqual({ kind: 'done' });
    expect(resumptionOf(null, options)).toEqual({ kind: 'run', generation: 1, lookFirst: true, retried: 0 });
  });

  it('continues as its next generation if it was cut short, and also if it failed and retries are requested', () => {
    const next = { kind: 'run', generation: 4, lookFirst: true, retried: 0 };
    expect(resumptionOf(known('cancelled', 3), { ...options, retryFailed: false })).toEqual(next);
    expect(resumptionOf(known('prompt_failed', 3), options)).toEqual(next);
    expect(resumptionOf(known('rejected', 3), options)).toEqual(next);
    expect(resumptionOf(known('prompt_failed', 3), { ...options, retryFailed: false })).toEqual({ kind: 'done' });
  });

  it('keeps its remaining retries if its chunk starts again in the same execution', () => {
    const inPlace = { retryFailed: false, retries: 2 };
    expect(resumptionOf(known('prompt_failed', 2), inPlace)).toMatchObject({ kind: 'run', generation: 3, retried: 2 });
    expect(resumptionOf(known('prompt_failed', 3), inPlace)).toEqual({ kind: 'done' });
  });
});

describe('an item of an earlier start that failed by others', () => {
  const inPlace = { retryFailed: false, retries: 1 };
  const broken = (generation: number, excused: readonly number[]) =>
    ({ ...known('sandbox_failed', generation), failureClass: 'machine', wasPrompted: false, excused }) as const;

  it('is tried again without counting, as often as three times', () => {
    const at = (generation: number, excused: number[]) => resumptionOf(broken(generation, excused), inPlace);
    expect(at(1, [1])).toMatchObject({ kind: 'run', generation: 2, retried: 0, excused: 1 });
    expect(at(3, [1, 2, 3])).toMatchObject({ generation: 4, retried: 0, excused: 3 });
    expect(at(4, [1, 2, 3, 4])).toMatchObject({ generation: 5, retried: 1, excused: 3 });
    expect(at(5, [1, 2, 3, 4, 5])).toEqual({ kind: 'done' });
  });

  it('keeps its retries for the agent, and forgets what was before a change', () => {
    const failed = { ...known('prompt_failed', 3), failureClass: 'agent', wasPrompted: true, excused: [1, 2] } as const;
    expect(resumptionOf(failed, inPlace)).toMatchObject({ generation: 4, retried: 1, excused: 2 });
    expect(resumptionOf({ ...failed, excused: [1] }, inPlace)).toEqual({ kind: 'done' });
    const next = { after: 2, isNamed: true };
    expect(resumptionOf({ ...failed, excused: [1] }, { ...inPlace, next })).toMatchObject({ retried: 1, excused: 0 });
  });
});

describe('the counts of a batch', () => {
  const chunk = {
    items: 10,
    report: { running: 2, byOutcome: { completed: 3, prompt_failed: 1, cancelled: 1 }, retried: 2, hasEnded: false },
  };

  it('add up to its items, and those that were left count as not started', () => {
    const running = countsOf([chunk, { items: 5, report: null }], false);
    expect(running).toMatchObject({ items: 15, queued: 8, running: 2, completed: 3, failed: 1, retried: 2 });
    const over = countsOf(
      [
        { ...chunk, report: { ...chunk.report, running: 0 } },
        { items: 5, report: null },
      ],
      true,
    );
    expect(over).toMatchObject({ queued: 0, failed: 1, byOutcome: { not_started: 10, cancelled: 1 } });
    expect(unfinished(chunk)).toBe(5);
    const classes = [{ agent: 1 }, { agent: 2, machine: 1 }].map((byClass) => ({ ...chunk.report, byClass }));
    const both = countsOf([chunk, ...classes.map((report) => ({ items: 10, report }))], false);
    expect(both.byClass).toEqual({ agent: 3, machine: 1 });
  });

  it('end it when they should', () => {
    const counts = countsOf([chunk], false);
    expect(endReasonOf(counts, policy)).toBeUndefined();
    expect(endReasonOf(counts, { stopAt: { kind: 'fail_fast' } })).toBe('failed_fast');
    expect(endReasonOf(counts, { stopAt: { kind: 'successes', count: 3 } })).toBe('enough');
    expect(endReasonOf(counts, { stopAt: { kind: 'successes', count: 4 } })).toBeUndefined();
  });

  it('determine its outcome', () => {
    const all = countsOf(
      [{ items: 1, report: { running: 0, byOutcome: { completed: 1 }, retried: 0, hasEnded: true } }],
      true,
    );
    const some = countsOf([chunk], true);
    expect(outcomeOf(null, all, policy, true)).toBe('completed');
    expect(outcomeOf('cancelled', all, policy, true)).toBe('completed');
    expect(outcomeOf(null, some, policy, true)).toBe('partly_failed');
    expect(outcomeOf('cancelled', some, policy, true)).toBe('cancelled');
    expect(outcomeOf('budget_spent', some, policy, true)).toBe('budget_spent');
    expect(outcomeOf('enough', some, { stopAt: { kind: 'successes', count: 3 } }, true)).toBe('completed');
    expect(outcomeOf(null, some, { stopAt: { kind: 'fail_fast' } }, true)).toBe('failed_fast');
    expect(outcomeOf('cancelled', all, policy, false)).toBe('cancelled');
    expect(outcomeOf('source_failed', countsOf([], true), policy, true)).toBe('source_failed');
  });
});

it('reserve deadline and clean-up, by the size of the machine', () => {
  const terms = {
    policy: { ...policy, itemDeadlineMs: 50_000 },
    sourceType: 'default' as const,
    timing: { cleanUpMs: 10_000 },
  } as const;
  expect(reservedSeconds({}, terms)).toBe(60);
  expect(reservedSeconds({ deadlineMs: 20_000, type: 'large' }, terms)).toBe(60);
  expect(reservedSeconds({}, { ...terms, policy: { ...terms.policy, type: 'small' } })).toBe(30);
  expect(reservedSeconds({}, { ...terms, sourceType: 'large' })).toBe(120);
});

describe('the place of a chunk', () => {
  const known = [
    { chunk: 0, firstIndex: 0, items: 3 },
    { chunk: 3, firstIndex: 9, items: 2 },
  ];

  it('gives every item its own index', () => {
    const at = (chunk: number, firstIndex: number, items: number) => placeProblem(known, { chunk, firstIndex, items });
    expect(placeProblem([], { chunk: 0, firstIndex: 0, items: 1 })).toBeUndefined();
    expect([at(1, 3, 2), at(2, 5, 4), at(4, 11, 1), at(6, 40, 1)]).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    expect(at(1, 2, 2)).toBe('chunk 1 begins at item 2, but the chunk before it ends at 3.');
    expect(at(1, 3, 7)).toContain('chunk 3 begins at item 9');
    expect(at(2, 5, 3)).toContain('chunk 3 begins at item 9');
    expect(placeProblem([], { chunk: 0, firstIndex: 1, items: 1 })).toContain('ends at 0');
  });
});

describe('a seal', () => {
  const records = [
    { chunk: 0, firstIndex: 0, items: 3 },
    { chunk: 1, firstIndex: 3, items: 2 },
  ];

  it('fits chunks that follow each other without a gap', () => {
    expect(sealProblem(records, { chunks: 2, items: 5 })).toBeUndefined();
    expect(sealProblem(records, { chunks: 2, items: 6 })).toContain('5 items');
    expect(sealProblem(records, { chunks: 4, items: 5 })).toContain('missing: 2, 3');
    expect(sealProblem(records, { chunks: 1, items: 3 })).toContain('beyond');
    expect(sealProblem([...records, { chunk: 2, firstIndex: 6, items: 1 }], { chunks: 3, items: 6 })).toContain(
      'chunk 2 begins at item 6',
    );
  });
});

describe('an item whose workflow ran when a chunk took it over', () => {
  it('is not run again if it ended before its result was read', () => {
    const place = { index: 0, item: { id: 'a', prompts: [{ prompt: 'x' }] } };
    const grant = { seq: 1, window: 1, budgetSeconds: null, pausedUntilMs: null, isEnding: false };
    const chunk: ChunkInput = {
      ...{ deployment: 'test', batchId: 'b', batchKey: 'k', chunk: 0, firstIndex: 0, items: 1, attempt: 2 },
      ...{
        isFresh: false,
        retryFailed: false,
        sourceType: 'default',
        deadlineAtMs: 1,
        pace: defaultFanoutIntervals,
        policy,
        grant,
      },
      source: { kind: 'fork', sandboxId: 'bx_22222222' },
    };
    const running = startingItem(known('completed', 1), { isRunning: true, isLost: false, chunk });
    expect(running).toMatchObject({ state: 'running', generation: 1, settled: 1 });
    expect(slotOf(place, running, chunk).isAttached).toBe(true);
    const broken = { ...known('sandbox_failed', 2), failureClass: 'machine', excused: [1, 2] } as const;
    expect(startingItem(broken, { isRunning: true, isLost: false, chunk })).toMatchObject({ retried: 0, excused: 2 });
    const next = startingItem(null, { isRunning: true, isLost: false, chunk });
    expect(next).toMatchObject({ state: 'running', generation: 1, settled: 0 });
  });
});
