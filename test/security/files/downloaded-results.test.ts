import { mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { downloadResults } from '../../../src/cli/fanout/results/download-results.js';
import { makeFolders } from '../../../src/os/make-folders.js';
import type { ItemResult } from '../../../src/protocol/fanout/fanout-result.js';
import { createResultStore } from '../../../src/result-store/index.js';
import { batchResult, collectedFile, itemResult } from '../../unit/cli/fanout/samples.js';
import { temporaryDirectory } from '../../unit/cli/temporary-directory.js';

/** A writer to Temporal has the worker store a forged result with anything in any of its fields. */
const forged: Readonly<Record<string, (path: string) => Partial<Record<keyof ItemResult, unknown>>>> = {
  'a number that is a path': () => ({ itemId: '!', index: 'x/../../../outside' }),
  'a number that is a list': () => ({ itemId: '!', index: ['x/../../../outside'] }),
  'a number that is none': () => ({ itemId: '!', index: Number.POSITIVE_INFINITY }),
  'an id that is a path': () => ({ itemId: '../../../outside' }),
  'an id that is a list': () => ({ itemId: ['../../../outside'] }),
  'an id of dots': () => ({ itemId: '..' }),
};
const paths = ['file', '../../../../outside/file', '/outside/file', '..', 'a/../../../../outside/file', ['/outside']];

describe('forged results', () => {
  it.each(Object.entries(forged))('write nothing outside the folder: %s', async (_, fields) => {
    const { cwd, got, bring } = await batch();
    for (const path of paths) await bring({ ...fields(String(path)), path });
    expect((await readdir(cwd)).sort()).toEqual(['got', 'store', 'work']);
    expect((await readdir(join(cwd, 'work'))).sort()).toEqual([]);
    const ours = ['files', 'report.html', 'results.jsonl'];
    expect((await readdir(got)).filter((name) => !ours.includes(name))).toEqual([]);
  });

  it('write nothing through links in the folder, and are reported', async () => {
    const { cwd, got, bring } = await batch();
    const mine = join(cwd, 'mine');
    await mkdir(mine);
    await writeFile(join(mine, 'file'), 'mine');
    await mkdir(join(got, 'files', 'b'), { recursive: true });
    await symlink(mine, join(got, 'files', 'a'));
    await symlink(mine, join(got, 'files', 'b', 'deep'));
    await symlink(join(mine, 'file'), join(got, 'files', 'b', 'file'));
    await writeFile(join(got, 'files', 'c'), 'a file');
    expect((await bring({ itemId: 'a', path: 'file' })).problems).toEqual([
      expect.stringMatching(/files\/a is not a folder/),
    ]);
    expect((await bring({ itemId: 'a', path: 'x/y/z' })).files).toBe(0);
    expect((await bring({ itemId: 'b', path: 'deep/file' })).files).toBe(0);
    expect((await bring({ itemId: 'c', path: 'file' })).files).toBe(0);
    // A link as the last part of a path is replaced, not followed.
    expect((await bring({ itemId: 'b', path: 'file' })).files).toBe(1);
    expect(await readFile(join(mine, 'file'), 'utf8')).toBe('mine');
    expect(await readdir(mine)).toEqual(['file']);
  });

  it('write nothing if the folder for files is a link', async () => {
    const { cwd, got, bring } = await batch();
    await mkdir(join(cwd, 'mine'));
    await mkdir(got);
    await symlink(join(cwd, 'mine'), join(got, 'files'));
    expect((await bring({ path: 'file' })).files).toBe(0);
    expect(await readdir(join(cwd, 'mine'))).toEqual([]);
  });
});

async function batch() {
  const cwd = await temporaryDirectory();
  const work = join(cwd, 'work');
  await mkdir(work);
  const store = createResultStore(join(cwd, 'store'));
  const { ref } = await store.put('evil', Buffer.from('evil'));
  async function bring({ path, ...fields }: { readonly path: unknown } & Partial<Record<keyof ItemResult, unknown>>) {
    const item = { ...itemResult(0, {}, { files: [collectedFile(path as string, ref)] }), ...fields } as ItemResult;
    async function* items(): AsyncGenerator<ItemResult> {
      yield item;
    }
    return downloadResults(batchResult(), items(), store, {
      cwd: work,
      out: '../got',
      claim: () => makeFolders(join(work, '../got')),
    }).catch((error: Error) => ({
      files: 0,
      problems: [error.message],
    }));
  }
  return { cwd, got: join(cwd, 'got'), bring };
}
