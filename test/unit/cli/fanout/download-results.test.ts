import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { claimResultFolder } from '../../../../src/cli/fanout/result-places.js';
import { downloadResults } from '../../../../src/cli/fanout/results/download-results.js';
import { createFailedItems } from '../../../../src/cli/fanout/results/failed-items.js';
import { createItemFolders } from '../../../../src/cli/fanout/results/item-folders.js';
import { createPreviews } from '../../../../src/cli/output/previews.js';
import { placeBelow } from '../../../../src/cli/place-below.js';
import type { ItemResult } from '../../../../src/protocol/fanout/fanout-result.js';
import { createResultStore } from '../../../../src/result-store/index.js';
import { storedJson } from '../../../../src/result-store/stored-json.js';
import { promptResult } from '../output/sample-job.js';
import { temporaryDirectory } from '../temporary-directory.js';
import { batchResult, collectedFile, itemResult } from './samples.js';

async function* each(items: readonly ItemResult[]): AsyncGenerator<ItemResult> {
  yield* items;
}

const claimIn =
  (cwd: string, batchId = 'b', deployment = 'd') =>
  async () =>
    void (await claimResultFolder({ deployment, batchId }, { out: 'got' }, { cwd }));

const never = {
  queuedAt: null,
  forkedAt: null,
  usableAt: null,
  promptedAt: null,
  answeredAt: null,
  endingAt: null,
  endedAt: null,
};

describe('the downloaded results of a batch', () => {
  it('are results.jsonl with whole answers, a report, and the files of each item in its own folder', async () => {
    const cwd = await temporaryDirectory();
    const store = createResultStore(join(cwd, 'store'));
    const kept = async (text: string) => (await store.put(`k/${text.length}`, Buffer.from(text))).ref;
    const [answer, file] = [await kept('the whole long answer'), await kept('# notes')];
    const prompts = [
      promptResult({ result: 'the wh', resultRef: answer }),
      promptResult({ resultRef: 'file-store:gone' }),
    ];
    const items = [
      itemResult(0, { itemId: 'a/m1' }, { prompts, files: [collectedFile('/out/notes.md', file)] }),
      itemResult(1, {}, { files: [collectedFile('x', 'file-store:gone'), collectedFile('y', null)] }),
      itemResult(2, { outcome: 'not_started', generation: 0, job: null, times: never }),
    ];
    const options = { cwd, out: 'got', claim: claimIn(cwd) };
    const home = await downloadResults(batchResult(), each(items), store, options);
    expect(home).toMatchObject({
      resultsFile: 'got/results.jsonl',
      reportFile: 'got/report.html',
      filesFolder: 'got/files',
      files: 1,
      forks: 2,
      problems: [expect.stringMatching(/^2: x: .*has no "gone"/), '2: y: not there'],
    });
    const lines = (await readFile(join(cwd, home.resultsFile), 'utf8')).trimEnd().split('\n');
    const read = lines.map((line) => JSON.parse(line) as ItemResult);
    expect(read.map(({ itemId }) => itemId)).toEqual(['a/m1', '2', '3']);
    expect(read[0]?.job?.prompts.map(({ result }) => result)).toEqual(['the whole long answer', 'answer']);
    expect(await readFile(join(cwd, 'got/files/a-m1/out/notes.md'), 'utf8')).toBe('# notes');
    const report = await readFile(join(cwd, home.reportFile), 'utf8');
    expect(report).toMatch(/^<!doctype html>/i);
    expect(report).toContain('# notes');
    expect(report).toContain('<a href="files/a-m1/out/notes.md"');
    await downloadResults(batchResult(), each(items), store, options);
    expect((await readdir(join(cwd, 'got'))).sort()).toEqual([
      '.sandflow-batch',
      'files',
      'report.html',
      'results.jsonl',
    ]);
  });

  it('count how the waits of the items ended, without the items of earlier runs', async () => {
    const wake = { waitedFor: 'usable', event: null, lagMs: null, waitedMs: 9, at: '2026-03-01T10:00:02Z' };
    const wakes = [{ ...wake, by: 'safety_poll' as const }];
    const before = '2026-02-01T10:00:00Z';
    const earlier = { times: { ...never, queuedAt: before, forkedAt: before, endedAt: before } };
    const items = [itemResult(0, {}, { wakes }), itemResult(1, {}, { wakes }), itemResult(2, earlier, { wakes })];
    const cwd = await temporaryDirectory();
    const home = await downloadResults(batchResult(), each(items), createResultStore(cwd), {
      ...{ cwd, out: 'got', claim: claimIn(cwd) },
    });
    expect(home).toMatchObject({ earlier: 1, waits: { byWebhook: 0, bySafetyPoll: 2 } });
  });

  it('have each file where --get places it, name what no item collected, and save no file over another', async () => {
    const cwd = await temporaryDirectory();
    const store = createResultStore(join(cwd, 'store'));
    const { ref } = await store.put('k', Buffer.from('content'));
    const files = (...paths: string[]) => ({ files: paths.map((path) => collectedFile(path, ref)) });
    const saved = async (gets: Readonly<Record<string, string>>, items: readonly ItemResult[], out: string) => {
      const saving = { cwd, out, claim: async () => void (await mkdir(join(cwd, out), { recursive: true })) };
      const where = { ...saving, gets: new Map(Object.entries(gets)) };
      const { problems } = await downloadResults(batchResult(), each(items), store, where);
      const all = await readdir(join(cwd, out, 'files'), { recursive: true, withFileTypes: true });
      const places = all
        .filter((one) => one.isFile())
        .map((one) => relative(join(cwd, out), join(one.parentPath, one.name)));
      return { places: places.sort(), problems };
    };
    const two = [itemResult(0, {}, files('out/a.md', 'b')), itemResult(1, {}, files('out/a.md', 'b'))];
    expect(await saved({ 'out/a.md': 'a.md' }, two, 'placed')).toEqual({
      places: ['files/1/a.md', 'files/1/b', 'files/2/a.md', 'files/2/b'],
      problems: [],
    });
    const { problems } = await saved({ 'out/z.md': 'z.md' }, two, 'sought');
    expect(problems).toEqual([expect.stringMatching(/^--get: no item collected out\/z\.md\./)]);
    const failed = itemResult(0, { outcome: 'prompt_failed' }, files('b'));
    expect((await saved({ 'out/z.md': 'z.md' }, [failed], 'failed')).problems).toEqual([]);
    expect(await saved({ 'out/a.md': 'b' }, two.slice(0, 1), 'clash')).toEqual({
      places: ['files/1/b'],
      problems: [expect.stringMatching(/^1: b: out\/a\.md and b would both be saved as b\./)],
    });
  });

  it('are never outside the folder, and never share a file between items', () => {
    const text = fc.oneof(
      fc.string({ unit: 'grapheme', maxLength: 12 }),
      fc.string({ unit: fc.constantFrom('.', '/', 'a', 'A', '~', '1', '\\', '\0'), maxLength: 10 }),
    );
    fc.assert(
      fc.property(fc.uniqueArray(text, { maxLength: 8 }), text, (ids, path) => {
        const folderOf = createItemFolders();
        const folders = ids.map((itemId, index) => folderOf({ itemId, index }));
        expect(new Set(folders.map((folder) => folder.toLowerCase())).size).toBe(ids.length);
        expect(folders.map((_, index) => folderOf({ itemId: ids[index] ?? '', index }))).toEqual(folders);
        for (const folder of folders) {
          expect(relative('/base', join('/base', folder))).not.toMatch(/^\.\.|^$|\//);
          const place = relative(join('/base', folder), placeBelow(join('/base', folder), path));
          expect(place.split('/')).not.toContain('..');
          expect(place).not.toBe('');
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('previews of files', () => {
  it('are the beginnings of text, cut between characters, and of nothing else', () => {
    const previews = createPreviews();
    previews.add('short', Buffer.from('hello'));
    previews.add('long', Buffer.from(`x${'é'.repeat(5_000)}`));
    previews.add('image', Buffer.from([0x89, 0x50, 0x00]));
    previews.add('latin', Buffer.from([0xe9, 0x20]));
    expect([...previews.all.keys()]).toEqual(['short', 'long']);
    expect(previews.all.get('long')).toMatch(/^xé+$/);
    for (let index = 0; index < 1_000; index += 1) previews.add(`${index}`, Buffer.alloc(8_000, 'a'));
    expect([...previews.all.values()].join('').length).toBeLessThanOrEqual(4_000_000);
  });
});

describe('items that fail while somebody watches', () => {
  const batch = { deployment: 'd', batchId: 'b', batchKey: 'key' };

  it('are reported as they appear, with the reason, without earlier and successful ones', async () => {
    const store = createResultStore(await temporaryDirectory());
    const end = (index: number, change: Partial<ItemResult>, job = {}) =>
      store.put(`fanout/sf-d-b/key/items/${index}/1.json`, storedJson(itemResult(index, change, job)));
    const items = createFailedItems(store, batch);
    await end(0, { outcome: 'prompt_failed' });
    expect(await items.look()).toEqual({ fresh: [], all: [] });
    await end(1, { outcome: 'completed' });
    const failed = { outcome: 'prompt_failed', failureClass: 'agent', generation: 2 } as const;
    await end(2, failed, { prompts: [promptResult({ error: 'exit code 3' })] });
    const row = expect.objectContaining({
      index: 2,
      itemId: '3',
      phase: 'prompt_failed',
      text: 'agent, at attempt 2, exit code 3',
    });
    expect(await items.look()).toEqual({ fresh: [row], all: [row] });
    expect(await items.look()).toEqual({ fresh: [], all: [row] });
  });

  it('are all read, of many that came together, by one look after the other', async () => {
    const store = createResultStore(await temporaryDirectory());
    const items = createFailedItems(store, batch);
    await items.look();
    for (let index = 0; index < 100; index += 1) {
      const item = storedJson(itemResult(index, { outcome: 'prompt_failed' }));
      await store.put(`fanout/sf-d-b/key/items/${index}/1.json`, item);
    }
    const looks = [await items.look(), await items.look(), await items.look(), await items.look()];
    expect(looks.map(({ fresh, hasMore }) => [fresh.length, hasMore])).toEqual([
      [40, true],
      [40, true],
      [20, undefined],
      [0, undefined],
    ]);
    expect(new Set(looks.flatMap(({ fresh }) => fresh.map(({ index }) => index))).size).toBe(100);
  });

  it('are listed with earlier ones where there is room, without those whose retry completed', async () => {
    const store = createResultStore(await temporaryDirectory());
    const end = (index: number, generation: number, outcome: ItemResult['outcome']) => {
      const item = storedJson(itemResult(index, { outcome, generation }));
      return store.put(`fanout/sf-d-b/key/items/${index}/${generation}.json`, item);
    };
    for (const index of [0, 1, 2, 3]) await end(index, 1, index === 1 ? 'completed' : 'prompt_failed');
    await end(0, 2, 'completed');
    const items = createFailedItems(store, batch);
    const shown = (rows: readonly { readonly index: number }[]) => rows.map(({ index }) => index);
    expect(shown((await items.look(9)).all)).toEqual([3, 2]);
    expect(shown((await createFailedItems(store, batch).look(1)).all)).toEqual([3]);
    await end(4, 1, 'sandbox_failed');
    await end(3, 2, 'completed');
    const { fresh, all } = await items.look();
    expect([shown(fresh), shown(all)]).toEqual([[4], [4, 2]]);
  });

  it('are found among the other objects of an item, such as the keys of its forks', async () => {
    const store = createResultStore(await temporaryDirectory());
    const put = (key: string, value: object) => store.put(`fanout/sf-d-b/key/items/${key}`, storedJson(value));
    const items = createFailedItems(store, batch);
    await items.look();
    await put('0/keys/1.json', { key: 'k', atMs: 1 });
    await put('0/keys/2/3.json', { key: 'k', atMs: 1 });
    expect(await items.look()).toEqual({ fresh: [], all: [] });
    await put('1/keys/1.json', { key: 'k', atMs: 1 });
    await put('1/1.json', itemResult(1, { outcome: 'prompt_failed' }, { prompts: [promptResult({ error: 'no' })] }));
    expect((await items.look()).fresh).toMatchObject([{ itemId: '2', phase: 'prompt_failed', text: 'no' }]);
  });

  it('are found although the result of another item cannot be read, now or ever', async () => {
    const store = createResultStore(await temporaryDirectory());
    const keyOf = (index: number) => `fanout/sf-d-b/key/items/${index}/1.json`;
    const fail = (index: number) =>
      store.put(keyOf(index), storedJson(itemResult(index, { outcome: 'prompt_failed' })));
    const ofOtherVersion = (index: number) => store.put(keyOf(index), Buffer.from('{"version":9}'));
    let isAway = true;
    const get: typeof store.get = (ref, options) =>
      isAway && ref.endsWith(keyOf(4)) ? Promise.reject(new Error('away')) : store.get(ref, options);
    const shown = (rows: readonly { readonly index: number }[]) => rows.map(({ index }) => index);
    await Promise.all([fail(0), ofOtherVersion(1)]);
    const items = createFailedItems({ ...store, get }, batch);
    expect(shown((await items.look(9)).all)).toEqual([0]);
    await Promise.all([ofOtherVersion(2), fail(3), fail(4), fail(5)]);
    const seen = await items.look(9);
    expect([shown(seen.fresh).sort(), seen.hasMore]).toEqual([[3, 5], true]);
    isAway = false;
    const { fresh, all, hasMore } = await items.look(9);
    expect([shown(fresh), shown(all).sort(), hasMore]).toEqual([[4], [0, 3, 4, 5], undefined]);
  });

  it('are found although they had failed before the first poll and are counted only afterwards', async () => {
    const store = createResultStore(await temporaryDirectory());
    const end = (index: number, generation: number, outcome: ItemResult['outcome']) => {
      const item = storedJson(itemResult(index, { outcome, generation }));
      return store.put(`fanout/sf-d-b/key/items/${index}/${generation}.json`, item);
    };
    for (const index of [0, 1, 2]) await end(index, 1, 'prompt_failed');
    const items = createFailedItems(store, batch);
    const shown = (rows: readonly { readonly index: number }[]) => rows.map(({ index }) => index);
    expect(shown((await items.look(0)).all)).toEqual([]);
    await end(2, 2, 'completed');
    const { fresh, all } = await items.look(1);
    expect([shown(fresh), shown(all)]).toEqual([[], [1]]);
    expect(shown((await items.look(9)).all)).toEqual([1, 0]);
  });

  it('are not reported if the store cannot be read', async () => {
    const broken = { list: () => Promise.reject(new Error('away')), get: () => Promise.reject(new Error('away')) };
    expect(await createFailedItems(broken, batch).look(9)).toEqual({ fresh: [], all: [] });
  });
});

describe('a folder of results', () => {
  const refused = {
    message: expect.stringMatching(/^--out: got is the folder of the batch a\. Choose another folder/),
  };

  it('belongs to the batch that claims it first, in every deployment', async () => {
    const cwd = await temporaryDirectory();
    await claimIn(cwd, 'a')();
    await claimIn(cwd, 'a')();
    await expect(claimIn(cwd, 'b')()).rejects.toMatchObject(refused);
    await expect(claimIn(cwd, 'a', 'other')()).rejects.toMatchObject(refused);
  });

  it('belongs to one of the batches that claim it at once', async () => {
    const cwd = await temporaryDirectory();
    const claims = await Promise.allSettled(['a', 'b', 'c'].map((batchId) => claimIn(cwd, batchId)()));
    expect(claims.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
  });

  it('is free again if the batch does not start, and what was in it stays', async () => {
    const cwd = await temporaryDirectory();
    const release = await claimResultFolder({ deployment: 'd', batchId: 'a' }, { out: 'got' }, { cwd });
    await release();
    expect(await readdir(cwd)).toEqual([]);
    const again = await claimResultFolder({ deployment: 'd', batchId: 'b' }, { out: 'got' }, { cwd });
    await writeFile(join(cwd, 'got', 'mine'), '');
    await again();
    expect(await readdir(join(cwd, 'got'))).toEqual(['mine']);
  });

  it.each([
    ['between two items', [itemResult(1)], ['.sandflow-batch']],
    ['after the last item', [], ['.sandflow-batch', 'results.jsonl']],
  ])('gets nothing more of a batch once another has it: %s', async (_, later, left) => {
    const cwd = await temporaryDirectory();
    async function* whileTaken() {
      yield itemResult(0);
      await rm(join(cwd, 'got', '.sandflow-batch'));
      await claimIn(cwd, 'a')();
      yield* later;
    }
    const saving = { cwd, out: 'got', claim: claimIn(cwd, 'b') };
    const store = createResultStore(join(cwd, 'store'));
    await expect(downloadResults(batchResult(), whileTaken(), store, saving)).rejects.toMatchObject(refused);
    expect((await readdir(join(cwd, 'got'))).sort()).toEqual(left);
  });
});
