import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { anySignal } from '../../../src/os/any-signal.js';
import { collectGarbage } from './collect-garbage.js';

const never = new AbortController();
const timeoutMs = 100;

const limited = () => anySignal([AbortSignal.timeout(timeoutMs), never.signal]);
const nested = () => anySignal([never.signal, anySignal([limited(), never.signal])]);

describe('anySignal', () => {
  it('fires at a time limit that nothing else holds, after garbage collections', async () => {
    const fired: string[] = [];
    const listen = (name: string, signal: AbortSignal) => signal.addEventListener('abort', () => fired.push(name));
    const wait = (name: string, signal: AbortSignal) => {
      sleep(2 ** 31 - 1, undefined, { signal, ref: false }).catch(() => fired.push(name));
    };
    const kept = limited();
    const keptNested = nested();
    listen('listened', limited());
    listen('nested, listened', nested());
    wait('waited', limited());
    wait('nested, waited', nested());
    await collectGarbage();
    await expect.poll(() => kept.aborted && keptNested.aborted).toBe(true);
    expect(kept.reason).toMatchObject({ name: 'TimeoutError' });
    await expect.poll(() => fired.toSorted()).toEqual(['listened', 'nested, listened', 'nested, waited', 'waited']);
  });

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
