import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createResultStore } from '../../../src/result-store/index.js';

describe('a result store that others may write too', () => {
  let place: string;
  let mine: string;
  let store: string;

  beforeEach(async () => {
    place = await realpath(await mkdtemp(join(tmpdir(), 'sandflow-shared-')));
    [mine, store] = [join(place, 'mine'), join(place, 'store')];
    for (const folder of [mine, store, join(store, 'jobs')]) await mkdir(folder);
    await writeFile(join(mine, 'key'), 'secret');
    await symlink(mine, join(store, 'folder'));
    await symlink(join(mine, 'key'), join(store, 'jobs', 'link'));
    await symlink('../../mine/key', join(store, 'jobs', 'relative'));
    await symlink(mine, join(store, 'jobs', 'folder'));
    await symlink('/proc/self/environ', join(store, 'jobs', 'environment'));
  });
  afterEach(() => rm(place, { recursive: true }));

  it.each(['folder/key', 'jobs/link', 'jobs/relative', 'jobs/environment', 'jobs'])(
    'returns no linked file of this machine: %s',
    async (key) => {
      const reading = createResultStore(store).get(`file-store:${key}`);
      await expect(reading).rejects.toMatchObject({ code: 'bad_result_key' });
    },
  );

  it('waits for no pipe', async () => {
    execFileSync('mkfifo', [join(store, 'pipe')]);
    const reading = createResultStore(store).get('file-store:pipe');
    await expect(reading).rejects.toMatchObject({ code: 'bad_result_key' });
  });

  it('writes and creates nothing through a link', async () => {
    const results = createResultStore(store);
    await expect(results.put('folder/key', Buffer.from('changed'))).rejects.toThrow(/is not a folder/);
    await expect(results.put('folder/new/key', Buffer.from('new'))).rejects.toThrow(/is not a folder/);
    await expect(results.put('jobs/folder/new/deep/key', Buffer.from('new'))).rejects.toThrow(/is not a folder/);
    await expect(results.list('folder')).rejects.toMatchObject({ code: 'bad_result_key' });
    // A link as the last part of a key is replaced, not followed.
    const { ref } = await results.put('jobs/link', Buffer.from('result'));
    expect((await results.get(ref)).toString()).toBe('result');
    expect(await readFile(join(mine, 'key'), 'utf8')).toBe('secret');
    expect(await readdir(mine)).toEqual(['key']);
  });

  it('may be reached by a link itself', async () => {
    await symlink(store, join(place, 'here'));
    const results = createResultStore(join(place, 'here'));
    const { ref } = await results.put('a/b', Buffer.from('result'));
    expect((await results.get(ref)).toString()).toBe('result');
    expect((await results.list('a')).map(({ key }) => key)).toEqual(['a/b']);
  });

  it('returns a complete object while it is replaced', async () => {
    const results = createResultStore(store);
    const { ref } = await results.put('a', Buffer.alloc(1_000, '0'));
    const writing = (async () => {
      for (let turn = 0; turn < 100; turn += 1) await results.put('a', Buffer.alloc(1_000, String(turn % 10)));
    })();
    for (let turn = 0; turn < 100; turn += 1) {
      const read = (await results.get(ref)).toString();
      expect(read).toBe(read.charAt(0).repeat(1_000));
    }
    await writing;
  });
});
