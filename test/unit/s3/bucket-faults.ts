/** What a store in a bucket promises while its calls are spoiled. */
import { randomBytes, randomUUID } from 'node:crypto';
import { asyncLocalStorage, type Context } from '@temporalio/activity';
import { describe, expect, it } from 'vitest';
import { sendRecorded } from '../../../activities/retry/recorded-call.js';
import { encryptResults, newKeyLine, parseKeyRing } from '../../../src/encryption/index.js';
import { createResultStore, type ResultStore } from '../../../src/result-store/index.js';
import { putAfter } from '../../../src/result-store/put-after.js';
import { storedJson } from '../../../src/result-store/stored-json.js';
import { keepJobTexts } from '../../../src/workflow-client/store-texts.js';
import { pieces } from '../result-store/store-contract.js';
import { useBucketAt } from './aws-settings.js';
import type { FaultProxy } from './fault-proxy.js';

/** A promise, and what resolves it. */
function turnOf(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}

/** @param proxyOf the proxy in front of the bucket */
export function bucketFaults(proxyOf: () => FaultProxy, bucket: string): void {
  function open(): { readonly proxy: FaultProxy; readonly results: ResultStore } {
    const proxy = proxyOf();
    proxy.calls.length = 0;
    proxy.spoil = () => undefined;
    useBucketAt(proxy.endpoint);
    return { proxy, results: createResultStore(`s3://${bucket}/${randomUUID()}`) };
  }
  /** Spoils the first call that fits. */
  const once = (fits: (call: { method: string; url: string }) => boolean, fault: ReturnType<FaultProxy['spoil']>) => {
    let spoilt = false;
    return (call: { method: string; url: string }) => {
      if (spoilt || !fits(call)) return undefined;
      spoilt = true;
      return fault;
    };
  };
  const isPut = ({ method }: { method: string }) => method === 'PUT';
  const busy = { status: 503, code: 'SlowDown' };

  it('a write costs two calls, of a new object by a caller that lives one, and a read one', async () => {
    const { proxy, results } = open();
    const { signal } = new AbortController();
    await results.put('new', Buffer.from('new'), { signal });
    expect(proxy.calls.splice(0)).toEqual(['PUT']);
    await results.get('file-store:new');
    await results.put('new', Buffer.from('known'), { signal });
    expect(proxy.calls.splice(0)).toEqual(['GET', 'HEAD', 'PUT']);
    // With the first object that is missing, the bucket itself is asked for.
    await results.put('first', Buffer.from('first'));
    expect(proxy.calls.splice(0)).toEqual(['HEAD', 'GET', 'PUT']);
    const { ref } = await results.put('a', Buffer.from('one'));
    expect(proxy.calls.splice(0)).toEqual(['HEAD', 'PUT']);
    await results.put('a', Buffer.from('two'));
    expect(proxy.calls.splice(0)).toEqual(['HEAD', 'PUT']);
    await results.get(ref);
    expect(proxy.calls).toEqual(['GET']);
  });

  const longPrompt = { source: { kind: 'sandbox' }, prompts: [{ prompt: 'x'.repeat(200_000) }] } as never;
  const refuse = (message: string) => new Error(message);

  it('a long text of a job costs one call', async () => {
    const { proxy, results } = open();
    await keepJobTexts(longPrompt, { results, refuse });
    expect(proxy.calls).toEqual(['PUT']);
  });

  it.each(['plain', 'encrypted'])('creators store the same text at once: %s', async (kind) => {
    const { results: plain } = open();
    const results = kind === 'plain' ? plain : encryptResults(plain, parseKeyRing(newKeyLine('k')));
    const kept = () => keepJobTexts(longPrompt, { results, refuse });
    const [first, ...others] = await Promise.all([kept(), kept(), kept(), kept()]);
    for (const other of others) expect(other).toEqual(first);
    expect(await plain.list('inputs')).toHaveLength(1);
  });

  it('100 activities use the bucket at once', async () => {
    const { proxy, results } = open();
    const turn = turnOf();
    proxy.spoil = () => ({ until: turn.promise });
    const all = Array.from({ length: 100 }, () => results.find('a'));
    await expect.poll(() => proxy.calls.length).toBe(100);
    turn.resolve();
    expect(await Promise.all(all)).toEqual(all.map(() => null));
  });

  it('a bucket that is busy is asked again', async () => {
    const { proxy, results } = open();
    proxy.spoil = once(isPut, busy);
    const { ref } = await results.put('a', Buffer.from('one'));
    proxy.spoil = once(({ method }) => method === 'GET', busy);
    expect((await results.get(ref)).toString()).toBe('one');
  });

  it.each(['new', 'replaced'])('a %s object is stored once if the answer to its write is lost', async (kind) => {
    const { proxy, results } = open();
    if (kind === 'replaced') await results.put('a', Buffer.from('before'));
    proxy.spoil = once(isPut, 'lost');
    const { ref } = await results.put('a', Buffer.from('after'));
    expect((await results.get(ref)).toString()).toBe('after');
  });

  it('a write that meets another one of the same object is repeated', async () => {
    const { proxy, results } = open();
    for (const text of ['new', 'replaced']) {
      proxy.spoil = once(isPut, { status: 409, code: 'ConditionalRequestConflict' });
      const { ref } = await results.put('a', Buffer.from(text));
      expect((await results.get(ref)).toString()).toBe(text);
    }
  });

  it('a stream of several parts is stored if the answer to its end is lost', async () => {
    const { proxy, results } = open();
    const content = randomBytes(17 * 1024 * 1024);
    const puts = () => proxy.calls.filter((method) => method === 'PUT').length;
    const isEnd = ({ method, url }: { method: string; url: string }) => method === 'POST' && url.includes('uploadId=');
    proxy.spoil = once(isEnd, 'lost');
    const { ref } = await results.putStream('a', pieces(content));
    // No more than 5 MiB of it are in memory.
    expect(puts()).toBe(4);
    expect(content.equals(await results.get(ref))).toBe(true);
  });

  it('an answer that ends in the middle is read again', async () => {
    const { proxy, results } = open();
    const content = randomBytes(300_000);
    const { ref } = await results.put('a', content);
    proxy.spoil = once(({ method }) => method === 'GET', 'cut');
    expect(content.equals(await results.get(ref))).toBe(true);
  });

  describe('a write whose request is on its way for long', () => {
    type Late = (results: ResultStore) => Promise<unknown>;
    const late = Buffer.from('late');
    const attempt = {
      info: { startToCloseTimeoutMs: 600_000 },
      cancellationSignal: new AbortController().signal,
    } as unknown as Context;
    const fork = { record: 'a', body: {}, firstSentAtMs: 0, lookFirst: false };

    /** Begins the write, stores something newer meanwhile, and lets its request arrive. */
    async function overtaken(kind: string, begin: Late, meanwhile = () => {}): Promise<{ end: unknown; text: string }> {
      const { proxy, results } = open();
      if (kind === 'replaced') await results.put('a', storedJson({ state: 'not_sent' }));
      const [arrival, held] = [turnOf(), turnOf()];
      const hold = once(isPut, { until: arrival.promise });
      proxy.spoil = (call) => {
        const fault = hold(call);
        if (fault) held.resolve();
        return fault;
      };
      const end = begin(results).then(
        () => 'stored',
        (error: unknown) => error,
      );
      await held.promise;
      await results.put('a', Buffer.from('newer'));
      meanwhile();
      arrival.resolve();
      const ended = await end;
      // The late request has certainly reached the bucket when a later one on the same way has.
      await results.put('b', Buffer.from('b'));
      return { end: ended, text: (await results.get('file-store:a')).toString() };
    }

    const ways: Readonly<Record<string, Late>> = {
      put: (results) => results.put('a', late),
      putAfter: (results) => putAfter(results, Promise.resolve(), 'a', late),
      'putAfter for a caller that lives': (results) =>
        putAfter(results, Promise.resolve(), 'a', late, { signal: new AbortController().signal }),
      putStream: (results) => results.putStream('a', pieces('late')),
      'the record of a fork': (results) =>
        asyncLocalStorage.run(attempt, () => sendRecorded(fork, { results, send: () => Promise.reject() })),
    };
    it.each(Object.entries(ways).flatMap(([how, begin]) => ['new', 'replaced'].map((kind) => ({ how, kind, begin }))))(
      'replaces nothing newer: $how of a $kind object',
      async ({ kind, begin }) => {
        const expected = { end: { code: 'store_unreachable' }, text: 'newer' };
        expect(await overtaken(kind, begin)).toMatchObject(expected);
      },
    );

    it.each(['new', 'replaced'])('replaces nothing newer once its caller has given up: a %s object', async (kind) => {
      const attempt = new AbortController();
      const put: Late = (results) => results.put('a', late, { signal: attempt.signal });
      const giveUp = () => attempt.abort(new Error('given up'));
      expect(await overtaken(kind, put, giveUp)).toMatchObject({ end: { message: 'given up' }, text: 'newer' });
    });

    it.each(['new', 'replaced'])('is repeated while its caller lives: a %s object', async (kind) => {
      const { signal } = new AbortController();
      const put: Late = (results) => results.put('a', late, { signal });
      expect(await overtaken(kind, put)).toEqual({ end: 'stored', text: 'late' });
    });
  });

  it.each(['plain', 'encrypted'])('what is stored before the turn of an object stays: %s', async (kind) => {
    const { proxy, results: plain } = open();
    const results = kind === 'plain' ? plain : encryptResults(plain, parseKeyRing(newKeyLine('k')));
    await results.put('a', Buffer.from('before'));
    proxy.calls.length = 0;
    const turn = turnOf();
    const put = putAfter(results, turn.promise, 'a', Buffer.from('late'));
    const end = expect(put).rejects.toMatchObject({ code: 'store_unreachable' });
    await expect.poll(() => proxy.calls).toEqual(['HEAD']);
    await results.put('a', Buffer.from('newer'));
    turn.resolve();
    await end;
    expect((await results.get('file-store:a')).toString()).toBe('newer');
  });
}
