/** Where the files of an item are saved, as `--get` of a batch says. */
import { posix } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createItemFiles } from '../../../../src/cli/fanout/results/item-files.js';
import { createItemPlaces, parseItemGets } from '../../../../src/cli/fanout/results/item-places.js';
import { parseGetPair } from '../../../../src/cli/settings/file-pairs.js';

describe('--get of a batch', () => {
  it.each([
    ['out/report.md', 'out/report.md', 'out/report.md'],
    ['/srv/report.md', '/srv/report.md', '/srv/report.md'],
    ['out/report.md:report.md', 'out/report.md', 'report.md'],
    ['out/report.md:deep/other.md', 'out/report.md', 'deep/other.md'],
    ['out/report.md:got/', 'out/report.md', 'got/report.md'],
    ['out/report.md:.', 'out/report.md', 'report.md'],
    ['out/report.md:./got//here.md', 'out/report.md', 'got/here.md'],
    ['out/report.md:got/../here.md', 'out/report.md', 'here.md'],
    ['a:b.txt:b.txt', 'a:b.txt', 'b.txt'],
    ['out/', 'out/', 'out/'],
    ['out/:b', 'out/', 'b'],
    ['out/:b/', 'out/', 'b/out'],
    ['./:all', './', 'all'],
  ])('%s is %s, saved as %s', (text, remote, place) => {
    expect([...parseItemGets([text])]).toEqual([[remote, place]]);
    expect(parseGetPair(text).remote).toBe(remote);
  });

  it.each([
    [[''], '--get must be REMOTE or REMOTE:LOCAL'],
    [[':b'], '--get must be REMOTE or REMOTE:LOCAL'],
    [['a:'], '--get must be REMOTE or REMOTE:LOCAL'],
    [['../a:b'], '--get: ../a leads out of the sandbox'],
    [['out/.:b'], '--get: out/. is a folder. Say so with a slash'],
    [['./'], '--get: ./ has no name of its own. Name the local folder, like ./:results.'],
    [['out/', 'out/a'], '--get: out/ and out/a: out would be a file and a folder.'],
    [['*.md:b'], '--get: *.md is a pattern'],
    [['a:/tmp/b'], '--get: /tmp/b leads out of the folder of the item. Use a relative path without ".."'],
    [['a:..'], '--get: .. leads out of the folder of the item.'],
    [['a:../b'], '--get: ../b leads out of the folder of the item.'],
    [['a:b/../../c'], '--get: b/../../c leads out of the folder of the item.'],
    [['a:x', 'b:./x'], '--get: a and b would both be saved as x. Give each its own local path.'],
    [['a', 'b:a'], '--get: a and b would both be saved as a. Give each its own local path.'],
    [['a/x', '/a/x'], '--get: a/x and /a/x would both be saved as a/x.'],
    [['a:x', 'b:x/y/z'], '--get: a and b: x would be a file and a folder. Give each its own local path.'],
    [['a:x/y/z', 'b:x'], '--get: a and b: x would be a file and a folder.'],
    [['a:x', 'a:y'], '--get: a would be saved as x and as y. Name it once.'],
    [['a', 'a:y'], '--get: a would be saved as a and as y. Name it once.'],
  ])('refuses %j', (texts, message) => {
    expect(() => parseItemGets(texts)).toThrow(message);
  });

  it('takes the same file twice, and two names of one file', () => {
    expect([...parseItemGets(['a', 'a', './a'])]).toEqual([
      ['a', 'a'],
      ['./a', './a'],
    ]);
  });

  it('gives no two files of an item one place, and no place outside of the folder', () => {
    const part = fc.constantFrom('a', 'b', '..', '.', '');
    const path = fc.array(part, { minLength: 1, maxLength: 4 }).map((parts) => parts.join('/'));
    fc.assert(
      fc.property(fc.uniqueArray(path, { maxLength: 5 }), fc.dictionary(path, path), (remotes, gets) => {
        const placeOf = createItemPlaces(new Map(Object.entries(gets)));
        const places = new Map<string, string>();
        for (const remote of remotes) {
          try {
            places.set(remote, placeOf(remote));
          } catch {}
        }
        for (const [remote, place] of places) {
          expect(place).not.toMatch(/^\/|(?:^|\/)\.\.(?:\/|$)|^$/);
          const same = [...places].filter(([, other]) => other === place);
          expect(new Set(same.map(([one]) => posix.normalize(one))).size).toBe(1);
          expect([...places.values()].filter((other) => other.startsWith(`${place}/`))).toEqual([]);
          expect(placeOf(remote)).toBe(place);
        }
      }),
    );
  });
});

describe('a file that an item names itself', () => {
  const wish = { id: '1', prompts: [], put: [], place: { file: 'f', line: 3 } };
  const check = (get: readonly string[], own: object, collectDiff?: string) =>
    createItemFiles({ cwd: '/', put: [], gets: parseItemGets(get), ...(collectDiff && { collectDiff }) }).check({
      ...wish,
      ...own,
    });

  it.each([
    [['a:b'], { collect: ['b'] }, undefined, 'f:3: get: a and b would both be saved as b.'],
    [['a:b'], { collect: ['b/c'] }, undefined, 'f:3: get: a and b/c: b would be a file and a folder.'],
    [['a:changes.patch'], { collectDiff: 'app' }, undefined, 'f:3: get: a and changes.patch would both be saved as'],
    [['a:changes.patch'], {}, 'app', '--get: a and changes.patch would both be saved as changes.patch.'],
    [['changes.patch:b'], {}, 'app', '--get: must not have changes.patch'],
    [[], { collect: ['changes.patch'] }, 'app', 'f:3: get: must not have changes.patch'],
  ])('is refused in the place of another: %j and %j', async (get, own, diff, message) => {
    await expect(check(get, own, diff)).rejects.toThrow(message);
  });

  it('is collected once, and saved where --get says', async () => {
    await check(['a:b', 'c'], { collect: ['a', './c', 'd'], collectDiff: 'app' });
    const files = createItemFiles({ cwd: '/', put: [], gets: parseItemGets(['a:b', 'c']) });
    const item = await files.read({ ...wish, collect: ['a', 'd'] }, async () => 'ref');
    expect(item.collect).toEqual(['a', 'c', 'd']);
  });
});
