import { setMaxListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createFollower, createFollowHub } from '../../../activities/prompt/follow-hub.js';
import { ApiError, type SandboxClient } from '../../../src/client/index.js';
import type { Sandbox } from '../../../src/contract/records/sandbox-records.js';
import { errorMeaning } from '../../../src/contract/workflow-safe/error-codes.js';

const sandbox = (id: string, state = 'running'): Sandbox => ({ id, state });
const refusal = (status: number, code: string) =>
  new ApiError('no', {
    endpoint: 'listSandboxes',
    status,
    code,
    typed: true,
    meaning: errorMeaning(status, code),
    requestId: null,
    retryAfterMs: null,
    details: null,
  });

/** The hub calls only the list, so only the list exists. */
function serviceWith(list: () => Promise<Sandbox[]>) {
  const listAllSandboxes = vi.fn(list);
  return { listAllSandboxes, client: { listAllSandboxes } as unknown as SandboxClient };
}

const idle = () => new AbortController().signal;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('the follow hub', () => {
  it('reads once per tick for all follows, regardless of their number', async () => {
    const { client, listAllSandboxes } = serviceWith(async () => [sandbox('a'), sandbox('b')]);
    const hub = createFollowHub(client, { minIntervalMs: 100 });
    const next = (id: string) => hub.next(id, { followedSinceMs: Date.now(), lookedAtMs: 0, signal: idle() });
    const first = next('a');
    await vi.advanceTimersByTimeAsync(0);
    expect((await first).sandbox?.id).toBe('a');
    const all = Promise.all(['a', 'b', 'c', ...Array(1_000).fill('a')].map(next));
    await vi.advanceTimersByTimeAsync(100);
    const reads = await all;
    expect(reads.slice(0, 3).map((read) => read.sandbox?.id)).toEqual(['a', 'b', undefined]);
    expect(listAllSandboxes).toHaveBeenCalledTimes(2);
  });

  it('never answers with a read that started before the request', async () => {
    let finish: (list: Sandbox[]) => void = () => undefined;
    const { client, listAllSandboxes } = serviceWith(() => new Promise((resolve) => (finish = resolve)));
    const hub = createFollowHub(client, { minIntervalMs: 100 });
    const options = { followedSinceMs: Date.now(), lookedAtMs: 0, signal: idle() };
    const early = hub.next('a', options);
    await vi.advanceTimersByTimeAsync(0);
    let answered = false;
    const late = hub.next('a', options).then((read) => {
      answered = true;
      return read;
    });
    finish([sandbox('a', 'idle')]);
    expect((await early).sandbox?.state).toBe('idle');
    expect(answered).toBe(false);
    await vi.advanceTimersByTimeAsync(100);
    finish([sandbox('a', 'running')]);
    expect((await late).sandbox?.state).toBe('running');
    expect(listAllSandboxes).toHaveBeenCalledTimes(2);
  });

  it('reads less often as its follows get older, and at once for a new one', async () => {
    const { client, listAllSandboxes } = serviceWith(async () => [sandbox('a')]);
    const hub = createFollowHub(client, { minIntervalMs: 100, maxIntervalMs: 5_000 });
    const old = { followedSinceMs: Date.now() - 3_600_000, lookedAtMs: 0, signal: idle() };
    await Promise.all([hub.next('a', old), vi.advanceTimersByTimeAsync(0)]);
    const waiting = hub.next('a', old);
    await vi.advanceTimersByTimeAsync(4_900);
    expect(listAllSandboxes).toHaveBeenCalledTimes(1);
    const young = hub.next('a', { followedSinceMs: Date.now(), lookedAtMs: 0, signal: idle() });
    await vi.advanceTimersByTimeAsync(1);
    await Promise.all([waiting, young]);
    expect(listAllSandboxes).toHaveBeenCalledTimes(2);
  });

  it('tolerates a short failure', async () => {
    let calls = 0;
    const { client } = serviceWith(async () => {
      calls += 1;
      if (calls < 2) throw refusal(503, 'http_500');
      return [sandbox('a', 'idle')];
    });
    const hub = createFollowHub(client, { minIntervalMs: 100 });
    const read = hub.next('a', { followedSinceMs: Date.now(), lookedAtMs: 0, signal: idle() });
    await vi.advanceTimersByTimeAsync(5_000);
    expect((await read).sandbox?.state).toBe('idle');
    expect(calls).toBe(2);
  });

  const silences: [string, () => Promise<Sandbox[]>][] = [
    ['refuses with 401', () => Promise.reject(refusal(401, 'unauthorized'))],
    ['refuses with 403', () => Promise.reject(refusal(403, 'forbidden'))],
    ['throttles', () => Promise.reject(refusal(429, 'rate_limited'))],
    ['cannot be read', () => Promise.reject(new TypeError('garbage'))],
    ['hangs', () => new Promise<Sandbox[]>(() => undefined)],
    ['leaves everything out', async () => []],
  ];
  it.each(silences)('makes a follow read for itself if the list %s, and rejects none', async (_, list) => {
    const hub = createFollowHub(serviceWith(list).client);
    const follower = createFollower(hub, 'a');
    const read = follower.next(idle());
    await vi.advanceTimersByTimeAsync(6_000);
    expect((await read).sandbox).toBeUndefined();
  });

  it.each(silences)(
    'limits 1,000 follows to 4 reads per second if the list %s, with a growing interval for each',
    async (_, list) => {
      async function looksIn(ms: number, follows: number) {
        const { client, listAllSandboxes } = serviceWith(list);
        const hub = createFollowHub(client);
        const stop = new AbortController();
        // Each follow of a worker has a signal of its own.
        setMaxListeners(0, stop.signal);
        const looks = new Map<number, number>();
        for (let id = 0; id < follows; id += 1) {
          const follower = createFollower(hub, `bx_${id}`);
          const forEver = async () => {
            for (;;) {
              await follower.next(stop.signal);
              looks.set(id, (looks.get(id) ?? 0) + 1);
            }
          };
          forEver().catch(() => undefined);
        }
        await vi.advanceTimersByTimeAsync(ms);
        stop.abort(new Error('over'));
        await vi.advanceTimersByTimeAsync(120_000);
        const counts = [...looks.values()];
        return {
          all: counts.reduce((a, b) => a + b, 0),
          most: Math.max(...counts),
          lists: listAllSandboxes.mock.calls.length,
        };
      }
      const many = await looksIn(60_000, 1_000);
      expect(many.all).toBeLessThanOrEqual(4 * 60 + 8);
      expect(many.all).toBeGreaterThan(4 * 50);
      expect(many.most).toBe(1);
      const one = await looksIn(600_000, 1);
      expect(one.all).toBeGreaterThan(30);
      expect(one.all).toBeLessThan(90);
      expect(one.lists).toBeLessThan(150);
    },
  );

  it('stops reading when the last follow ends', async () => {
    const { client, listAllSandboxes } = serviceWith(async () => [sandbox('a')]);
    const hub = createFollowHub(client, { minIntervalMs: 100 });
    const controller = new AbortController();
    const options = { followedSinceMs: Date.now(), lookedAtMs: 0, signal: controller.signal };
    await Promise.all([hub.next('a', options), vi.advanceTimersByTimeAsync(0)]);
    const left = expect(hub.next('a', options)).rejects.toThrow('left');
    controller.abort(new Error('left'));
    await left;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(listAllSandboxes).toHaveBeenCalledTimes(1);
    expect(vi.getTimerCount()).toBe(0);
  });
});
