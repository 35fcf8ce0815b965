/** Where results may be saved. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { requireResultPlaces } from '../../../../src/cli/fanout/result-places.js';
import { requirePlaces } from '../../../../src/cli/output-places.js';
import { parseGetPairs, requireGetPlaces } from '../../../../src/cli/settings/file-pairs.js';
import { temporaryDirectory } from '../temporary-directory.js';

it.skipIf(process.platform === 'win32')(
  'a pipe or a device, also through a link, is no place: the saved file would replace it',
  async () => {
    const cwd = await temporaryDirectory();
    execFileSync('mkfifo', [join(cwd, 'pipe')]);
    symlinkSync('pipe', join(cwd, 'link'));
    for (const path of ['pipe', 'link', '/dev/null']) {
      for (const kind of ['file', 'folder'] as const) {
        const checked = requirePlaces([{ option: '--get', path, kind }], cwd);
        await expect(checked).rejects.toThrow(`--get: ${path} is neither a file nor a folder`);
      }
    }
  },
);

it.skipIf(process.platform !== 'linux')(
  'a place below /proc is none, although its folder is writable for root',
  async () => {
    const cwd = await temporaryDirectory();
    const place = { option: '--get', path: '/proc/nope/x', kind: 'file' } as const;
    await expect(requirePlaces([place], cwd)).rejects.toThrow(
      /^--get: \/proc\/nope\/x cannot be saved in \/proc: (?:nothing can be created there|permission denied)/,
    );
    const folder = { option: '--out', path: '/proc/x', kind: 'folder' } as const;
    await expect(requirePlaces([folder], cwd)).rejects.toThrow('--out: /proc/x cannot be saved in /proc: ');
  },
);

it.skipIf(process.platform === 'win32')('a link that leads nowhere, or where it may not, is no place', async () => {
  const cwd = await temporaryDirectory();
  symlinkSync('none', join(cwd, 'dangling'));
  symlinkSync('.', join(cwd, 'round'));
  for (const kind of ['file', 'folder'] as const) {
    const checked = requirePlaces([{ option: '--out', path: 'dangling/a', kind }], cwd);
    await expect(checked).rejects.toThrow('there is a file where a folder is needed');
  }
  await expect(requireGetPlaces([{ remote: 'a', local: 'round' }], cwd)).rejects.toThrow('round is a link to a folder');
  symlinkSync('.', join(cwd, 'fanout-b'));
  await expect(requireResultPlaces('b', {}, { cwd })).rejects.toThrow('fanout-b is a link to a folder');
  await requireResultPlaces('b', { out: 'round' }, { cwd });
});

it('a path alone that is a folder here is no file to collect, and a place in a folder is', async () => {
  const cwd = await temporaryDirectory();
  mkdirSync(join(cwd, 'out'));
  for (const get of ['out', 'a/out', './out']) {
    await expect(requireGetPlaces(parseGetPairs([get]), cwd)).rejects.toThrow(
      '--get: out is a folder. Choose a file in it',
    );
  }
  await requireGetPlaces(parseGetPairs(['out:out', 'out/b.md', 'c:out/', 'd:./']), cwd);
});

it('the try leaves nothing behind', async () => {
  const cwd = await temporaryDirectory();
  await requirePlaces(
    [
      { option: '--get', path: 'a/b/c.txt', kind: 'file' },
      { option: '--out', path: 'd/e', kind: 'folder' },
      { option: '--get', path: '.', kind: 'file', intoFolder: true },
    ],
    cwd,
  );
  expect(readdirSync(cwd)).toEqual([]);
});
