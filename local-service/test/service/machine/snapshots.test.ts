import { execFileSync } from 'node:child_process';
import { chmod, lstat, mkdir, readdir, readFile, readlink, symlink, utimes, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { machine, ownSandboxId, usableIsolations } from './machine-fixture.js';

const snapshotId = `snap_${'0'.repeat(24)}`;
const forkId = 'bx_efgh2345';

describe('snapshots', () => {
  it('are made of files without a disk, and as a snapshot of a disk with these files', async () => {
    const { host, directory } = await machine('plain');
    const files = { 'bin/tool': 'text', '/home/sandbox/.bytes': '\u00ff' };
    for (const [path, text] of Object.entries(files)) await host.writeFile(ownSandboxId, path, Buffer.from(text));
    const content = new Map(Object.entries(files).map(([path, text]) => [path, Buffer.from(text)]));
    const modes = async (id: string) =>
      await Promise.all(
        ['', 'bin', 'bin/tool'].map(async (at) => (await lstat(join(directory, 'snapshots', id, at))).mode),
      );
    const otherId = `snap_${'1'.repeat(24)}`;
    expect(await host.createSnapshot(otherId, content)).toEqual(await host.takeSnapshot(ownSandboxId, snapshotId));
    const paths = async (id: string) => (await host.tree(id)).map(({ path, type, size }) => ({ path, type, size }));
    expect(await paths(otherId)).toEqual(await paths(snapshotId));
    expect(await modes(otherId)).toEqual(await modes(snapshotId));
  });

  it('are not made of files of which one cannot be', async () => {
    const { host, directory } = await machine('plain');
    const files = new Map(['a', '../out'].map((path) => [path, Buffer.from('text')]));
    await expect(host.createSnapshot(snapshotId, files)).rejects.toMatchObject({ code: 'outside' });
    for (const folder of ['snapshots', 'unfinished']) expect(await readdir(join(directory, folder))).toEqual([]);
  });

  it('restore files, modes, times, links and empty folders on another disk', async () => {
    const { host, directory, disk } = await machine('plain');
    await host.writeFile(ownSandboxId, 'bin/tool', Buffer.from('#!/bin/sh\n'));
    await chmod(join(disk, 'bin/tool'), 0o751);
    await utimes(join(disk, 'bin/tool'), 1_000_000, 1_000_000);
    await mkdir(join(disk, 'empty'));
    await mkdir(join(disk, 'closed'), { mode: 0o555 });
    await symlink('/home/sandbox/bin', join(disk, 'link'));
    await symlink('/etc/passwd', join(disk, 'out'));
    await host.writeFile(ownSandboxId, '.hidden file\nwith a line end', Buffer.from('x'));
    const { sizeBytes } = await host.takeSnapshot(ownSandboxId, snapshotId);
    expect(sizeBytes).toBe(11);
    await host.writeFile(ownSandboxId, 'later', Buffer.from('not in the snapshot'));

    await host.createDisk(forkId);
    await host.writeFile(forkId, 'earlier', Buffer.from('goes away'));
    await (await host.restoreDisk(forkId, snapshotId)).ended;
    const fork = join(directory, 'disks', forkId);
    expect((await readdir(fork)).sort()).toEqual([
      '.hidden file\nwith a line end',
      'bin',
      'closed',
      'empty',
      'link',
      'out',
    ]);
    const tool = await lstat(join(fork, 'bin/tool'));
    expect([tool.mode & 0o777, tool.mtimeMs]).toEqual([0o751, 1_000_000_000]);
    expect((await lstat(join(fork, 'closed'))).mode & 0o777).toBe(0o555);
    expect(await readlink(join(fork, 'link'))).toBe('/home/sandbox/bin');
    expect(await readlink(join(fork, 'out'))).toBe('/etc/passwd');
    expect(await readdir(join(directory, 'unfinished'))).toEqual([]);
  });

  it('can be repeated, and then contain the later state', async () => {
    const { host } = await machine('plain');
    await host.writeFile(ownSandboxId, 'a', Buffer.from('first'));
    await host.takeSnapshot(ownSandboxId, snapshotId);
    await host.writeFile(ownSandboxId, 'a', Buffer.from('second'));
    await Promise.all([host.takeSnapshot(ownSandboxId, snapshotId), host.takeSnapshot(ownSandboxId, snapshotId)]);
    await host.restoreDisk(forkId, snapshotId);
    await (await host.restoreDisk(forkId, snapshotId)).ended;
    expect((await host.readFile(forkId, 'a', 100)).toString()).toBe('second');
  });

  it('do not wait for pipes and sockets', async () => {
    const { host, disk } = await machine('plain');
    execFileSync('mkfifo', [join(disk, 'pipe')]);
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(join(disk, 'socket'), resolve));
    try {
      await host.writeFile(ownSandboxId, 'a', Buffer.from('abc'));
      expect(await host.takeSnapshot(ownSandboxId, snapshotId)).toEqual({ sizeBytes: 3 });
      await (await host.restoreDisk(forkId, snapshotId)).ended;
      expect((await host.readFile(forkId, 'a', 100)).toString()).toBe('abc');
    } finally {
      await new Promise((resolve) => server.close(resolve));
    }
  });

  it('can be taken while the sandbox writes and removes files', async () => {
    const { host } = await machine('plain');
    const abort = new AbortController();
    const command =
      'mkdir d; i=0; while :; do i=$((i+1)); for n in 1 2 3 4 5 6 7 8 9; do echo $i > d/$i-$n; done; echo; rm -r d; mkdir d; done';
    let begun = () => {};
    const churning = new Promise<void>((resolve) => {
      begun = resolve;
    });
    const running = host.run(ownSandboxId, { command }, { signal: abort.signal, onStdout: () => begun() });
    await churning;
    for (let round = 0; round < 10; round += 1) await host.takeSnapshot(ownSandboxId, snapshotId);
    abort.abort();
    await running;
  });

  it('are reported by name if they do not exist, and are gone once deleted', async () => {
    const { host } = await machine('plain');
    await host.takeSnapshot(ownSandboxId, snapshotId);
    await host.deleteSnapshot(snapshotId);
    await host.deleteSnapshot(snapshotId);
    await expect(host.restoreDisk(forkId, snapshotId)).rejects.toMatchObject({ code: 'no_snapshot' });
    await expect(host.takeSnapshot(forkId, snapshotId)).rejects.toMatchObject({ code: 'no_disk' });
    await expect(host.deleteSnapshot('../disks')).rejects.toMatchObject({ code: 'bad_id' });
  });

  it('leave nothing under their id if a crash interrupts them', async () => {
    const { host, directory } = await machine('plain');
    const half = join(directory, 'unfinished', `${snapshotId}-abc123`);
    await mkdir(half);
    await writeFile(join(half, 'a'), 'half');
    await host.recover();
    expect(await readdir(join(directory, 'unfinished'))).toEqual([]);
    await expect(host.restoreDisk(ownSandboxId, snapshotId)).rejects.toMatchObject({ code: 'no_snapshot' });
  });
});

describe.each(usableIsolations)('a disk of a %s sandbox', (isolation) => {
  it('is created once, kept by a repeated create, and deleted with all its processes', async () => {
    const { host, disk } = await machine(isolation);
    await host.run(ownSandboxId, {
      command: 'echo kept > a; mkdir -p read/only; touch read/only/file; chmod -R a-w read',
    });
    await host.createDisk(ownSandboxId);
    expect(await readFile(join(disk, 'a'), 'utf8')).toBe('kept\n');
    let deleted: Promise<void> | undefined;
    const onStdout = () => {
      deleted = host.deleteDisk(ownSandboxId);
    };
    const { exitCode } = await host.run(ownSandboxId, { command: 'echo ready; sleep 1000' }, { onStdout });
    expect(exitCode).not.toBe(0);
    await deleted;
    await host.deleteDisk(ownSandboxId);
    await expect(lstat(disk)).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
