import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { anySignal, timeLimit, withAnySignal } from '../../../src/os/any-signal.js';
import { collectGarbage } from './collect-garbage.js';

const never = new AbortController();
const timeoutMs = 100;

const limits = { timeLimit, 'AbortSignal.timeout': (ms: number) => AbortSignal.timeout(ms) };
const limited = (limit = timeLimit) => anySignal([limit(timeoutMs), never.signal]);
const nested = (limit = timeLimit) => anySignal([never.signal, anySignal([limited(limit), never.signal])]);

describe('anySignal', () => {
  it.each(Object.entries(limits))(
    'fires at a time limit (%s) that nothing else holds, after garbage collections',
    async (_, limit) => {
      const fired: string[] = [];
      const listen = (name: string, signal: AbortSignal) => signal.addEventListener('abort', () => fired.push(name));
      const wait = (name: string, signal: AbortSignal) => {
        sleep(2 ** 31 - 1, undefined, { signal, ref: false }).catch(() => fired.push(name));
      };
      const kept = limited(limit);
      const keptNested = nested(limit);
      listen('listened', limited(limit));
      listen('nested, listened', nested(limit));
      wait('waited', limited(limit));
      wait('nested, waited', nested(limit));
      await collectGarbage();
      await expect.poll(() => kept.aborted && keptNested.aborted).toBe(true);
      expect(kept.reason).toMatchObject({ name: 'TimeoutError' });
      await expect.poll(() => fired.toSorted()).toEqual(['listened', 'nested, listened', 'nested, waited', 'waited']);
    },
  );

  it('aborts with the reason of the first signal that aborts, also one that already has', () => {
    const stop = new AbortController();
    const signal = anySignal([never.signal, stop.signal]);
    expect(signal.aborted).toBe(false);
    stop.abort('stopped');
    expect(signal.reason).toBe('stopped');
    expect(anySignal([never.signal, stop.signal]).reason).toBe('stopped');
  });

  it('does not outlive its use, although a source of it lives on', async () => {
    const signals = [limited, nested].map((make) => new WeakRef(make()));
    const left = async () => {
      await collectGarbage();
      return signals.map((signal) => signal.deref());
    };
    await expect.poll(left).toEqual([undefined, undefined]);
  });
});

describe('withAnySignal', () => {
  it('gives a signal that aborts with the first of several, also with one that already has', async () => {
    const stop = new AbortController();
    const reasonOf = (signals: readonly AbortSignal[], then = () => {}) =>
      withAnySignal(signals, async (signal) => {
        then();
        return signal.reason;
      });
    expect(await reasonOf([never.signal, stop.signal], () => stop.abort('stopped'))).toBe('stopped');
    expect(await reasonOf([stop.signal, never.signal])).toBe('stopped');
  });

  it('holds no listener that a use has left behind, although a source lives on', async () => {
    const use = async (signals: readonly AbortSignal[]) => {
      const listener = () => {};
      await withAnySignal(signals, async (signal) => signal.addEventListener('abort', listener));
      return new WeakRef(listener);
    };
    const uses = await Promise.all([use([never.signal]), use([never.signal, timeLimit(2 ** 30)])]);
    const left = async () => {
      await collectGarbage();
      return uses.map((listener) => listener.deref());
    };
    await expect.poll(left).toEqual([undefined, undefined]);
  });
});
