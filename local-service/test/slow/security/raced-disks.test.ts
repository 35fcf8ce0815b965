/** Every operation of the service on a disk while its sandbox swaps folders for links, some hundred times each. */
import { execFile } from 'node:child_process';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { describe, expect, it } from 'vitest';
import { removeTree } from '../../../src/machine/disk/copy-tree.js';
import { ownSandboxId, temporaryDirectory, usableIsolations } from '../../service/machine/machine-fixture.js';
import { fileCount, insideText, outsideNow, racedDisk, textsBelow, untouched } from './raced-disk.js';

const run = promisify(execFile);
const maxTries = 100;
const fewBytes = 100;

/** A service that follows links may find itself in what no operation ends: the attack has succeeded all the same. */
const maxMs = 60_000;

/** Continues until one has succeeded: a sandbox may pause during a swap, and a race that nobody entered proves nothing. */
async function tries(count: number, act: (index: number) => Promise<boolean>): Promise<void> {
  const endsAt = performance.now() + maxMs;
  let succeeded = 0;
  for (let index = 0; (index < count || succeeded === 0) && performance.now() < endsAt; index += 1)
    if (await act(index)) succeeded += 1;
}

const works = (promise: Promise<unknown>): Promise<boolean> =>
  promise.then(
    () => true,
    () => false,
  );

describe.skipIf(!usableIsolations.includes('bubblewrap'))('a disk whose sandbox swaps a folder for a link', () => {
  it('is snapshotted without files of the host', async () => {
    const { host, directory, outside } = await racedDisk();
    const seen = new Set<string>();
    await tries(maxTries, async () => {
      if (!(await works(host.takeSnapshot(ownSandboxId, 'snap_1')))) return false;
      for (const text of await textsBelow(join(directory, 'snapshots', 'snap_1'))) seen.add(text);
      return true;
    });
    expect([...seen]).toEqual([insideText]);
    expect(await outsideNow(outside)).toEqual(untouched);
  });

  it('is read file by file without files of the host', async () => {
    const { host } = await racedDisk();
    const seen = new Set<string>();
    await tries(maxTries * 20, async (index) => {
      const read = await host.readFile(ownSandboxId, `folder/f${index % fileCount}`, fewBytes).catch(() => undefined);
      if (read !== undefined) seen.add(read.toString());
      return read !== undefined;
    });
    expect([...seen]).toEqual([insideText]);
  });

  it.each([
    ['a file', 'folder/f1'],
    ['a folder', 'folder'],
    ['the whole disk', ''],
  ])('is downloaded without files of the host: %s', async (_what, path) => {
    const { host } = await racedDisk();
    const folder = await temporaryDirectory();
    const archive = join(folder, 'archive.tar.gz');
    const seen = new Set<string>();
    await tries(maxTries, async () => {
      const download = await host.download({ sandboxId: ownSandboxId }, path).catch(() => undefined);
      if (download === undefined) return false;
      const bytes = await buffer(download.stream).catch(() => undefined);
      if (bytes === undefined) return false;
      if (download.kind === 'file') seen.add(bytes.toString());
      else for (const text of await textsOf(bytes, archive)) seen.add(text);
      return true;
    });
    expect([...seen]).toEqual([insideText]);
  });

  it('is written to, and the host is not', async () => {
    const { host, outside } = await racedDisk();
    await tries(maxTries * 2, (index) =>
      works(host.writeFile(ownSandboxId, `folder/f${index % fileCount}`, Buffer.from(insideText))),
    );
    await tries(maxTries * 2, (index) =>
      works(host.writeFile(ownSandboxId, `folder/new-${index}/file`, Buffer.from(insideText))),
    );
    expect(await outsideNow(outside)).toEqual(untouched);
  });

  it('has files removed, and the host has not', async () => {
    const { host, outside } = await racedDisk();
    await tries(maxTries * 5, (index) => works(host.removeFile(ownSandboxId, `folder/f${index % fileCount}`)));
    expect(await outsideNow(outside)).toEqual(untouched);
  });

  it('is removed, even with read-only and recreated folders, and nothing of the host is', async () => {
    const { disk, outside } = await racedDisk(remakeProgram);
    await tries(maxTries * 2, async (index) => {
      await works(chmod(join(disk, 'tree', 'folder'), index % 2 === 0 ? 0o500 : 0o700));
      await works(removeTree(join(disk, 'tree')));
      return true;
    });
    expect(await outsideNow(outside)).toEqual(untouched);
  });
});

/** Creates what is removed again, with the names of the host's folder, and swaps it for the link. */
const remakeProgram = `perl -e '$| = 1; print "begun\\n"; my $to = readlink "evil"; while (1) {
  mkdir "tree"; symlink $to, "tree/evil"; mkdir "tree/folder";
  for my $n (0..9) { open my $f, ">", "tree/folder/f$n"; }
  for (1..20) {
    rename "tree/folder", "tree/parked"; rename "tree/evil", "tree/folder";
    rename "tree/folder", "tree/evil"; rename "tree/parked", "tree/folder" } }'`;

async function textsOf(archive: Buffer, file: string): Promise<Set<string>> {
  await writeFile(file, archive);
  const target = `${file}-unpacked`;
  await mkdir(target);
  await run('tar', ['-xzf', file, '-C', target]);
  const texts = await textsBelow(target);
  await removeTree(target);
  return texts;
}
