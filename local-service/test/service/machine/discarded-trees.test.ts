import { chmod, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { discardTree } from '../../../src/machine/disk/copy-tree.js';
import { temporaryDirectory } from './machine-fixture.js';

type Fill = (tree: string, outside: string) => Promise<unknown>;

const trees: Readonly<Record<string, Fill>> = {
  'that does not exist': async () => undefined,
  'without content': async (tree) => await mkdir(tree),
  'of files and empty folders': async (tree) => {
    await mkdir(join(tree, 'empty'), { recursive: true });
    await writeFile(join(tree, 'file'), 'text');
    await writeFile(Buffer.concat([Buffer.from(join(tree, 'not-text-')), Buffer.from([0xff])]), 'text');
  },
  'of links to files and folders outside': async (tree, outside) => {
    await mkdir(tree);
    await symlink(outside, join(tree, 'folder'));
    await symlink(join(outside, 'kept'), join(tree, 'file'));
    await symlink('nowhere', join(tree, 'dangling'));
  },
  'that is a link itself': async (tree, outside) => await symlink(outside, tree),
  'that is a file': async (tree) => await writeFile(tree, 'text'),
  'of folders in folders': async (tree, outside) => {
    await mkdir(join(tree, 'a', 'b'), { recursive: true });
    await symlink(outside, join(tree, 'a', 'b', 'link'));
  },
  'that is read-only': async (tree) => {
    await mkdir(join(tree, 'inner'), { recursive: true });
    await writeFile(join(tree, 'inner', 'file'), 'text');
    await chmod(join(tree, 'inner'), 0o500);
    await chmod(tree, 0o500);
  },
  'of many files': async (tree) => {
    await mkdir(tree);
    for (let count = 0; count < 250; count += 1) await writeFile(join(tree, `file-${count}`), '');
  },
};

it.each(Object.keys(trees))('discards a tree %s, and nothing else', async (kind) => {
  const directory = await temporaryDirectory();
  const [tree, outside, unfinished] = ['tree', 'outside', 'unfinished'].map((name) => join(directory, name)) as [
    string,
    string,
    string,
  ];
  await mkdir(unfinished);
  await mkdir(outside);
  await writeFile(join(outside, 'kept'), 'kept');
  await trees[kind]?.(tree, outside);
  await discardTree(tree, unfinished);
  expect(await readdir(directory)).toEqual(['outside', 'unfinished']);
  expect(await readdir(unfinished)).toEqual([]);
  expect(await readFile(join(outside, 'kept'), 'utf8')).toBe('kept');
});
