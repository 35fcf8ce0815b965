import { setMaxListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  createFollower,
  createFollowHub,
  type SharedRead,
  type Watched,
} from '../../../activities/prompt/follow-hub.js';
import { ApiError, type SandboxClient } from '../../../src/client/index.js';
import type { Sandbox } from '../../../src/contract/records/sandbox-records.js';
import { errorMeaning } from '../../../src/contract/workflow-safe/error-codes.js';

const sandbox = (id: string, state = 'running'): Sandbox => ({ id, state });
const refusal = (status: number, code: string, retryAfterMs: number | null = null) =>
  new ApiError('no', {
    endpoint: 'listSandboxes',
    status,
    code,
    typed: true,
    meaning: errorMeaning(status, code),
    requestId: null,
    retryAfterMs,
    details: null,
  });

/** The hub calls only these, so nothing else exists. A sandbox is read as the list would show it. */
function serviceWith(list: () => Promise<Sandbox[]>) {
  const listAllSandboxes = vi.fn<SandboxClient['listAllSandboxes']>(async (_, { isWanted = () => true } = {}) =>
    (await list()).filter(({ id }) => isWanted(id)),
  );
  const getSandbox = vi.fn(async (id: string) => {
    const found = (await list()).find((one) => one.id === id);
    if (!found) throw refusal(404, 'sandbox_not_found');
    return { sandbox: found };
  });
  return { listAllSandboxes, getSandbox, client: { listAllSandboxes, getSandbox } as unknown as SandboxClient };
}

const idle = () => new AbortController().signal;

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('the follow hub', () => {
  it('reads once per interval for all follows, regardless of their number', async () => {
    const { client, listAllSandboxes, getSandbox } = serviceWith(async () => [sandbox('a'), sandbox('b')]);
    const hub = createFollowHub(client, { minIntervalMs: 100 });
    const next = (id: string) => hub.next(id, { followedSinceMs: Date.now(), lookedAtMs: 0, signal: idle() });
    const all = Promise.all(['a', 'b', 'c', ...Array(1_000).fill('a')].map(next));
    await vi.advanceTimersByTimeAsync(99);
    expect(listAllSandboxes).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    const reads = await all;
    expect(reads.slice(0, 3).map((read) => read?.sandbox.id)).toEqual(['a', 'b', undefined]);
    expect(listAllSandboxes).toHaveBeenCalledTimes(1);
    expect(getSandbox).not.toHaveBeenCalled();
  });

  describe('a watch', () => {
    const watched = ['a', 'b', 'gone'].map((sandboxId) => ({ sandboxId, sinceMs: Date.now() }));

    it('reads all sandboxes together until each has been shown as awaited', async () => {
      const states: Record<string, string> = { a: 'running', b: 'running' };
      const { client, listAllSandboxes, getSandbox } = serviceWith(async () =>
        Object.entries(states).map(([id, state]) => sandbox(id, state)),
      );
      const hub = createFollowHub(client, { minIntervalMs: 100 });
      const ended: string[] = [];
      const onRead = async ({ sandboxId }: Watched, read?: SharedRead) => {
        if (read?.sandbox.state === 'running') return true;
        ended.push(sandboxId);
        return false;
      };
      let isOver = false;
      const watching = hub.watch(watched, { onRead, signal: idle() }).then(() => {
        isOver = true;
      });
      await vi.advanceTimersByTimeAsync(1_000);
      // No shared read shows it: that is for its reader to judge.
      expect(ended).toEqual(['gone']);
      states.b = 'idle';
      await vi.advanceTimersByTimeAsync(1_000);
      expect([ended, isOver]).toEqual([['gone', 'b'], false]);
      states.a = 'idle';
      await vi.advanceTimersByTimeAsync(1_000);
      await watching;
      expect(ended).toEqual(['gone', 'b', 'a']);
      expect(listAllSandboxes.mock.calls.length).toBeLessThanOrEqual(30);
      expect(getSandbox).not.toHaveBeenCalled();
    });

    it('ends with its signal, leaves nothing that reads, and waits for reads under way', async () => {
      const { client, listAllSandboxes } = serviceWith(async () => [sandbox('a')]);
      const hub = createFollowHub(client, { minIntervalMs: 100 });
      const stop = new AbortController();
      let isRead = false;
      const onRead = async () => {
        await new Promise((resolve) => setTimeout(resolve, 5_000));
        isRead = true;
        return true;
      };
      const watching = hub.watch([{ sandboxId: 'a', sinceMs: Date.now() }], { onRead, signal: stop.signal });
      await vi.advanceTimersByTimeAsync(200);
      stop.abort(new Error('over'));
      await vi.advanceTimersByTimeAsync(5_000);
      await watching;
      expect(isRead).toBe(true);
      const calls = listAllSandboxes.mock.calls.length;
      await vi.advanceTimersByTimeAsync(60_000);
      expect(listAllSandboxes).toHaveBeenCalledTimes(calls);
    });

    it('holds 10,000 sandboxes with one list per interval', async () => {
      const many = Array.from({ length: 10_000 }, (_, index) => ({ sandboxId: `s${index}`, sinceMs: 0 }));
      const { client, listAllSandboxes } = serviceWith(async () => many.map(({ sandboxId }) => sandbox(sandboxId)));
      const stop = new AbortController();
      const watching = createFollowHub(client).watch(many, { onRead: async () => true, signal: stop.signal });
      await vi.advanceTimersByTimeAsync(60_000);
      stop.abort(new Error('over'));
      await watching;
      expect(listAllSandboxes).toHaveBeenCalledTimes(7);
    });

    it('lists every ten seconds, also across watches of half a minute by one process or by several', async () => {
      const { client, listAllSandboxes } = serviceWith(async () => {
        await new Promise((resolve) => setTimeout(resolve, 200));
        return [sandbox('a')];
      });
      const hubs = [createFollowHub(client), createFollowHub(client)];
      for (const turn of [0, 0, 1, 0, 1, 1]) {
        const stop = new AbortController();
        const one = { sandboxId: 'a', sinceMs: 0 };
        const watching = hubs[turn]?.watch([one], { onRead: async () => true, signal: stop.signal });
        await vi.advanceTimersByTimeAsync(30_000);
        stop.abort(new Error('over'));
        await watching;
      }
      expect(Math.abs(listAllSandboxes.mock.calls.length - 18)).toBeLessThanOrEqual(1);
    });

    it('reads all of 400 sandboxes beside 50,000 archived ones in some watches of half a minute', async () => {
      const archived = Array.from({ length: 50_000 }, (_, index) => sandbox(`archived-${index}`, 'archived'));
      const many = Array.from({ length: 400 }, (_, index) => ({ sandboxId: `s${index}`, sinceMs: 0 }));
      const { client, getSandbox, listAllSandboxes } = serviceWith(async () => [
        ...archived,
        ...many.map(({ sandboxId }) => sandbox(sandboxId)),
      ]);
      getSandbox.mockImplementation(async (id) => ({ sandbox: sandbox(id) }));
      const hub = createFollowHub(client);
      const read = new Set<string>();
      const onRead = async ({ sandboxId }: Watched, shown?: SharedRead) => {
        if (shown) read.add(sandboxId);
        return true;
      };
      for (let watches = 0; watches < 60 && (watches < 2 || read.size < many.length); watches += 1) {
        const stop = new AbortController();
        const watching = hub.watch(many, { onRead, signal: stop.signal });
        await vi.advanceTimersByTimeAsync(30_000);
        stop.abort(new Error('over'));
        await watching;
        // The list has shown all, and then how long it is.
        if (watches === 0) read.clear();
      }
      expect(listAllSandboxes).toHaveBeenCalledTimes(1);
      expect(read.size).toBe(many.length);
    });
  });

  it('reads each sandbox beside 50,000 archived ones, at most 8 a second, and the list once an hour', async () => {
    const archived = Array.from({ length: 50_000 }, (_, index) => sandbox(`archived-${index}`, 'archived'));
    const followed = Array.from({ length: 100 }, (_, index) => sandbox(`followed-${index}`));
    const all = [...archived, ...followed];
    const byId = new Map(followed.map((one) => [one.id, one]));
    const { client, listAllSandboxes, getSandbox } = serviceWith(async () => all);
    // A client of the user may not know which rows are wanted.
    listAllSandboxes.mockResolvedValue(all);
    getSandbox.mockImplementation(async (id) => ({ sandbox: byId.get(id) ?? sandbox(id) }));
    const hub = createFollowHub(client);
    const stop = new AbortController();
    setMaxListeners(0, stop.signal);
    for (const { id } of followed) {
      const follower = createFollower(hub, id);
      const forEver = async () => {
        for (;;) expect((await follower.next(stop.signal))?.sandbox.id).toBe(id);
      };
      forEver().catch(() => undefined);
    }
    const minutes = 10;
    await vi.advanceTimersByTimeAsync(minutes * 60_000);
    expect(listAllSandboxes).toHaveBeenCalledTimes(1);
    expect(getSandbox.mock.calls.length).toBeLessThanOrEqual(minutes * 60 * 8 + 8);
    expect(getSandbox.mock.calls.length).toBeGreaterThan(minutes * 60 * 4);
    stop.abort(new Error('over'));
    await vi.advanceTimersByTimeAsync(120_000);
  });

  describe('beside 50,000 archived sandboxes', () => {
    const archived = Array.from({ length: 50_000 }, (_, index) => sandbox(`archived-${index}`, 'archived'));

    /** Follows one sandbox, and counts the calls and what the follow gets. */
    function follow(list: (call: number) => Promise<Sandbox[]>) {
      let calls = 0;
      const { client, getSandbox } = serviceWith(() => {
        calls += 1;
        return list(calls);
      });
      getSandbox.mockImplementation(async (id) => ({ sandbox: sandbox(id) }));
      const stop = new AbortController();
      setMaxListeners(0, stop.signal);
      onTestFinished(() => stop.abort(new Error('over')));
      const follower = createFollower(createFollowHub(client), 'a');
      const seen = { byItself: 0, lists: () => calls, reads: () => getSandbox.mock.calls.length };
      const forEver = async () => {
        for (;;) if ((await follower.next(stop.signal)) === undefined) seen.byItself += 1;
      };
      forEver().catch(() => undefined);
      return seen;
    }

    it('reads single sandboxes at once after a list that took a minute', async () => {
      const seen = follow(async () => {
        await new Promise((resolve) => setTimeout(resolve, 60_000));
        return [...archived, sandbox('a')];
      });
      await vi.advanceTimersByTimeAsync(61_000);
      expect([seen.lists(), seen.reads()]).toEqual([1, 0]);
      await vi.advanceTimersByTimeAsync(5_000);
      expect(seen.reads()).toBeGreaterThan(0);
    });

    it('no follow reads by itself because two hourly lists have failed', async () => {
      const seen = follow(async (call) => {
        if (call > 1) throw refusal(503, 'http_500');
        return [...archived, sandbox('a')];
      });
      await vi.advanceTimersByTimeAsync(2.5 * 3_600_000);
      expect(seen.lists()).toBe(3);
      expect(seen.byItself).toBe(0);
    });
  });

  it('never answers with a read that started before the request', async () => {
    let finish: (list: Sandbox[]) => void = () => undefined;
    const { client, listAllSandboxes } = serviceWith(() => new Promise((resolve) => (finish = resolve)));
    const hub = createFollowHub(client, { minIntervalMs: 100 });
    const options = { followedSinceMs: Date.now(), lookedAtMs: 0, signal: idle() };
    const early = Promise.all([hub.next('a', options), hub.next('a', options)]);
    await vi.advanceTimersByTimeAsync(100);
    let answered = false;
    const next = () =>
      hub.next('a', options).then((read) => {
        answered = true;
        return read;
      });
    const late = Promise.all([next(), next()]);
    finish([sandbox('a', 'idle')]);
    expect((await early)[0]?.sandbox.state).toBe('idle');
    expect(answered).toBe(false);
    await vi.advanceTimersByTimeAsync(100);
    finish([sandbox('a', 'running')]);
    expect((await late)[0]?.sandbox.state).toBe('running');
    expect(listAllSandboxes).toHaveBeenCalledTimes(2);
  });

  it('reads less often as its follows get older, and soon for a new one', async () => {
    const { client, listAllSandboxes } = serviceWith(async () => [sandbox('a')]);
    const hub = createFollowHub(client, { minIntervalMs: 100, maxIntervalMs: 5_000 });
    const old = { followedSinceMs: Date.now() - 3_600_000, lookedAtMs: 0, signal: idle() };
    const waiting = Promise.all([hub.next('a', old), hub.next('a', old)]);
    await vi.advanceTimersByTimeAsync(4_800);
    expect(listAllSandboxes).not.toHaveBeenCalled();
    const young = hub.next('a', { followedSinceMs: Date.now(), lookedAtMs: 0, signal: idle() });
    await vi.advanceTimersByTimeAsync(100);
    await Promise.all([waiting, young]);
    expect(listAllSandboxes).toHaveBeenCalledTimes(1);
  });

  it('tolerates a short failure of the list', async () => {
    let calls = 0;
    const { client } = serviceWith(async () => {
      calls += 1;
      if (calls < 2) throw refusal(503, 'http_500');
      return [sandbox('a', 'idle')];
    });
    const hub = createFollowHub(client, { minIntervalMs: 100 });
    const next = () => hub.next('a', { followedSinceMs: Date.now(), lookedAtMs: 0, signal: idle() });
    const reads = Promise.all([next(), next()]);
    await vi.advanceTimersByTimeAsync(5_000);
    for (const seen of await reads) expect(seen?.sandbox.state).toBe('idle');
    expect(calls).toBe(2);
  });

  const silences: [string, () => Promise<Sandbox[]>][] = [
    ['refuses with 401', () => Promise.reject(refusal(401, 'unauthorized'))],
    ['refuses with 403', () => Promise.reject(refusal(403, 'forbidden'))],
    ['throttles', () => Promise.reject(refusal(429, 'rate_limited'))],
    ['throttles for a day', () => Promise.reject(refusal(429, 'rate_limited', 86_400_000))],
    ['cannot be read', () => Promise.reject(new TypeError('garbage'))],
    ['hangs', () => new Promise<Sandbox[]>(() => undefined)],
    ['leaves everything out', async () => []],
  ];
  it.each(silences)('makes a follow read for itself if the service %s, and rejects none', async (_, list) => {
    const hub = createFollowHub(serviceWith(list).client);
    const follower = createFollower(hub, 'a');
    const read = follower.next(idle());
    await vi.advanceTimersByTimeAsync(6_000);
    expect(await read).toBeUndefined();
  });

  it.each(silences)(
    'limits 1,000 follows to 4 reads per second if the service %s, with a growing interval for each',
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

  it('obeys the pause that the service requests of the list, for five minutes at most', async () => {
    const { client, listAllSandboxes } = serviceWith(() => Promise.reject(refusal(429, 'rate_limited', 86_400_000)));
    const hub = createFollowHub(client);
    const next = () => hub.next('a', { followedSinceMs: Date.now(), lookedAtMs: Date.now(), signal: idle() });
    const forEver = async () => {
      for (;;) await next();
    };
    void forEver();
    await vi.advanceTimersByTimeAsync(299_000);
    expect(listAllSandboxes).toHaveBeenCalledTimes(1);
    await vi.advanceTimersByTimeAsync(10_000);
    expect(listAllSandboxes).toHaveBeenCalledTimes(2);
  });

  it('one sandbox whose read is throttled keeps no other follow from reading for itself', async () => {
    const archived = Array.from({ length: 1_000 }, (_, index) => sandbox(`archived-${index}`, 'archived'));
    const { client, getSandbox } = serviceWith(async () => [...archived, sandbox('a'), sandbox('b')]);
    getSandbox.mockRejectedValue(refusal(429, 'rate_limited', 86_400_000));
    const hub = createFollowHub(client);
    const follower = createFollower(hub, 'a');
    const other = createFollower(hub, 'b');
    // The first read is a list, which shows that each sandbox is to be read alone.
    await Promise.all([follower.next(idle()), other.next(idle()), vi.advanceTimersByTimeAsync(600)]);
    const refused = follower.next(idle());
    await vi.advanceTimersByTimeAsync(2_000);
    expect(await refused).toBeUndefined();
    let answer: unknown = 'none';
    void other.next(idle()).then((read) => {
      answer = read;
    });
    await vi.advanceTimersByTimeAsync(10_000);
    expect(answer).toBeUndefined();
  });

  it('stops reading when the last follow ends', async () => {
    const { client, listAllSandboxes } = serviceWith(async () => [sandbox('a')]);
    const hub = createFollowHub(client, { minIntervalMs: 100 });
    const controller = new AbortController();
    const options = { followedSinceMs: Date.now(), lookedAtMs: 0, signal: controller.signal };
    await Promise.all([hub.next('a', options), vi.advanceTimersByTimeAsync(100)]);
    const left = expect(hub.next('a', options)).rejects.toThrow('left');
    controller.abort(new Error('left'));
    await left;
    await vi.advanceTimersByTimeAsync(60_000);
    expect(listAllSandboxes).toHaveBeenCalledTimes(1);
    expect(vi.getTimerCount()).toBe(0);
  });
});
