/** Folders that somebody else has created, such as a cloned repository, given to a sandbox. */
import { execFile } from 'node:child_process';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { createItemFiles } from '../../../src/cli/fanout/results/item-files.js';
import { findPutFiles, readPutFiles } from '../../../src/cli/run/put-files.js';
import { temporaryDirectory } from '../../unit/cli/temporary-directory.js';

const run = promisify(execFile);
const pairs = [{ local: 'tree', remote: 'data' }];

async function tree(): Promise<string> {
  const cwd = await temporaryDirectory();
  await mkdir(join(cwd, 'tree', 'inner'), { recursive: true });
  await writeFile(join(cwd, 'tree', 'inner', 'a'), 'inside');
  await writeFile(join(cwd, 'secret'), 'outside');
  return cwd;
}

describe('links in --put', () => {
  it.each([
    [
      'to a file outside',
      (cwd: string) => symlink(join(cwd, 'secret'), join(cwd, 'tree', 'link')),
      /outside the folder/,
    ],
    [
      'that climb out',
      (cwd: string) => symlink('../../secret', join(cwd, 'tree', 'inner', 'link')),
      /outside the folder/,
    ],
    [
      'over a link to a folder',
      async (cwd: string) => {
        await symlink('..', join(cwd, 'tree', 'up'));
      },
      /link to a folder/,
    ],
    ['to a folder outside', (cwd: string) => symlink('/etc', join(cwd, 'tree', 'link')), /link to a folder/],
    [
      'to a folder whose name begins as the given one',
      async (cwd: string) => {
        await mkdir(join(cwd, 'tree-2'));
        await writeFile(join(cwd, 'tree-2', 'a'), '');
        await symlink('../tree-2/a', join(cwd, 'tree', 'link'));
      },
      /outside the folder/,
    ],
    ['that lead nowhere', (cwd: string) => symlink('none', join(cwd, 'tree', 'link')), /broken link/],
    ['to themselves', (cwd: string) => symlink('link', join(cwd, 'tree', 'link')), /broken link/],
  ])('%s are refused by name', async (_what, make, message) => {
    const cwd = await tree();
    await make(cwd);
    await expect(findPutFiles(pairs, cwd)).rejects.toThrow(message);
    await expect(findPutFiles(pairs, cwd)).rejects.toThrow(/--put: tree\//);
    const place = { file: 'items', line: 1 };
    const items = createItemFiles({ cwd, put: [], gets: new Map() });
    await expect(items.check({ id: 'a', prompts: ['b'], put: pairs, place } as never)).rejects.toThrow(message);
  });

  it('to a file of the folder are followed, and a folder may itself be named by a link', async () => {
    const cwd = await tree();
    await symlink('inner/a', join(cwd, 'tree', 'link'));
    await symlink('tree', join(cwd, 'named'));
    const files = await findPutFiles([{ local: 'named', remote: 'data' }], cwd);
    expect(files.map(({ remotePath }) => remotePath).sort()).toEqual(['data/inner/a', 'data/link']);
    const puts = await readPutFiles(files, async () => 'ref');
    expect(puts.map(({ content }) => content)).toEqual(
      Array(2).fill({ base64: Buffer.from('inside').toString('base64') }),
    );
  });

  it('that replace a file after the search are not followed, and a pipe is not awaited', async () => {
    const cwd = await tree();
    const files = await findPutFiles(pairs, cwd);
    const file = join(cwd, 'tree', 'inner', 'a');
    await rm(file);
    await symlink(join(cwd, 'secret'), file);
    await expect(readPutFiles(files, async () => 'ref')).rejects.toThrow(/cannot be read/);
    await rm(file);
    await run('mkfifo', [file]);
    await expect(readPutFiles(files, async () => 'ref')).rejects.toThrow(/cannot be read/);
  });

  it('beside pipes are refused without waiting', async () => {
    const cwd = await tree();
    await run('mkfifo', [join(cwd, 'tree', 'pipe')]);
    await expect(findPutFiles(pairs, cwd)).rejects.toThrow(/neither a file nor a folder/);
  });
});
