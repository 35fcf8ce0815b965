import { describe, expect, it, vi } from 'vitest';
import { storeBeforeEnd } from '../../../activities/store/before-end.js';
import { createResultStore, type ResultStore } from '../../../src/result-store/index.js';
import { temporaryDirectory } from '../cli/temporary-directory.js';

const stored = { ref: 'ref', size: 1, sha256: '' };
const result = (untilMs: number) => ({ key: 'key', content: { outcome: 'completed' }, untilMs });
const failing = { put: () => Promise.reject(new Error('The disk is full')) };

describe('a result that is stored before its sandbox ends', () => {
  it('is written once, under its key', async () => {
    const put = vi.fn(async () => stored);
    expect(await storeBeforeEnd({ put }, result(0))).toBe('ref');
    expect(put.mock.calls).toMatchObject([['key', expect.anything(), expect.anything()]]);
  });

  it('is attempted again while there is time', async () => {
    await expect(storeBeforeEnd(failing, result(Date.now() + 600_000))).rejects.toThrow('The disk is full');
  });

  it('does not keep the sandbox running when its time is over', async () => {
    expect(await storeBeforeEnd(failing, result(0))).toBeNull();
  });

  it('is not replaced by an earlier write that hung, and ends late', async () => {
    const store = createResultStore(await temporaryDirectory());
    let goOn: () => void = () => undefined;
    const held = new Promise<void>((resolve) => {
      goOn = resolve;
    });
    let late: Promise<unknown> = Promise.resolve();
    const slow: Pick<ResultStore, 'put'> = {
      put(...args) {
        const written = held.then(() => store.put(...args));
        late = written;
        return written;
      },
    };
    const item = { ...result(Date.now() + 600_000), key: 'jobs/one' };
    await expect(storeBeforeEnd(slow, item, { writeMs: 1 })).rejects.toThrow('did not answer');
    const { ref } = await store.put('jobs/one', Buffer.from('newer'));
    goOn();
    await expect(late).rejects.toThrow();
    expect((await store.get(ref)).toString()).toBe('newer');
    expect(await store.list('jobs')).toHaveLength(1);
  });

  it('does not wait for a store that does not answer', async () => {
    const silent = { put: () => new Promise<never>(() => undefined) };
    expect(await storeBeforeEnd(silent, result(0), { writeMs: 1 })).toBeNull();
  });
});
