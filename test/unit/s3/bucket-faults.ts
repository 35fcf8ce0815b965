/** What a store in a bucket promises while its calls are spoiled. */
import { randomBytes, randomUUID } from 'node:crypto';
import { expect, it } from 'vitest';
import { createResultStore, type ResultStore } from '../../../src/result-store/index.js';
import { pieces } from '../result-store/store-contract.js';
import { useBucketAt } from './aws-settings.js';
import type { FaultProxy } from './fault-proxy.js';

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

  it('a new object costs one call, a replaced one three, and a read one', async () => {
    const { proxy, results } = open();
    const { ref } = await results.put('a', Buffer.from('one'));
    expect(proxy.calls.splice(0)).toEqual(['PUT']);
    await results.put('a', Buffer.from('two'));
    expect(proxy.calls.splice(0)).toEqual(['PUT', 'HEAD', 'PUT']);
    await results.get(ref);
    expect(proxy.calls).toEqual(['GET']);
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
    let puts = 0;
    proxy.spoil = ({ method }) => {
      if (method === 'PUT') puts += 1;
      return method === 'PUT' && puts === (kind === 'new' ? 1 : 2) ? 'lost' : undefined;
    };
    const { ref } = await results.put('a', Buffer.from('after'));
    expect((await results.get(ref)).toString()).toBe('after');
  });

  it('a stream of several parts is stored if the answer to its end is lost', async () => {
    const { proxy, results } = open();
    const content = randomBytes(17 * 1024 * 1024);
    const isEnd = ({ method, url }: { method: string; url: string }) => method === 'POST' && url.includes('uploadId=');
    proxy.spoil = once(isEnd, 'lost');
    const { ref } = await results.putStream('a', pieces(content));
    expect(content.equals(await results.get(ref))).toBe(true);
  });

  it('an answer that ends in the middle is read again', async () => {
    const { proxy, results } = open();
    const content = randomBytes(300_000);
    const { ref } = await results.put('a', content);
    proxy.spoil = once(({ method }) => method === 'GET', 'cut');
    expect(content.equals(await results.get(ref))).toBe(true);
  });

  it.each([
    ['new', 'put'],
    ['replaced', 'put'],
    ['new', 'putStream'],
    ['replaced', 'putStream'],
  ] as const)('the late write of a %s object by %s does not overwrite a newer one', async (kind, how) => {
    const { proxy, results } = open();
    if (kind === 'replaced') await results.put('a', Buffer.from('before'));
    let comes = () => {};
    const until = new Promise<void>((resolve) => {
      comes = resolve;
    });
    let held = () => {};
    const isHeld = new Promise<void>((resolve) => {
      held = resolve;
    });
    // The first write that the bucket would accept is on its way for long.
    let puts = 0;
    proxy.spoil = ({ method }) => {
      if (method !== 'PUT') return undefined;
      puts += 1;
      if (puts !== (kind === 'replaced' && how === 'put' ? 2 : 1)) return undefined;
      held();
      return { until };
    };
    const attempt = new AbortController();
    const late =
      how === 'put'
        ? results.put('a', Buffer.from('late'), { signal: attempt.signal })
        : results.putStream('a', pieces('late'));
    const end = late.then(
      () => 'stored',
      (error: unknown) => error,
    );
    await isHeld;
    if (how === 'put') {
      attempt.abort(new Error('given up'));
      expect(await end).toMatchObject({ message: 'given up' });
    }
    await results.put('a', Buffer.from('newer'));
    comes();
    if (how === 'putStream') expect(await end).toMatchObject({ code: 'store_unreachable' });
    // The late request has certainly reached the bucket when a later one on the same way has.
    await results.put('b', Buffer.from('b'));
    expect((await results.get('file-store:a')).toString()).toBe('newer');
  });
}
