import { execFileSync } from 'node:child_process';
import {
  chmod,
  link,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  symlink,
  writeFile,
} from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { machine, ownSandboxId } from './machine-fixture.js';
import { bytesOf, unpack } from './transfers.js';

const snapshotId = `snap_${'0'.repeat(24)}`;
const diskAddress = { sandboxId: ownSandboxId };

async function diskWithSecretBeside() {
  const made = await machine('plain');
  const secret = join(made.directory, 'secret');
  await writeFile(secret, 'secret');
  const write = (path: string, content: string) => made.host.writeFile(ownSandboxId, path, Buffer.from(content));
  return { ...made, secret, write };
}

describe('downloads', () => {
  it('return a file of a disk or a snapshot byte for byte, with its size', async () => {
    const { host } = await diskWithSecretBeside();
    const content = Buffer.from(Array.from({ length: 200_000 }, (_, index) => (index * 7) % 256));
    await host.writeFile(ownSandboxId, 'results/data.bin', content);
    await host.writeFile(ownSandboxId, 'empty', Buffer.alloc(0));
    await host.takeSnapshot(ownSandboxId, snapshotId);
    for (const source of [diskAddress, { snapshotId: snapshotId }]) {
      const file = await host.download(source, '/home/sandbox/results/data.bin');
      expect(file).toMatchObject({ kind: 'file', sizeBytes: content.length });
      expect((await bytesOf(file.stream)).equals(content)).toBe(true);
      const empty = await host.download(source, 'empty');
      expect(empty).toMatchObject({ kind: 'file', sizeBytes: 0 });
      expect((await bytesOf(empty.stream)).length).toBe(0);
    }
  });

  it('return a folder or the whole disk, with names relative to it', async () => {
    const { host, disk, write } = await diskWithSecretBeside();
    const names = ['-rf', '--to-command=touch x', 'a\nb', ' ', '*', 'größe 数据 \u{1F600}', '.hidden', '@-', 'C:\\x'];
    for (const name of names) await write(`top/${name}`, name);
    await mkdir(join(disk, 'top/empty'));
    await chmod(join(disk, 'top/.hidden'), 0o751);
    await host.takeSnapshot(ownSandboxId, snapshotId);
    for (const source of [diskAddress, { snapshotId: snapshotId }]) {
      const { kind, stream } = await host.download(source, 'top/');
      expect(kind).toBe('folder');
      const folder = await unpack(stream);
      expect((await readdir(folder)).sort()).toEqual([...names, 'empty'].sort());
      for (const name of names) expect(await readFile(join(folder, name), 'utf8')).toBe(name);
      expect((await lstat(join(folder, '.hidden'))).mode & 0o777).toBe(0o751);
      for (const all of [undefined, '', '/home/sandbox']) {
        const whole = await unpack((await host.download(source, all)).stream);
        expect(await readdir(whole)).toEqual(['top']);
      }
    }
  });

  it('include names that are not text, and read-only folders', async () => {
    const { host, disk } = await diskWithSecretBeside();
    await mkdir(join(disk, 'read-only'));
    const name = Buffer.concat([Buffer.from(join(disk, 'read-only/')), Buffer.from([0xff, 0xfe])]);
    await writeFile(name, 'bytes');
    await chmod(join(disk, 'read-only'), 0o555);
    const folder = await unpack((await host.download(diskAddress)).stream);
    const [entry] = await readdir(Buffer.from(join(folder, 'read-only')), { encoding: 'buffer' });
    expect(entry).toEqual(Buffer.from([0xff, 0xfe]));
    // A snapshot measures its files by name.
    expect(await host.takeSnapshot(ownSandboxId, snapshotId)).toEqual({ sizeBytes: 5 });
    const copy = await unpack((await host.download({ snapshotId: snapshotId }, 'read-only')).stream);
    expect(await readdir(Buffer.from(copy), { encoding: 'buffer' })).toEqual([Buffer.from([0xff, 0xfe])]);
  });

  it('keep links as links, and follow a requested link only inside the disk', async () => {
    const { host, disk, directory, secret, write } = await diskWithSecretBeside();
    await write('real/file', 'inside');
    await symlink(secret, join(disk, 'real/out'));
    await symlink(directory, join(disk, 'real/folder-out'));
    await symlink('/home/sandbox/real', join(disk, 'inner'));
    await link(join(disk, 'real/file'), join(disk, 'real/second'));
    const folder = await unpack((await host.download(diskAddress, 'inner')).stream);
    expect((await readdir(folder)).sort()).toEqual(['file', 'folder-out', 'out', 'second']);
    expect(await readlink(join(folder, 'out'))).toBe(secret);
    expect(await readlink(join(folder, 'folder-out'))).toBe(directory);
    expect(await readFile(join(folder, 'second'), 'utf8')).toBe('inside');
    expect((await bytesOf((await host.download(diskAddress, 'inner/file')).stream)).toString()).toBe('inside');
  });

  it.each([
    '..',
    '../secret',
    'real/../../secret',
    '/',
    '/etc',
    '/etc/passwd',
    'out',
    'folder-out',
    'folder-out/secret',
    'a\0',
  ])('do not leave the disk or the snapshot: %j', async (path) => {
    const { host, disk, directory, secret, write } = await diskWithSecretBeside();
    await write('real/file', 'inside');
    await symlink(secret, join(disk, 'out'));
    await symlink(directory, join(disk, 'folder-out'));
    await host.takeSnapshot(ownSandboxId, snapshotId);
    await expect(host.download(diskAddress, path)).rejects.toMatchObject({ code: 'outside' });
    await expect(host.download({ snapshotId: snapshotId }, path)).rejects.toMatchObject({ code: 'outside' });
    await expect(host.tree(snapshotId, path)).rejects.toMatchObject({ code: 'outside' });
  });

  it('report what is missing', async () => {
    const { host, write } = await diskWithSecretBeside();
    await write('file', 'x');
    await expect(host.download(diskAddress, 'missing')).rejects.toMatchObject({ code: 'not_found' });
    await expect(host.download(diskAddress, 'file/deeper')).rejects.toMatchObject({ code: 'not_found' });
    await expect(host.download({ sandboxId: 'bx_zzzz2345' })).rejects.toMatchObject({ code: 'no_disk' });
    await expect(host.download({ snapshotId: snapshotId })).rejects.toMatchObject({ code: 'no_snapshot' });
    await expect(host.download({ snapshotId: '../disks' })).rejects.toMatchObject({ code: 'bad_id' });
  });

  it('never wait for a pipe, a socket or a device', async () => {
    const { host, disk, write } = await diskWithSecretBeside();
    await write('folder/file', 'x');
    execFileSync('mkfifo', [join(disk, 'folder/pipe')]);
    const isRoot = process.getuid?.() === 0;
    if (isRoot) execFileSync('mknod', [join(disk, 'folder/zeros'), 'c', '1', '5']);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(join(disk, 'folder/socket'), resolve));
    try {
      await host.takeSnapshot(ownSandboxId, snapshotId);
      for (const name of ['pipe', 'socket', ...(isRoot ? ['zeros'] : [])]) {
        for (const source of [diskAddress, { snapshotId: snapshotId }]) {
          await expect(host.download(source, `folder/${name}`)).rejects.toMatchObject({ code: 'not_a_file' });
        }
        await expect(host.readFile(ownSandboxId, `folder/${name}`, 10)).rejects.toMatchObject({ code: 'not_a_file' });
        await expect(host.writeFile(ownSandboxId, `folder/${name}`, Buffer.alloc(1))).rejects.toMatchObject({
          code: 'not_a_file',
        });
      }
      for (const source of [diskAddress, { snapshotId: snapshotId }]) {
        const folder = await unpack((await host.download(source, 'folder')).stream);
        expect(await readFile(join(folder, 'file'), 'utf8')).toBe('x');
      }
      expect((await host.tree(snapshotId)).map(({ path }) => path)).toEqual(['folder', 'folder/file']);
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  });

  it('stay inside while the sandbox swaps folders for links', async () => {
    const { host, disk, directory, write } = await diskWithSecretBeside();
    await write('folder/inner/file', 'inside');
    await mkdir(join(directory, 'inner'));
    await writeFile(join(directory, 'inner/secret'), 'secret');
    await symlink(directory, join(disk, 'evil'));
    let swapping = true;
    const swap = (async () => {
      const folder = join(disk, 'folder');
      while (swapping) {
        await rename(folder, join(disk, 'parked'));
        await rename(join(disk, 'evil'), folder);
        await rename(folder, join(disk, 'evil'));
        await rename(join(disk, 'parked'), folder);
      }
    })();
    const seen = new Set<string>();
    for (let unpacked = 0; unpacked < 40; ) {
      const download = await host.download(diskAddress, 'folder/inner').catch(() => undefined);
      if (download === undefined) continue;
      const folder = await unpack(download.stream);
      for (const name of await readdir(folder)) seen.add(name);
      await rm(folder, { recursive: true });
      unpacked += 1;
    }
    swapping = false;
    await swap;
    expect([...seen]).toEqual(['file']);
  });

  it('never send files outside the disk, whatever the path', async () => {
    const { directory, disk, host } = await diskWithSecretBeside();
    await mkdir(join(disk, 'a'));
    await symlink('../..', join(disk, 'a', 'up'));
    await symlink('/', join(disk, 'root'));
    const names = ['..', '.', '', 'a', 'up', 'root', 'secret', 'home', 'sandbox', directory.slice(1), 'disks'];
    const path = fc.array(fc.constantFrom(...names), { maxLength: 8 }).map((parts) => parts.join('/'));
    await fc.assert(
      fc.asyncProperty(path, async (tried) => {
        const download = await host.download(diskAddress, tried).catch(() => undefined);
        if (download === undefined) return;
        expect(download.kind).toBe('folder');
        const listing = execFileSync('tar', ['-tzf', '-'], { input: await bytesOf(download.stream) }).toString();
        expect(listing).not.toContain('secret');
      }),
      { numRuns: 100 },
    );
  });
});
