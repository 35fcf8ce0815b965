import { createHash } from 'node:crypto';
import { lstat, mkdir, readdir, readFile, readlink, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { type UnpackOptions, unpackFolder } from '../../../../src/cli/folders/unpack-folder.js';
import { temporaryDirectory } from '../temporary-directory.js';
import { archiveOf, type Entry, pieces, tarOf } from './archives.js';

/** A folder `home` with a file that must stay as it is, and the place of a folder in it. */
async function home() {
  const root = await temporaryDirectory();
  await mkdir(join(root, 'home'));
  await writeFile(join(root, 'precious'), 'mine');
  await writeFile(join(root, 'home', 'precious'), 'mine');
  const place = join(root, 'home', 'out');
  const unpack = (archive: Buffer, options: Partial<UnpackOptions> = {}) =>
    unpackFolder(pieces(archive), place, { sha256: null, replaces: false, taken: 'out exists already', ...options });
  const untouched = async () => {
    expect(await readdir(root)).toEqual(['home', 'precious']);
    expect(await readFile(join(root, 'precious'), 'utf8')).toBe('mine');
    expect(await readFile(join(root, 'home', 'precious'), 'utf8')).toBe('mine');
  };
  return { root, place, unpack, untouched };
}

const inner: Entry = { path: './a.txt', content: 'a' };
const hostile: readonly (readonly [string, readonly Entry[]])[] = [
  ['a name that goes up', [inner, { path: '../precious', content: 'evil' }]],
  ['a name that goes up from within', [{ path: 'a/../../precious', content: 'evil' }]],
  ['an absolute name', [{ path: '/tmp/sandflow-evil', content: 'evil' }]],
  ['a hard link that goes up', [{ path: 'link', type: 'Link', linkpath: '../precious' }]],
  ['an absolute hard link', [{ path: 'link', type: 'Link', linkpath: '/etc/passwd' }]],
  ['a hard link to nothing', [{ path: 'link', type: 'Link', linkpath: 'nothing' }]],
  [
    'a file below a link',
    [
      { path: 'dir', type: 'Directory', mode: 0o755 },
      { path: 'link', type: 'SymbolicLink', linkpath: 'dir' },
      { path: 'link/a.txt', content: 'evil' },
    ],
  ],
];

describe('an archive of a collected folder', () => {
  it.each(hostile)('with %s is refused as a whole', async (_, entries) => {
    const { unpack, untouched, root } = await home();
    await expect(unpack(archiveOf(...entries))).rejects.toThrow('it cannot be unpacked: ');
    await untouched();
    expect(await readdir(join(root, 'home'))).toEqual(['precious']);
  });

  it.each([
    ['an absolute link', { path: 'link', type: 'SymbolicLink', linkpath: '/etc/passwd' }],
    ['a link that goes up', { path: 'link', type: 'SymbolicLink', linkpath: '../precious' }],
    ['a link that goes up from within', { path: 'd/link', type: 'SymbolicLink', linkpath: '../../precious' }],
    ['a link that goes down and up', { path: 'link', type: 'SymbolicLink', linkpath: 'x/../../precious' }],
    ['a link that may go elsewhere', { path: 'd/link', type: 'SymbolicLink', linkpath: 'x/../a.txt' }],
    ['a name with a backslash', { path: '..\\..\\link' }],
    ['a device', { path: 'link', type: 'CharacterDevice' }],
    ['a block device', { path: 'link', type: 'BlockDevice' }],
    ['a pipe', { path: 'link', type: 'FIFO' }],
  ] satisfies [string, Entry][])('is unpacked without %s, which is named', async (_, entry) => {
    const { unpack, untouched, place } = await home();
    expect(await unpack(archiveOf(inner, entry))).toContain(`saved without ${entry.path}: a link`);
    expect(await readFile(join(place, 'a.txt'), 'utf8')).toBe('a');
    expect((await readdir(place, { recursive: true })).filter((name) => name.endsWith('link'))).toEqual([]);
    await untouched();
  });

  it('leads nowhere else through links of links', async () => {
    const { unpack, place } = await home();
    const up = { path: 'd/e/x', type: 'SymbolicLink', linkpath: '../..' } as const;
    const through = { path: 'd/e/y', type: 'SymbolicLink', linkpath: 'x/../precious' } as const;
    expect(await unpack(archiveOf(through, up, inner))).toContain(`saved without ${through.path}: `);
    expect(await readlink(join(place, 'd/e/x'))).toBe('../..');
  });

  it('keeps inner links and modes, and no right to run as somebody else', async () => {
    const { unpack, place } = await home();
    const left = await unpack(
      archiveOf(
        { path: './', type: 'Directory', mode: 0o755 },
        { path: './bin/run', content: '#!/bin/sh', mode: 0o6755 },
        { path: './link', type: 'SymbolicLink', linkpath: 'bin/run' },
        { path: './hard', type: 'Link', linkpath: './bin/run' },
      ),
    );
    expect(left).toBeNull();
    expect((await lstat(join(place, 'bin/run'))).mode & 0o7777).toBe(0o755);
    expect(await readlink(join(place, 'link'))).toBe('bin/run');
    expect(await readFile(join(place, 'hard'), 'utf8')).toBe('#!/bin/sh');
  });

  it.each([
    ['cut in the middle', (archive: Buffer) => archive.subarray(0, archive.length >> 1)],
    ['cut before the checksum', (archive: Buffer) => archive.subarray(0, -6)],
    ['of which one bit is wrong', (archive: Buffer) => flipped(archive)],
    ['whose tar is cut in a file', () => gzipSync(tarOf({ path: 'a', content: 'x'.repeat(2_000) }).subarray(0, 1_000))],
    ['that is none', () => Buffer.from('no archive')],
    ['that is empty', () => Buffer.alloc(0)],
  ])('%s is not taken for a whole one', async (_, change) => {
    const { unpack, untouched, root } = await home();
    const big = { path: 'big', content: Array.from({ length: 5_000 }, (_, at) => at * 7919).join() };
    const whole = archiveOf(inner, big);
    const sha256 = createHash('sha256').update(whole).digest('hex');
    await expect(unpack(change(whole), { sha256 })).rejects.toThrow(/cannot be unpacked|differs/);
    expect(await readdir(join(root, 'home'))).toEqual(['precious']);
    await untouched();
  });

  it.each([
    ['without its end says so', archiveOf(inner).subarray(0, -20), /The service sent it so, and may have cut it off$/],
    ['with a name that goes up says only that', archiveOf({ path: '../up' }), /contains '\.\.'$/],
  ])('that was collected %s', async (_, archive, message) => {
    const { unpack } = await home();
    const sha256 = createHash('sha256').update(archive).digest('hex');
    await expect(unpack(archive, { sha256 })).rejects.toThrow(message);
  });

  it('without entries is an empty folder', async () => {
    const { unpack, place } = await home();
    expect(await unpack(archiveOf())).toBeNull();
    expect(await readdir(place)).toEqual([]);
  });

  it('is bounded, in files and in bytes, before it fills the disk', async () => {
    const { unpack, root } = await home();
    const many = Array.from({ length: 20 }, (_, at): Entry => ({ path: `${at}`, content: 'x' }));
    await expect(unpack(archiveOf(...many), { maxEntries: 10 })).rejects.toThrow('more than 10 files and folders');
    const zeros = archiveOf({ path: 'bomb', content: '\0'.repeat(3_000_000) });
    expect(zeros.length).toBeLessThan(10_000);
    await expect(unpack(zeros, { maxBytes: 1_000_000 })).rejects.toThrow('more than 1000000 bytes');
    expect(await unpack(zeros)).toBeNull();
    expect(await readdir(join(root, 'home'))).toEqual(['out', 'precious']);
  });

  it('takes no path that no system has, and remembers one of those that it leaves out', async () => {
    const { unpack } = await home();
    const pipe = (path: string): Entry => ({ path, type: 'FIFO' });
    expect(await unpack(archiveOf(inner, ...['a', 'b', 'c'].map(pipe)))).toContain('saved without a and 2 more: ');
    const pax = (length: number) => {
      const path = `p${'/p'.repeat(length / 2)}`;
      const record = (size: number): string => `${size} path=${path}\n`;
      const size = record(0).length + `${length}`.length - 1;
      return [
        { path: 'PaxHeader', type: 'ExtendedHeader', content: record(size) } as const,
        { path: 'short', content: 'x' },
      ];
    };
    await expect(unpack(archiveOf(...pax(5_000)), { replaces: true })).rejects.toThrow('of more than 4096 bytes');
  });

  it('leaves no files behind if it is refused while many are being written, and names the reason', async () => {
    const { unpack, root } = await home();
    const many = Array.from({ length: 6_000 }, (_, at): Entry => ({ path: `d${at % 50}/${at}` }));
    await expect(unpack(archiveOf(...many), { maxEntries: 5_000 })).rejects.toThrow('more than 5000 files');
    const broken = archiveOf(...many);
    broken.fill(0, broken.length - 2_000);
    await expect(unpack(broken)).rejects.toThrow('it cannot be unpacked: ');
    await expect(unpack(archiveOf(...many, { path: '../precious' }))).rejects.toThrow("contains '..'");
    expect(await readdir(join(root, 'home'))).toEqual(['precious']);
    const openFiles = async () => {
      const found = await readdir('/proc/self/fd');
      return (await Promise.all(found.map((fd) => readlink(`/proc/self/fd/${fd}`).catch(() => '')))).filter((path) =>
        path.startsWith(root),
      );
    };
    if (process.platform === 'linux') await expect.poll(openFiles).toEqual([]);
  });

  it("takes no other folder's place, but that of an empty one, and is saved again over itself", async () => {
    const { unpack, place } = await home();
    const archive = archiveOf(inner, { path: 'd/link', type: 'SymbolicLink', linkpath: '../a.txt' });
    await mkdir(place);
    await unpack(archive);
    await unpack(archive);
    await expect(unpack(archiveOf({ ...inner, content: 'b' }))).rejects.toThrow('out exists already');
    await expect(unpack(archiveOf(inner, { path: 'more' }))).rejects.toThrow('out exists already');
    expect(await readFile(join(place, 'a.txt'), 'utf8')).toBe('a');
    await unpack(archiveOf({ path: 'new', content: 'b' }), { replaces: true });
    expect(await readdir(place)).toEqual(['new']);
  });

  it('replaces a link at its place, and nothing behind it', async () => {
    const { unpack, place, root, untouched } = await home();
    await symlink(root, place);
    await expect(unpack(archiveOf(inner))).rejects.toThrow('out exists already');
    await unpack(archiveOf(inner), { replaces: true });
    await untouched();
  });
});

function flipped(archive: Buffer): Buffer {
  const changed = Buffer.from(archive);
  const at = changed.length >> 1;
  changed[at] = (changed[at] ?? 0) ^ 1;
  return changed;
}
