import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, link, lstat, mkdir, readdir, readFile, readlink, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isInnerLink } from '../../../../src/cli/folders/inner-link.js';
import { listFolder, packFolder } from '../../../../src/cli/folders/pack-folder.js';
import { unpackFolder } from '../../../../src/cli/folders/unpack-folder.js';
import { temporaryDirectory } from '../temporary-directory.js';
import { pieces } from './archives.js';

const refuse = (message: string) => new Error(message);
const list = (folder: string, limits = {}) => listFolder(folder, 'app', { refuse, ...limits });

async function packed(folder: string, partBytes?: number): Promise<Buffer[]> {
  const parts: Buffer[] = [];
  for await (const part of packFolder(folder, await list(folder), { ...(partBytes && { partBytes }) }))
    parts.push(part);
  return parts;
}

/** What is in a folder: modes, contents and targets by path. */
async function contentOf(folder: string): Promise<Record<string, string>> {
  const all: Record<string, string> = {};
  for (const path of (await readdir(folder, { recursive: true })).sort()) {
    const place = join(folder, path);
    const found = await lstat(place);
    const mode = (found.mode & 0o777).toString(8);
    if (found.isSymbolicLink()) all[path] = `→ ${await readlink(place)}`;
    else all[path] = found.isDirectory() ? `${mode} folder` : `${mode} ${await readFile(place, 'latin1')}`;
  }
  return all;
}

const name = fc.string({
  unit: fc.constantFrom('a', 'b', 'é', ' ', '@', '-', '.', "'", '*'),
  minLength: 1,
  maxLength: 6,
});
const usable = name.filter((text) => text !== '.' && text !== '..');
const file = fc.record({
  path: fc.array(usable, { minLength: 1, maxLength: 4 }),
  mode: fc.constantFrom(0o600, 0o644, 0o700, 0o755),
  content: fc.uint8Array({ maxLength: 3_000 }),
});

describe('packing a folder', () => {
  it('and unpacking it gives the same files, modes and links', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(file, { maxLength: 12 }), fc.integer({ min: 50, max: 4_000 }), async (files, size) => {
        const root = await temporaryDirectory();
        const [from, to] = [join(root, 'from'), join(root, 'to')];
        await mkdir(from);
        for (const { path, mode, content } of files) {
          const place = join(from, ...path);
          // A name may be that of a folder, or of a file on the way, already.
          const isFree = await mkdir(join(place, '..'), { recursive: true }).then(
            () =>
              lstat(place).then(
                () => false,
                () => true,
              ),
            () => false,
          );
          if (!isFree) continue;
          await writeFile(place, content);
          await chmod(place, mode);
          await symlink(path.at(-1) ?? '', join(place, '..', `link${path.at(-1)}`)).catch(() => undefined);
        }
        const parts = await packed(from, size);
        expect(parts.every((part) => part.length <= size)).toBe(true);
        await unpackFolder(pieces(Buffer.concat(parts)), to, { sha256: null, replaces: false, taken: '' });
        expect(await contentOf(to)).toEqual(await contentOf(from));
        // The `tar` of a sandbox reads the same.
        const other = join(root, 'other');
        await mkdir(other);
        execFileSync('tar', ['-xzpmof', '-', '-C', other], { input: Buffer.concat(parts) });
        expect(await contentOf(other)).toEqual(await contentOf(from));
      }),
      { numRuns: 25 },
    );
  });

  it('keeps hidden files, `.git`, empty folders and hard links, and is the same for the same folder', async () => {
    const root = await temporaryDirectory();
    const make = async (folder: string) => {
      await mkdir(join(folder, '.git', 'refs'), { recursive: true });
      await writeFile(join(folder, '.git', 'HEAD'), 'ref: refs/heads/main');
      await link(join(folder, '.git', 'HEAD'), join(folder, '.hard'));
      return Buffer.concat(await packed(folder));
    };
    const one = await make(join(root, 'one'));
    expect(await make(join(root, 'two'))).toEqual(one);
    await unpackFolder(pieces(one), join(root, 'to'), { sha256: null, replaces: false, taken: '' });
    expect(await contentOf(join(root, 'to'))).toEqual(await contentOf(join(root, 'one')));
    await mkdir(join(root, 'empty'));
    await unpackFolder(pieces(Buffer.concat(await packed(join(root, 'empty')))), join(root, 'none'), {
      sha256: null,
      replaces: false,
      taken: '',
    });
    expect(await readdir(join(root, 'none'))).toEqual([]);
  });

  it.each(['', 'text'])(
    'packs hard links of a file with the content %j as files, the last entry too',
    async (content) => {
      const root = await temporaryDirectory();
      const from = join(root, 'from');
      await mkdir(from);
      for (const path of ['a', 'p']) await writeFile(join(from, path), content);
      for (const path of ['q', 'r']) await link(join(from, 'p'), join(from, path));
      const archive = pieces(Buffer.concat(await packed(from)));
      await unpackFolder(archive, join(root, 'to'), { sha256: null, replaces: false, taken: '' });
      expect(await contentOf(join(root, 'to'))).toEqual(await contentOf(from));
      expect((await lstat(join(root, 'to', 'q'))).nlink).toBe(1);
    },
  );

  it('packs no right to run as somebody else', async () => {
    const root = await temporaryDirectory();
    await writeFile(join(root, 'run'), '');
    await chmod(join(root, 'run'), 0o6755);
    const tar = gunzipSync(Buffer.concat(await packed(root)));
    // The mode of the header.
    expect(tar.toString('latin1', 100, 107).trim()).toBe('000755');
  });

  it('throws the error of a file that is gone, also while its consumer does something else', async () => {
    const root = await temporaryDirectory();
    const files = ['a', 'b', 'c', 'd', 'e', 'f'];
    for (const path of files) await writeFile(join(root, path), randomBytes(300_000));
    const all = async () => {
      // The file system answers meanwhile.
      for await (const _ of packFolder(root, { entries: [...files, 'gone'] }, { partBytes: 100_000 }))
        for (let turn = 0; turn < 20; turn += 1) await lstat(root);
    };
    await expect(all()).rejects.toThrow('ENOENT');
  });

  it.skipIf(process.getuid?.() === 0)('refuses a file that cannot be read, before anything starts', async () => {
    const root = await temporaryDirectory();
    await writeFile(join(root, 'secret'), '', { mode: 0 });
    await expect(list(root)).rejects.toThrow('app/secret cannot be read. Check its permissions.');
  });

  it.each([
    ['../precious', /app\/d\/link is a link to \.\.\/precious/],
    ['/etc/passwd', /app\/d\/link is a link to \/etc\/passwd/],
  ])('refuses a link to %s, and names it', async (target, message) => {
    const root = await temporaryDirectory();
    await mkdir(join(root, 'd'));
    await symlink(target === '../precious' ? '../../precious' : target, join(root, 'd', 'link'));
    await expect(list(root)).rejects.toThrow(
      target === '../precious' ? 'app/d/link is a link to ../../precious' : message,
    );
  });

  it('refuses what is no file, and past the limits names the number and the largest file', async () => {
    const root = await temporaryDirectory();
    for (const [path, size] of [['a', 10] as const, ['b', 30] as const])
      await writeFile(join(root, path), 'x'.repeat(size));
    expect(await list(root)).toEqual({ entries: ['a', 'b'], bytes: 40 });
    await expect(list(root, { maxBytes: 39 })).rejects.toThrow(
      'app has 40 bytes in 2 files and folders; the limit is 39 bytes. Its largest file is app/b with 30 bytes.',
    );
    await expect(list(root, { maxEntries: 1 })).rejects.toThrow('app has more than 1 files and folders');
    execFileSync('mkfifo', [join(root, 'pipe')]);
    await expect(list(root)).rejects.toThrow('app/pipe is neither a file, a folder nor a link');
  });
});

it.each([
  ['link', 'a', true],
  ['link', './a/', true],
  ['link', '.', true],
  ['link', '..', false],
  ['d/link', '..', true],
  ['./d/link', '../..', false],
  ['d/e/link', '../../a/b', true],
  ['d/link', 'a/..', false],
  ['link', '/a', false],
  ['link', '', false],
])('the link %s to %s stays inside: %s', (path, target, stays) => {
  expect(isInnerLink(path, target)).toBe(stays);
});
