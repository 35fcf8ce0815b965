/** Which items a resume runs again, and what decides it. */
import { describe, expect, it } from 'vitest';
import type { ChangedItem } from '../../../src/protocol/fanout/batch-parts.js';
import type { FanoutItem, ItemOutcome } from '../../../src/protocol/fanout/fanout-input.js';
import { turnOf } from '../../../src/protocol/fanout/next-turn.js';
import { namedIds, plannedTurn } from '../../../src/workflow-client/fanouts/plan-resume.js';
import { resumptionOf } from '../../../workflows/fanout/chunk/retry-policy.js';

const item = (prompt: string): FanoutItem => ({ id: 'a', prompts: [{ prompt }] });
const ended = (outcome: ItemOutcome, generation = 1) => ({
  ...{ index: 0, generation, outcome, errorCode: null },
  ...{ machineSeconds: 1, newestSeconds: 1, toEnd: null, startsFrom: null },
});
const changed = (prompt: string, after: number, isNamed = true): ChangedItem => ({
  ...{ at: 0, item: item(prompt), after, isNamed },
});

describe('the plan of a resume', () => {
  const all = { isNamed: undefined, retryFailed: true, next: item('new') };
  const named = { ...all, isNamed: true };

  it('without names takes what has not completed, and failed items unless they are left out', () => {
    const turns = (retryFailed: boolean) =>
      [null, ended('completed'), ended('prompt_failed'), ended('cancelled')].map((known) =>
        plannedTurn(known, undefined, { ...all, retryFailed }),
      );
    expect(turns(true)).toEqual(['run', 'leave', 'run', 'run']);
    expect(turns(false)).toEqual(['run', 'leave', 'leave', 'run']);
  });

  it('with names takes exactly those, also completed ones', () => {
    expect(plannedTurn(ended('completed'), undefined, named)).toBe('run');
    expect(plannedTurn(ended('prompt_failed'), undefined, { ...all, isNamed: false })).toBe('leave');
  });

  it('does not prompt twice for the same command: what completed with exactly this is done', () => {
    const again = (known: ReturnType<typeof ended>, prompt: string) =>
      plannedTurn(known, changed('new', 1), { ...named, next: item(prompt) });
    expect(again(ended('completed', 2), 'new')).toBe('done');
    expect(again(ended('completed', 2), 'other')).toBe('run');
    expect(again(ended('prompt_failed', 2), 'new')).toBe('run');
    expect(again(ended('completed', 1), 'new'), 'it was cut before its turn').toBe('run');
    const other = changed('new', 1, false);
    expect(plannedTurn(ended('completed', 2), other, named), 'another command came between').toBe('run');
  });

  it('still runs a completed item that was named, if the batch was cancelled before its turn', () => {
    expect(plannedTurn(ended('completed', 1), changed('new', 1), all)).toBe('run');
    expect(plannedTurn(ended('completed', 2), changed('new', 1), all)).toBe('leave');
  });

  it('knows items by their ids, and by lists of them, and names those nearest to an unknown one', () => {
    const ids = new Set(['row-03', 'row-09', 'a,b']);
    const batch = { batchId: 'people' };
    expect([...namedIds(['row-03, row-09', 'a,b'], ids, batch)]).toEqual(['row-03', 'row-09', 'a,b']);
    expect(() => namedIds(['row-3'], ids, batch)).toThrow('has no item "row-3". The nearest ids are row-03, row-09');
  });
});

describe('an item of a resumed chunk', () => {
  const options = { retryFailed: true, retries: 0 };
  const next = { after: 1, isNamed: true };

  it('runs its next generation if it was changed after it had completed, and only once', () => {
    expect(resumptionOf(ended('completed', 1), { ...options, next })).toEqual({
      ...{ kind: 'run', generation: 2, lookFirst: true, retried: 0 },
    });
    expect(resumptionOf(ended('completed', 2), { ...options, next })).toEqual({ kind: 'done' });
  });

  it('is left alone if others are named, whatever its outcome', () => {
    for (const known of [null, ended('prompt_failed'), ended('cancelled')]) {
      expect(resumptionOf(known, { ...options, only: true })).toEqual({ kind: 'done' });
      expect(resumptionOf(known, { ...options, only: true, next: { ...next, isNamed: false } })).toEqual({
        kind: 'done',
      });
    }
  });

  it('counts the retries of the change alone, if its chunk starts again', () => {
    const inPlace = { retryFailed: false, retries: 2, next: { after: 4, isNamed: true } };
    expect(resumptionOf(ended('prompt_failed', 6), inPlace)).toMatchObject({ kind: 'run', generation: 7, retried: 2 });
    expect(resumptionOf(ended('prompt_failed', 7), inPlace)).toEqual({ kind: 'done' });
  });

  it('takes its turn by what has ended since the change', () => {
    expect(turnOf(null, { next: { after: 0, isNamed: true }, only: true })).toBe('again');
    expect(turnOf({ generation: 1 }, { next: { after: 0, isNamed: true }, only: true })).toBe('as_ever');
  });
});
