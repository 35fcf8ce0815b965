import { createHash } from 'node:crypto';
import { chmod, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createItemFiles } from '../../../../src/cli/fanout/results/item-files.js';
import { parseItemGets } from '../../../../src/cli/fanout/results/item-places.js';
import { findPutFiles, folderToCollect, readPutFiles, scriptNotice } from '../../../../src/cli/run/put-files.js';
import { saveFiles } from '../../../../src/cli/run/save-files.js';
import {
  diffFolderOf,
  type PutPair,
  parseGetDiff,
  parseGetPairs,
  parsePutPair,
  withPatch,
} from '../../../../src/cli/settings/file-pairs.js';
import { joinPair, splitPair } from '../../../../src/texts/path-pair.js';
import { temporaryDirectory } from '../temporary-directory.js';

function collected(path: string, content: string) {
  return {
    path,
    size: content.length,
    sha256: createHash('sha256').update(content).digest('hex'),
    ref: `store:${path}`,
    error: null,
    partial: false,
    unchanged: null,
  };
}

describe('--put and --get', () => {
  it.each([
    ['a\\:b.md', ['a:b.md', undefined]],
    ['a\\:b.md:c.md', ['a:b.md', 'c.md']],
    ['n.md:a\\:b.md', ['n.md', 'a:b.md']],
    ['a\\:b:c\\:d', ['a:b', 'c:d']],
    ['a:b:c', ['a:b', 'c']],
    ['a\\\\:b', ['a\\', 'b']],
    ['a\\\\\\:b', ['a\\:b', undefined]],
    ['a\\b:c\\d', ['a\\b', 'c\\d']],
    ['a\\\\b', ['a\\\\b', undefined]],
    [':x', ['', 'x']],
    ['x:', ['x', '']],
  ])('a backslash before a colon makes it part of a name: %s', (text, pair) => {
    expect(splitPair(text)).toEqual(pair);
  });

  it('what is joined is split into the same', () => {
    const path = fc.string({ unit: fc.constantFrom('a', ':', '\\', '/', '.', ' ', 'ü') });
    fc.assert(
      fc.property(path, path, (one, other) => void expect(splitPair(joinPair(one, other))).toEqual([one, other])),
    );
  });

  it('names with colons are put, saved and named in what to do, in both directions', async () => {
    const cwd = await temporaryDirectory();
    await writeFile(join(cwd, 'n:1.md'), 'x');
    const files = await findPutFiles([parsePutPair('n\\:1.md'), parsePutPair('n\\:1.md:a\\:b.md')], cwd);
    expect(files.map(({ remotePath }) => remotePath)).toEqual(['n:1.md', 'a:b.md']);
    await expect(findPutFiles([parsePutPair('n:1.md:a:b.md')], cwd)).rejects.toThrow(
      'A colon in a path is written \\:',
    );
    const pairs = parseGetPairs(['a\\:b.md:c\\:d.md', 'e\\:f.md']);
    expect(pairs.map(({ local }) => local)).toEqual(['c:d.md', 'e:f.md']);
    await writeFile(join(cwd, 'e:f.md'), 'mine');
    const collect = pairs.map(({ remote }) => collected(remote, 'new'));
    const saved = await saveFiles(collect, pairs, { get: async () => Buffer.from('new') }, cwd);
    expect(saved[0]).toMatchObject({ localPath: join(cwd, 'c:d.md'), error: null });
    expect(saved[1]?.error).toContain('--get e\\:f.md:e\\:f.md');
    expect(parseGetPairs(withPatch([], parseGetDiff('app:fix\\:1.patch')))[0]?.local).toBe('fix:1.patch');
    expect(diffFolderOf('a\\:b')).toBe('a:b');
    expect([...parseItemGets(['a\\:b.md', 'c:d\\:e'])]).toEqual([
      ['a:b.md', 'a:b.md'],
      ['c', 'd:e'],
    ]);
  });

  it.each(['~/x', '~', '$HOME/x', '$(pwd)/x', '"x"', 'file:///x', 'x\r', 'x\n', 'caf\ufffd.txt'])(
    'refuses what neither side expands or could mean: %s',
    (path) => {
      const refused = /^--(?:put|get|get-diff): ".*" (?:begins|contains|ends|is a URL|is not UTF-8)/;
      for (const pair of [path, `${path}:a`, `a:${path}`]) {
        const plain = pair.replace(/^file:\/\/\//, 'file\\:///').replace('a:file:', 'a:file\\:');
        expect(() => parsePutPair(plain), plain).toThrow(refused);
        expect(() => parseGetPairs([plain]), plain).toThrow(refused);
        if (plain !== path) expect(() => parseGetDiff(plain), plain).toThrow(refused);
      }
    },
  );

  it.each(['./~/x', './"x"', './$x', ' x', 'x # y', 'a\nb', 'a?b', "it's", '%2F'])(
    'takes any other name: %j',
    (path) => {
      expect(parsePutPair(`${path}:${path}`)).toEqual({ local: path, remote: path });
      expect(parseGetPairs([`${path}:${path}`])[0]).toMatchObject({ local: path, remote: path });
    },
  );

  it('says that a name is not UTF-8, in a folder too', async () => {
    const cwd = await temporaryDirectory();
    await mkdir(join(cwd, 'tree'));
    await writeFile(Buffer.concat([Buffer.from(`${join(cwd, 'tree')}/caf`), Buffer.from([0xe9])]), 'x');
    for (const local of ['tree', 'tree/caf\ufffd']) {
      const found = findPutFiles([{ local, remote: 'x' }], cwd);
      await expect(found).rejects.toThrow('--put: tree/caf\ufffd cannot be read: its name is not UTF-8');
    }
  });

  it('a path to collect is a folder if a file is put below it', async () => {
    const cwd = await temporaryDirectory();
    await mkdir(join(cwd, 'tree/inner'), { recursive: true });
    await writeFile(join(cwd, 'tree/inner/a.md'), 'x');
    await writeFile(join(cwd, 'b.md'), 'x');
    const files = await findPutFiles(['tree', 'b.md:out/b.md', 'b.md:/srv/b.md'].map(parsePutPair), cwd);
    for (const path of ['tree', './tree', 'tree/inner', 'out', 'a/../out', '/srv', '//srv'])
      expect(folderToCollect(['x', path], files)).toMatch(` is a folder: `);
    for (const path of ['tree/inner/a.md', 'out/b.md', 'ou', 'outer', 'srv', 'b.md', '/out'])
      expect(folderToCollect([path], files)).toBeUndefined();
  });

  it('splits at the last colon, and uses the name of the file by default', () => {
    expect(parsePutPair('a:b.txt:/srv/c.txt')).toEqual({ local: 'a:b.txt', remote: '/srv/c.txt' });
    expect(parsePutPair('bin/agent.sh')).toEqual({ local: 'bin/agent.sh', remote: 'agent.sh' });
    expect(parsePutPair('skills/')).toEqual({ local: 'skills/', remote: 'skills' });
    expect(parseGetPairs(['out/a.md', 'out/b.md:c.md', 'd.md:results/'])).toEqual([
      { remote: 'out/a.md', local: 'a.md' },
      { remote: 'out/b.md', local: 'c.md', named: true },
      { remote: 'd.md', local: 'results/d.md' },
    ]);
  });

  it.each([
    [true, '.', 'changes.patch', undefined],
    ['app', 'app', 'changes.patch', undefined],
    ['app:fix.patch', 'app', 'fix.patch', true],
    ['app:out/', 'app', 'out/changes.patch', undefined],
    [':fix.patch', '.', 'fix.patch', true],
  ] as const)('reads --get-diff %s', (value, remote, local, named) => {
    const diff = parseGetDiff(value);
    expect(diff).toEqual({ remote, local, named });
    expect(parseGetPairs(withPatch(['a.md'], diff))[1]).toEqual({ remote: 'changes.patch', local, named });
  });

  it('refuses a --get-diff without a place, or outside of the sandbox, and a file of the same name', () => {
    expect(parseGetDiff(undefined)).toBeUndefined();
    expect(diffFolderOf(true)).toBe('.');
    expect(() => parseGetDiff('app:')).toThrow('--get-diff must be FOLDER or FOLDER:LOCAL');
    expect(() => parseGetDiff('../app')).toThrow('leads out');
    expect(() => diffFolderOf('../app')).toThrow('leads out');
    expect(() => diffFolderOf('')).toThrow('must be a folder');
    expect(() => parseGetPairs(withPatch(['a/changes.patch'], parseGetDiff(true)))).toThrow('both be saved');
  });

  it.each([':b', 'a:', ''])('refuses --put "%s"', (text) => {
    expect(() => parsePutPair(text)).toThrow('--put must be LOCAL or LOCAL:REMOTE');
  });

  it.each(['', ':b', 'a:'])('refuses --get "%s"', (text) => {
    expect(() => parseGetPairs([text])).toThrow('--get must be REMOTE or REMOTE:LOCAL');
  });

  it('refuses paths that lead out of the sandbox before anything starts', () => {
    expect(() => parsePutPair('x:../../etc/passwd')).toThrow('--put: ../../etc/passwd leads out of the sandbox');
    expect(() => parsePutPair('x:a/../../b')).toThrow('leads out of the sandbox');
    expect(() => parseGetPairs(['../x'])).toThrow('--get: ../x leads out of the sandbox');
    expect(parsePutPair('x:a/../..b').remote).toBe('a/../..b');
  });

  it('refuses two files for one target, on either side', async () => {
    expect(() => parseGetPairs(['a/x', 'b/x'])).toThrow('a/x and b/x would both be saved as x');
    const cwd = await temporaryDirectory();
    await writeFile(join(cwd, 'one'), '1');
    const pairs = [parsePutPair('one:x'), parsePutPair('one:./x')];
    await expect(findPutFiles(pairs, cwd)).rejects.toThrow('two files would be written to');
  });

  it('saves nothing through a link to a folder, which a project may hold where a file is saved', async () => {
    const cwd = await temporaryDirectory();
    await mkdir(join(cwd, 'keys'));
    await mkdir(join(cwd, 'project'));
    for (const name of ['config', 'changes.patch']) await symlink('../keys', join(cwd, 'project', name));
    const pairs = parseGetPairs(withPatch(['out/config'], parseGetDiff(true)));
    const files = pairs.map(({ remote }) => collected(remote, 'evil'));
    const saved = await saveFiles(files, pairs, { get: async () => Buffer.from('evil') }, join(cwd, 'project'));
    expect(saved.map(({ localPath }) => localPath)).toEqual([null, null]);
    expect(saved[0]?.error).toMatch(/cannot be written to config: it is a link to a folder/);
    expect(await readdir(join(cwd, 'keys'))).toEqual([]);
    const named = parseGetPairs(['out/config:config/']);
    await saveFiles(files, named, { get: async () => Buffer.from('evil') }, join(cwd, 'project'));
    expect(await readdir(join(cwd, 'keys'))).toEqual(['config']);
  });

  it('finds folders recursively, follows links to files, and refuses links to folders', async () => {
    const cwd = await temporaryDirectory();
    await mkdir(join(cwd, 'tree/inner'), { recursive: true });
    await writeFile(join(cwd, 'tree/inner/a.txt'), 'a');
    await symlink(join(cwd, 'tree/inner/a.txt'), join(cwd, 'tree/link.txt'));
    const files = await findPutFiles([{ local: 'tree', remote: 'data' }], cwd);
    expect(files.map(({ remotePath }) => remotePath).sort()).toEqual(['data/inner/a.txt', 'data/link.txt']);
    await symlink(cwd, join(cwd, 'tree/round'));
    await expect(findPutFiles([{ local: 'tree', remote: 'data' }], cwd)).rejects.toThrow(
      'tree/round is a link to a folder',
    );
  });

  it('names a missing file', async () => {
    await expect(findPutFiles([{ local: 'none.csv', remote: 'x' }], await temporaryDirectory())).rejects.toThrow(
      '--put: none.csv cannot be read',
    );
  });

  it('sends 128 KiB inline in total, and the rest through the store', async () => {
    const cwd = await temporaryDirectory();
    await writeFile(join(cwd, 'a'), Buffer.alloc(100 * 1024));
    await writeFile(join(cwd, 'b'), Buffer.alloc(50 * 1024));
    await writeFile(join(cwd, 'c'), Buffer.alloc(28 * 1024));
    const files = await findPutFiles(
      ['a', 'b', 'c'].map((name) => ({ local: name, remote: name })),
      cwd,
    );
    const stored: number[] = [];
    const puts = await readPutFiles(files, async (content) => `store:${stored.push(content.length)}`);
    expect(puts.map(({ content }) => ('ref' in content ? content.ref : 'inline'))).toEqual([
      'inline',
      'store:1',
      'inline',
    ]);
    expect(stored).toEqual([50 * 1024]);
  });

  it('reports a file that the job did not collect', async () => {
    const cwd = await temporaryDirectory();
    const pairs = parseGetPairs(['a.md', 'b.md']);
    const [saved, absent] = await saveFiles(
      [collected('a.md', 'x')],
      pairs,
      { get: async () => Buffer.from('x') },
      cwd,
    );
    expect(saved).toMatchObject({ path: 'a.md', localPath: join(cwd, 'a.md'), error: null });
    expect(absent).toMatchObject({ path: 'b.md', localPath: null, ref: null });
    expect(absent?.error).toMatch(/^The job did not collect it\. It collected a\.md\./);
  });

  it('writes collected files, creates their folders, and leaves nothing else', async () => {
    const cwd = await temporaryDirectory();
    const saved = await saveFiles(
      [collected('out/a.md', 'result')],
      [{ remote: 'out/a.md', local: 'deep/b.md' }],
      { get: async () => Buffer.from('result') },
      cwd,
    );
    expect(saved[0]).toMatchObject({ path: 'out/a.md', localPath: join(cwd, 'deep/b.md'), error: null });
    expect(await readFile(join(cwd, 'deep/b.md'), 'utf8')).toBe('result');
    expect(await readdir(join(cwd, 'deep'))).toEqual(['b.md']);
  });

  it('writes into an existing folder under the name of the file', async () => {
    const cwd = await temporaryDirectory();
    await mkdir(join(cwd, 'here'));
    await saveFiles(
      [collected('out/a.md', 'x')],
      [{ remote: 'out/a.md', local: 'here' }],
      { get: async () => Buffer.from('x') },
      cwd,
    );
    expect(await readdir(join(cwd, 'here'))).toEqual(['a.md']);
  });

  it('keeps another file in its place unless the option names it, and saves the same content again', async () => {
    const cwd = await temporaryDirectory();
    await mkdir(join(cwd, 'here'));
    for (const name of ['a.md', 'here/a.md', 'named.md']) await writeFile(join(cwd, name), 'mine');
    const save = async (get: string, content = 'new') => {
      const pairs = parseGetPairs([get]);
      const [saved] = await saveFiles(
        [collected('out/a.md', content)],
        pairs,
        { get: async () => Buffer.from(content) },
        cwd,
      );
      return saved;
    };
    const taken = 'a.md exists already. Move it, or name the file to replace: --get out/a.md:';
    expect((await save('out/a.md'))?.error).toContain(`${taken}a.md`);
    for (const get of ['out/a.md:here', 'out/a.md:here/'])
      expect((await save(get))?.error).toContain(`${taken}here/a.md`);
    expect(await save('out/a.md', 'mine')).toMatchObject({ localPath: join(cwd, 'a.md'), error: null });
    expect(await save('out/a.md:named.md')).toMatchObject({ error: null });
    const kept = ['a.md', 'here/a.md', 'named.md'].map((name) => readFile(join(cwd, name), 'utf8'));
    expect(await Promise.all(kept)).toEqual(['mine', 'mine', 'new']);
  });

  it('replaces a link instead of writing through it', async () => {
    const cwd = await temporaryDirectory();
    await writeFile(join(cwd, 'precious'), 'mine');
    await symlink(join(cwd, 'precious'), join(cwd, 'a.md'));
    const pairs = [{ remote: 'a.md', local: 'a.md', named: true }];
    await saveFiles([collected('a.md', 'x')], pairs, { get: async () => Buffer.from('x') }, cwd);
    expect(await readFile(join(cwd, 'precious'), 'utf8')).toBe('mine');
    expect(await readFile(join(cwd, 'a.md'), 'utf8')).toBe('x');
  });

  it('refuses content that differs from what was collected, and names a store that does not answer', async () => {
    const cwd = await temporaryDirectory();
    const pairs = [{ remote: 'a.md', local: 'a.md' }];
    const [wrong] = await saveFiles([collected('a.md', 'x')], pairs, { get: async () => Buffer.from('y') }, cwd);
    expect(wrong).toMatchObject({ localPath: null, error: expect.stringContaining('differs from what was collected') });
    const [lost] = await saveFiles(
      [collected('a.md', 'x')],
      pairs,
      { get: () => Promise.reject(new Error('no such ref')) },
      cwd,
    );
    expect(lost).toMatchObject({ localPath: null, error: expect.stringContaining('no such ref') });
    expect(await readdir(cwd)).toEqual([]);
  });
});

it.skipIf(process.getuid?.() === 0)(
  'refuses a file of --put that this user may not read, before anything starts',
  async () => {
    const cwd = await temporaryDirectory();
    await writeFile(join(cwd, 'closed'), 'x', { mode: 0 });
    await expect(findPutFiles([{ local: 'closed', remote: 'x' }], cwd)).rejects.toThrow(
      '--put: closed cannot be read.',
    );
  },
);

describe('more than 1,000 files', () => {
  const [a, b] = [parsePutPair('a:a'), parsePutPair('b:b')];
  const folders = async () => {
    const cwd = await temporaryDirectory();
    for (const [folder, count] of [['a', 600] as const, ['b', 401] as const]) {
      await mkdir(join(cwd, folder, 'inner'), { recursive: true });
      const names = Array.from({ length: count }, (_, at) => join(cwd, folder, at % 2 ? 'inner' : '', String(at)));
      await Promise.all(names.map((name) => writeFile(name, '')));
    }
    return cwd;
  };

  it('are refused when they are counted, before one is read', async () => {
    const cwd = await folders();
    await expect(findPutFiles([a, b], cwd)).rejects.toThrow('--put: there are more than 1000 files.');
    expect(await findPutFiles([a], cwd)).toHaveLength(600);
  });

  it('are refused for an item that adds its own to those of all items', async () => {
    const files = createItemFiles({ cwd: await folders(), put: [a], gets: new Map() });
    const item = (put: readonly PutPair[]) => ({ id: '1', prompts: [], put, place: { file: 'f', line: 3 } });
    await expect(files.check(item([b]))).rejects.toThrow('f:3: put: there are more than 1000 files.');
    await files.check(item([]));
  });
});

it.skipIf(process.platform === 'win32')('a warning says which files lose the permission to execute', async () => {
  const cwd = await temporaryDirectory();
  for (const name of ['a.sh', 'b.sh', 'data.csv']) await writeFile(join(cwd, name), '');
  for (const name of ['a.sh', 'b.sh']) await chmod(join(cwd, name), 0o755);
  const pairs = ['a.sh:bin/a.sh', 'data.csv:data.csv', 'b.sh:b.sh'].map(parsePutPair);
  const found = (names: readonly PutPair[]) => findPutFiles(names, cwd);
  expect(scriptNotice(await found(pairs))).toContain('The sandbox gets bin/a.sh and 1 more without the permission');
  expect(scriptNotice(await found(pairs.slice(1, 2)))).toBeUndefined();
  const files = createItemFiles({ cwd, put: pairs.slice(1, 2), gets: new Map() });
  for (const id of ['1', '2']) {
    await files.check({ id, prompts: [], put: pairs.slice(0, 1), place: { file: 'f', line: 1 } });
  }
  expect(files.scriptNotice()).toContain('The sandbox gets bin/a.sh without');
});

it('a warning says which scripts have line ends of Windows', async () => {
  const cwd = await temporaryDirectory();
  const contents = {
    'cr.sh': '#!/usr/bin/env bash\r\nset -e\r\n',
    'lf.sh': '#!/bin/sh\nprintf "a\r\n"\n',
    'cr.py': '#!/usr/bin/python3\r\n',
    'cr.csv': 'a,sh\r\n1,2\r\n',
    empty: '',
  };
  for (const [name, content] of Object.entries(contents)) await writeFile(join(cwd, name), content);
  const put = Object.keys(contents).map(parsePutPair);
  const notice =
    "The sandbox gets cr.sh with line ends of Windows, which no shell takes. Convert it: tr -d '\\r' < FILE > NEW_FILE";
  expect(scriptNotice(await findPutFiles(put, cwd))).toBe(notice);
  const files = createItemFiles({ cwd, put: [], gets: new Map() });
  await files.check({ id: '1', prompts: [], put, place: { file: 'f', line: 1 } });
  expect(files.scriptNotice()).toBe(notice);
});
