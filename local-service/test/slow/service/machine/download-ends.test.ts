import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { chmod, mkdir, open, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGunzip } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { streamFolder } from '../../../../src/machine/disk/folder-stream.js';
import { openPlace } from '../../../../src/machine/disk/walk.js';
import { machine, ownSandboxId, temporaryDirectory } from '../../../service/machine/machine-fixture.js';
import { bytesOf } from '../../../service/machine/transfers.js';

const snapshotId = `snap_${'0'.repeat(24)}`;
const diskAddress = { sandboxId: ownSandboxId };
const mib = 1024 * 1024;

/** A folder larger than a pipe: its sender still works when the first chunk arrives. */
async function diskWithMuch() {
  const made = await machine('plain');
  await made.host.writeFile(ownSandboxId, 'much/data', randomBytes(8 * mib));
  return { ...made, archivers: () => archiversIn(made.disk) };
}

async function firstPiece(stream: NodeJS.ReadableStream): Promise<void> {
  await new Promise((resolve) => stream.once('readable', resolve));
  expect(stream.read()?.length).toBeGreaterThan(0);
}

describe('a download', () => {
  it('ends its program when its reader disconnects', async () => {
    const { host, archivers } = await diskWithMuch();
    const { stream } = await host.download(diskAddress, 'much');
    await firstPiece(stream);
    expect(archivers().length).toBe(1);
    stream.destroy();
    await expect.poll(archivers).toEqual([]);
  });

  it('ends with the host, which then refuses new ones', async () => {
    const { host, archivers } = await diskWithMuch();
    const [folder, file] = [await host.download(diskAddress, 'much'), await host.download(diskAddress, 'much/data')];
    await host.close();
    for (const { stream } of [folder, file]) await expect(bytesOf(stream)).rejects.toThrow();
    await expect.poll(archivers).toEqual([]);
    await expect(host.download(diskAddress)).rejects.toMatchObject({ code: 'closed' });
  });

  it('leaves no file open, however it ends', async () => {
    const { host, disk } = await diskWithMuch();
    const openFiles = () => openFilesIn(disk);
    for (const path of ['much', 'much/data']) {
      await bytesOf((await host.download(diskAddress, path)).stream);
      (await host.download(diskAddress, path)).stream.destroy();
      const { stream } = await host.download(diskAddress, path);
      await firstPiece(stream);
      stream.destroy();
    }
    for (const path of ['missing', 'much/missing', '..']) await host.download(diskAddress, path).catch(() => undefined);
    await expect.poll(openFiles).toEqual([]);
  });

  it('of a file has the announced size, even if the file grows meanwhile', async () => {
    const { host, disk } = await machine('plain');
    await host.writeFile(ownSandboxId, 'log', Buffer.alloc(mib, 'a'));
    const { stream } = await host.download(diskAddress, 'log');
    await writeFile(join(disk, 'log'), 'more', { flag: 'a' });
    expect((await bytesOf(stream)).length).toBe(mib);
  });

  it('of a file fails if the file is truncated meanwhile', async () => {
    const { host, disk } = await machine('plain');
    await host.writeFile(ownSandboxId, 'log', Buffer.alloc(mib, 'a'));
    const { stream } = await host.download(diskAddress, 'log');
    await truncate(join(disk, 'log'), 10);
    await expect(bytesOf(stream)).rejects.toMatchObject({ code: 'download_failed' });
  });

  it('of a folder fails if its program is killed, and never appears complete', async () => {
    const { host, archivers } = await diskWithMuch();
    const { stream } = await host.download(diskAddress, 'much');
    await firstPiece(stream);
    for (const pid of archivers()) process.kill(pid, 'SIGKILL');
    await expect(bytesOf(stream)).rejects.toMatchObject({ code: 'download_failed' });
  });

  it('of a changing disk is complete, and one of a removed disk or snapshot fails', async () => {
    const { host, disk, directory } = await diskWithMuch();
    for (const folder of [disk, join(directory, 'snapshots', snapshotId)]) {
      await mkdir(join(folder, 'much/late'), { recursive: true });
      await writeFile(join(folder, 'much/data'), randomBytes(8 * mib));
    }
    const cutShort = async (source: Parameters<typeof host.download>[0], folder: string) => {
      const { stream } = await host.download(source);
      await firstPiece(stream);
      await truncate(join(folder, 'much/data'), 7 * mib);
      return stream;
    };
    expect((await bytesOf(await cutShort(diskAddress, disk))).length).toBeGreaterThan(6 * mib);
    const snapshot = await cutShort({ snapshotId: snapshotId }, join(directory, 'snapshots', snapshotId));
    await expect(bytesOf(snapshot)).rejects.toMatchObject({ code: 'download_failed' });
    await writeFile(join(disk, 'much/data'), randomBytes(8 * mib));
    const removed = await cutShort(diskAddress, disk);
    await host.deleteDisk(ownSandboxId);
    await expect(bytesOf(removed)).rejects.toMatchObject({ code: 'download_failed' });
  });

  it.each([
    ['reports a failure before the first byte', 'echo "tar: ./a: Cannot open: Permission denied" >&2; exit 2'],
    ['reports a failure after many bytes', 'head -c 1000000 /dev/zero; echo "tar: ./a: Read error" >&2; exit 2'],
    ['reports a failure among changed files', 'echo "tar: a: file changed as we read it\ntar: b: no" >&2; exit 1'],
    ['reports a program that fails silently', 'exit 1'],
  ])('of a folder %s', async (_title, script) => {
    const folder = await temporaryDirectory();
    const tar = join(folder, 'tar');
    await writeFile(tar, `#!/bin/sh\n${script}\n`);
    await chmod(tar, 0o755);
    const place = await openPlace(folder, '');
    if (place.kind !== 'folder') throw new Error('A folder was expected.');
    const stream = await streamFolder(place.folder, { tar, mayHaveChanged: async () => true });
    await expect(bytesOf(stream)).rejects.toMatchObject({ code: 'download_failed' });
    const missing = streamFolder(place.folder, { tar: join(folder, 'none'), mayHaveChanged: async () => true });
    await expect(missing).rejects.toMatchObject({ code: 'download_failed' });
    await place.folder.handle.close();
  });

  it('takes little memory, whatever its size', async () => {
    const { host, disk } = await machine('plain');
    const size = 256 * mib;
    const sparse = await open(join(disk, 'sparse'), 'w');
    await sparse.truncate(size);
    await sparse.close();
    const before = process.memoryUsage().rss;
    let peak = before;
    const counted = { bytes: 0 };
    const counter = () =>
      new Writable({
        write(chunk: Buffer, _encoding, done) {
          counted.bytes += chunk.length;
          peak = Math.max(peak, process.memoryUsage.rss());
          done();
        },
      });
    const file = await host.download(diskAddress, 'sparse');
    expect(file).toMatchObject({ kind: 'file', sizeBytes: size });
    await pipeline(file.stream, counter());
    expect(counted.bytes).toBe(size);
    counted.bytes = 0;
    await pipeline((await host.download(diskAddress)).stream, createGunzip(), counter());
    expect(counted.bytes).toBeGreaterThan(size);
    expect(peak - before).toBeLessThan(64 * mib);
  });
});

/** Pids of the programs that work in a folder below `disk`. */
function archiversIn(disk: string): number[] {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map(Number).filter((pid) => {
    try {
      const ended = /\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
      return !ended && readlinkSync(`/proc/${pid}/cwd`).startsWith(disk);
    } catch {
      return false;
    }
  });
}

function openFilesIn(disk: string): string[] {
  return readdirSync('/proc/self/fd').flatMap((name) => {
    try {
      const target = readlinkSync(`/proc/self/fd/${name}`);
      return target.startsWith(disk) ? [target] : [];
    } catch {
      return [];
    }
  });
}
