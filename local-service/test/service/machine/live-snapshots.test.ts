import { mkdir, readdir, readFile, rename, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { MachineHost } from '../../../src/machine/machine-host.js';
import { machine, ownSandboxId, temporaryDirectory, usableIsolations } from './machine-fixture.js';

const snapshotId = `snap_${'0'.repeat(24)}`;
const forkId = 'bx_efgh2345';

describe.each(usableIsolations)('a snapshot of a running %s sandbox', (isolation) => {
  it('keeps its processes running, and has its files at that moment', async () => {
    const { host } = await machine(isolation);
    await host.writeFile(ownSandboxId, 'kept', Buffer.from('12345'));
    const begun = new Promise<void>((resolve) => {
      void host.run(ownSandboxId, { command: 'sleep 1161 & echo begun; wait' }, { onStdout: () => resolve() });
    });
    await begun;
    const before = await host.processes(ownSandboxId);
    expect(await host.takeSnapshot(ownSandboxId, snapshotId)).toEqual({ sizeBytes: 5 });
    expect((await host.processes(ownSandboxId)).processes.map(({ pid }) => pid)).toEqual(
      before.processes.map(({ pid }) => pid),
    );
    await host.restoreDisk(forkId, snapshotId);
    expect((await host.readFile(forkId, 'kept', 10)).toString()).toBe('12345');
    await host.writeFile(forkId, 'kept', Buffer.from('changed'));
    expect((await host.readFile(ownSandboxId, 'kept', 10)).toString()).toBe('12345');
  });
});

describe.skipIf(!usableIsolations.includes('bubblewrap'))('a snapshot of an isolated sandbox', () => {
  it('contains nothing from outside while the sandbox swaps folders for links', async () => {
    const { host, disk, directory } = await machine('bubblewrap');
    const outside = await temporaryDirectory();
    await mkdir(join(disk, 'folder'));
    for (let index = 0; index < 200; index += 1) {
      await writeFile(join(disk, 'folder', `f${index}`), 'inside');
      await writeFile(join(outside, `f${index}`), 'secret');
    }
    await symlink(outside, join(disk, 'evil'));
    swapUntilTheEnd(host, disk);
    const seen = new Set<string>();
    for (let round = 0; round < 25 || !seen.has('inside'); round += 1) {
      // A copy may fail under such a sandbox, but must not contain foreign files.
      const taken = await host.takeSnapshot(ownSandboxId, snapshotId).catch(() => undefined);
      if (taken === undefined) continue;
      for (const text of await contents(join(directory, 'snapshots', snapshotId))) seen.add(text);
    }
    expect([...seen]).toEqual(['inside']);
  });
});

/** As fast as a program of the sandbox can. */
function swapUntilTheEnd(host: MachineHost, disk: string): void {
  let swapping = true;
  const [folder, parked, evil] = [join(disk, 'folder'), join(disk, 'parked'), join(disk, 'evil')];
  const swapped = (async () => {
    while (swapping) {
      await rename(folder, parked);
      await rename(evil, folder);
      await rename(folder, evil);
      await rename(parked, folder);
    }
  })();
  onTestFinished(async () => {
    swapping = false;
    await swapped;
    await host.close();
  });
}

async function contents(snapshot: string): Promise<string[]> {
  const texts: string[] = [];
  for (const entry of await readdir(snapshot, { recursive: true, withFileTypes: true })) {
    if (entry.isFile()) texts.push(await readFile(join(entry.parentPath, entry.name), 'utf8'));
  }
  return texts;
}
