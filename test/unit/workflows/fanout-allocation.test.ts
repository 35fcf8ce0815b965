import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  allocateBudget,
  allocateConcurrency,
  type ConcurrencyHolder,
  isBudgetSpent,
} from '../../../workflows/fanout/batch/allocate.js';

const idle = (demand: number): ConcurrencyHolder => ({ demand, sent: 0, charged: 0 });
const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0);

describe('the concurrency of chunks', () => {
  it('is assigned from the front', () => {
    expect(allocateConcurrency(10, [idle(4), idle(100), idle(5)])).toEqual([4, 6, 0]);
  });

  it('counts until a chunk confirms a reduction', () => {
    const full = { demand: 100, sent: 10, charged: 10 };
    expect(allocateConcurrency(5, [full, idle(10)])).toEqual([5, 0]);
    const told = { demand: 100, sent: 5, charged: 10 };
    expect(allocateConcurrency(10, [told, idle(10)])).toEqual([10, 0]);
    expect(allocateConcurrency(10, [{ ...told, demand: 5 }, idle(10)])).toEqual([5, 0]);
    expect(allocateConcurrency(10, [{ demand: 5, sent: 5, charged: 5 }, idle(10)])).toEqual([5, 5]);
  });

  const holder = fc
    .record({ demand: fc.nat(50), sent: fc.nat(20), more: fc.nat(20) })
    .map(({ demand, sent, more }) => ({ demand, sent, charged: sent + more }));

  it('never lets more items run than allowed, whatever was granted before', () => {
    fc.assert(
      fc.property(fc.nat(60), fc.array(holder, { maxLength: 12 }), (limit, holders) => {
        const windows = allocateConcurrency(limit, holders);
        const after = sum(holders.map(({ charged }, at) => Math.max(charged, windows[at] ?? 0)));
        expect(after).toBeLessThanOrEqual(Math.max(limit, sum(holders.map(({ charged }) => charged))));
      }),
    );
  });

  it('is never more than the remaining items, and all of it is used once everything was returned', () => {
    fc.assert(
      fc.property(fc.nat(60), fc.array(fc.nat(50), { maxLength: 12 }), (limit, demands) => {
        const windows = allocateConcurrency(limit, demands.map(idle));
        for (const [at, window] of windows.entries()) expect(window).toBeLessThanOrEqual(demands[at] ?? 0);
        expect(sum(windows)).toBe(Math.min(limit, sum(demands)));
      }),
    );
  });
});

describe('the budget', () => {
  it('is granted as requested, or for one item, or not at all', () => {
    const wants = (wanted: number) => ({ charged: 10, next: 5, wanted });
    expect(allocateBudget(40, [wants(20), wants(20)])).toEqual([30, 10]);
    expect(allocateBudget(35, [wants(20), wants(20)])).toEqual([15, 15]);
    expect(allocateBudget(24, [wants(20), wants(20)])).toEqual([10, 10]);
    expect(allocateBudget(null, [wants(20)])).toEqual([null]);
  });

  const holder = fc
    .record({ charged: fc.nat(100), next: fc.nat(20), more: fc.nat(50) })
    .map(({ charged, next, more }) => ({ charged, next, wanted: next === 0 ? 0 : next + more }));

  it('is never exceeded by all grants together', () => {
    fc.assert(
      fc.property(fc.nat(500), fc.array(holder, { maxLength: 12 }), (limit, holders) => {
        const before = sum(holders.map(({ charged }) => charged));
        const grants = allocateBudget(limit, holders).map((grant) => grant ?? 0);
        expect(sum(grants)).toBeLessThanOrEqual(Math.max(limit, before));
        for (const [at, { charged, next }] of holders.entries()) {
          const gift = (grants[at] ?? 0) - charged;
          expect(gift === 0 || gift >= next).toBe(true);
        }
      }),
    );
  });

  it('is spent if something waits and nobody holds any more of it', () => {
    const waiting = { charged: 10, next: 6, wanted: 6, unspent: 0 };
    expect(isBudgetSpent(15, [waiting])).toBe(true);
    expect(isBudgetSpent(16, [waiting])).toBe(false);
    expect(isBudgetSpent(15, [waiting, { charged: 0, next: 0, wanted: 0, unspent: 3 }])).toBe(false);
    expect(isBudgetSpent(15, [{ ...waiting, next: 0 }])).toBe(false);
    expect(isBudgetSpent(15, [waiting, { ...waiting, charged: 0, next: 4 }])).toBe(false);
    expect(isBudgetSpent(null, [waiting])).toBe(false);
  });
});
