import { mkdir, readdir, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { listTree } from '../../../src/machine/disk/snapshot-tree.js';
import { machine, ownSandboxId, temporaryDirectory } from './machine-fixture.js';
import { bytesOf } from './transfers.js';

const snapshotId = `snap_${'0'.repeat(24)}`;

describe('the tree of a snapshot', () => {
  it('lists files, folders and links below a path, sorted, from the home on', async () => {
    const { host, disk, directory } = await machine('plain');
    await host.writeFile(ownSandboxId, 'b/inner/file', Buffer.from('12345'));
    await host.writeFile(ownSandboxId, 'b-side', Buffer.from('1'));
    await host.writeFile(ownSandboxId, '.hidden\nname', Buffer.alloc(0));
    await symlink(directory, join(disk, 'b/out'));
    await symlink('b/inner', join(disk, 'link'));
    await utimes(join(disk, 'b/inner/file'), 1_700_000_000, 1_700_000_000);
    await host.takeSnapshot(ownSandboxId, snapshotId);
    await host.writeFile(ownSandboxId, 'later', Buffer.from('not in the snapshot'));

    const entries = await host.tree(snapshotId);
    expect(entries.map(({ path, type, size }) => [path, type, size])).toEqual([
      ['.hidden\nname', 'file', 0],
      ['b', 'directory', 0],
      ['b-side', 'file', 1],
      ['b/inner', 'directory', 0],
      ['b/inner/file', 'file', 5],
      ['b/out', 'symlink', directory.length],
      ['link', 'symlink', 7],
    ]);
    expect(entries.find(({ path }) => path === 'b/inner/file')?.modifiedAt).toBe('2023-11-14T22:13:20.000Z');
    for (const path of ['b/inner', '/home/sandbox/b/inner/', 'link', 'b/../b/inner/.']) {
      expect((await host.tree(snapshotId, path)).map((entry) => entry.path)).toEqual(['b/inner/file']);
    }
    expect((await host.tree(snapshotId, 'b')).length).toBe(3);
  });

  it('reports what is wrong with a path', async () => {
    const { host } = await machine('plain');
    await expect(host.tree(snapshotId)).rejects.toMatchObject({ code: 'no_snapshot' });
    await host.writeFile(ownSandboxId, 'file', Buffer.from('1'));
    await host.takeSnapshot(ownSandboxId, snapshotId);
    await expect(host.tree(snapshotId, 'file')).rejects.toMatchObject({ code: 'not_a_folder' });
    await expect(host.tree(snapshotId, 'missing')).rejects.toMatchObject({ code: 'not_found' });
    await expect(host.tree(snapshotId, '../..')).rejects.toMatchObject({ code: 'outside' });
  });

  it('requires a path if there are more entries than it lists', async () => {
    const folder = await temporaryDirectory();
    await mkdir(join(folder, 'part'));
    for (const name of ['a', 'b', 'part/c']) await writeFile(join(folder, name), '');
    expect((await listTree(folder, '', 4)).length).toBe(4);
    await expect(listTree(folder, '', 3)).rejects.toMatchObject({
      code: 'too_large',
      message: 'The folder has more than 3 entries, or their paths are too long. Specify the path of a subfolder.',
    });
    expect(await listTree(folder, 'part', 3)).toMatchObject([{ path: 'part/c' }]);
  });

  it('lists names that are not text, and times outside the calendar', async () => {
    const folder = await temporaryDirectory();
    await writeFile(Buffer.concat([Buffer.from(join(folder, 'n')), Buffer.from([0xff])]), '1');
    await mkdir(join(folder, 'old'));
    await utimes(join(folder, 'old'), -90_000_000_000, -90_000_000_000);
    const entries = await listTree(folder, '');
    expect(entries.map(({ path }) => path)).toEqual(['n\ufffd', 'old']);
    for (const { modifiedAt } of entries) expect(modifiedAt).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]{12}Z$/);
  });

  it('reports folders that are nested too deep, and lists them from a lower path', async () => {
    const { host, disk, directory } = await machine('plain');
    const name = 'd'.repeat(200);
    const command = `for i in $(seq 30); do mkdir ${name}; cd -P ${name} || exit 1; done; echo deep >end`;
    expect(await host.run(ownSandboxId, { command })).toMatchObject({ exitCode: 0 });
    try {
      await expect(listTree(disk, '')).rejects.toMatchObject({ code: 'too_large' });
      const deep = Array.from({ length: 28 }, () => name).join('/');
      expect((await listTree(disk, deep)).map(({ path }) => path.split('/').length)).toEqual([29, 30, 31]);
      const end = await host.download({ sandboxId: ownSandboxId }, `${deep}/${name}/${name}/end`);
      expect((await bytesOf(end.stream)).toString()).toBe('deep\n');
      // No partial snapshot, and no file that cannot be removed.
      await expect(host.takeSnapshot(ownSandboxId, snapshotId)).rejects.toMatchObject({ code: 'copy_failed' });
      await expect(host.tree(snapshotId)).rejects.toMatchObject({ code: 'no_snapshot' });
    } finally {
      await host.deleteDisk(ownSandboxId);
    }
    expect(await readdir(join(directory, 'unfinished'))).toEqual([]);
  });
});
