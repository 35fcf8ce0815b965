/** What a machine host does while it copies a snapshot to a disk. Unit tier: a few seconds. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it, vi } from 'vitest';
import { machine, ownSandboxId, usableIsolations } from '../machine/machine-fixture.js';
import { type HeldCopies, holdCopies } from './held-copies.js';

vi.mock(import('../../../src/machine/program.js'), { spy: true });

const snapshotId = `snap_${'0'.repeat(24)}`;
const forkId = 'bx_efgh2345';

type Machine = Awaited<ReturnType<typeof machine>> & { readonly copies: HeldCopies };

/** A host whose copy to the disk of `forkId` is held. */
async function restoring(isolation: (typeof usableIsolations)[number] = 'plain'): Promise<Machine> {
  const made = await machine(isolation);
  await made.host.writeFile(ownSandboxId, 'folder/kept', Buffer.from('kept'));
  await made.host.takeSnapshot(ownSandboxId, snapshotId);
  const copies = await holdCopies();
  await made.host.restoreDisk(forkId, snapshotId);
  await copies.begun();
  return { ...made, copies };
}

/** The promise, and whether it has settled. */
function watched<Result>(promise: Promise<Result>): { readonly promise: Promise<Result>; isSettled: boolean } {
  const one = { promise, isSettled: false };
  const settle = (): void => {
    one.isSettled = true;
  };
  promise.then(settle, settle);
  return one;
}

describe.each(usableIsolations)('while the disk of a %s sandbox is restored', (isolation) => {
  it('its files are read at once, and what may change it waits', async () => {
    const { host, copies } = await restoring(isolation);
    const command = watched(host.run(forkId, { command: 'cat folder/kept; cat later' }));
    const write = watched(host.writeFile(forkId, 'later', Buffer.from('later')));
    const snapshot = watched(host.takeSnapshot(forkId, `snap_${'1'.repeat(24)}`));
    expect((await host.readFile(forkId, 'folder/kept', 10)).toString()).toBe('kept');
    await expect(host.readFile(forkId, 'later', 10)).rejects.toMatchObject({ code: 'not_found' });
    const file = await host.download({ sandboxId: forkId }, '/home/sandbox/folder/kept');
    expect(await text(file.stream)).toBe('kept');
    (await host.download({ sandboxId: forkId })).stream.resume();
    expect(await host.processes(forkId)).toEqual({ processes: [], total: 0 });
    expect([command, write, snapshot].map(({ isSettled }) => isSettled)).toEqual([false, false, false]);
    copies.release();
    await write.promise;
    expect((await snapshot.promise).sizeBytes).toBeGreaterThanOrEqual(4);
    expect((await command.promise).stdout).toMatch(/^kept/);
    expect((await host.run(forkId, { command: 'cat folder/kept later' })).stdout).toBe('keptlater');
  });
});

describe('a restore', () => {
  it('ends with the deletion of the disk, and leaves nothing', async () => {
    const { host, directory } = await restoring();
    const command = host.run(forkId, { command: 'true' });
    await Promise.all([expect(command).rejects.toMatchObject({ code: 'ended' }), host.deleteDisk(forkId)]);
    expect(await readdir(join(directory, 'unfinished'))).toEqual([]);
    expect(await readdir(join(directory, 'disks'))).toEqual([ownSandboxId]);
    await expect(host.readFile(forkId, 'folder/kept', 10)).rejects.toMatchObject({ code: 'no_disk' });
  });

  it('ends when the host closes, and leaves nothing', async () => {
    const { host, directory } = await restoring();
    const command = host.run(forkId, { command: 'true' });
    await Promise.all([expect(command).rejects.toMatchObject({ code: 'ended' }), host.close()]);
    expect(await readdir(join(directory, 'unfinished'))).toEqual([]);
    await expect(host.continueRestore(forkId, snapshotId)).rejects.toMatchObject({ code: 'closed' });
  });

  it('goes on when the processes are ended, and what waits for it is refused', async () => {
    const { host, copies } = await restoring();
    const write = host.writeFile(forkId, 'late', Buffer.from('late'));
    await Promise.all([expect(write).rejects.toMatchObject({ code: 'ended' }), host.endProcesses(forkId)]);
    copies.release();
    expect((await host.run(forkId, { command: 'ls' })).stdout).toBe('folder\n');
  });

  it('does not hold up a command that is aborted, which is not started', async () => {
    const { host } = await restoring();
    const abort = new AbortController();
    const command = host.run(forkId, { command: 'true' }, { signal: abort.signal });
    abort.abort();
    expect(await command).toMatchObject({ exitCode: null, durationMs: 0 });
  });

  it('is superseded by the next one', async () => {
    const { host, copies } = await restoring();
    const otherId = `snap_${'2'.repeat(24)}`;
    await host.writeFile(ownSandboxId, 'folder/kept', Buffer.from('newer'));
    await host.takeSnapshot(ownSandboxId, otherId);
    const { ended } = await host.restoreDisk(forkId, otherId);
    await copies.begun(2);
    expect((await host.readFile(forkId, 'folder/kept', 10)).toString()).toBe('newer');
    copies.release();
    expect(await ended).toBe(true);
    expect((await host.run(forkId, { command: 'cat folder/kept' })).stdout).toBe('newer');
  });

  it('is continued if it was not ended, and not if the disk exists', async () => {
    const { host, copies } = await restoring();
    await host.endRestore(forkId);
    copies.release();
    expect(await (await host.continueRestore(forkId, snapshotId)).ended).toBe(true);
    await host.writeFile(forkId, 'folder/kept', Buffer.from('changed'));
    expect(await (await host.continueRestore(forkId, snapshotId)).ended).toBe(true);
    expect((await host.readFile(forkId, 'folder/kept', 10)).toString()).toBe('changed');
  });

  it('keeps its snapshot until it has ended', async () => {
    const { host, copies, directory } = await restoring();
    const deletion = watched(host.deleteSnapshot(snapshotId));
    expect((await host.readFile(forkId, 'folder/kept', 10)).toString()).toBe('kept');
    expect(deletion.isSettled).toBe(false);
    copies.release();
    await deletion.promise;
    expect(await readdir(join(directory, 'snapshots'))).toEqual([]);
    expect((await host.readFile(forkId, 'folder/kept', 10)).toString()).toBe('kept');
  });

  it('that fails says why to what waits for it, and leaves no disk', async () => {
    const { host, copies, directory } = await restoring();
    const command = host.run(forkId, { command: 'true' });
    const refused = expect(command).rejects.toMatchObject({ code: 'copy_failed', message: /no space is left/ });
    copies.fail();
    await refused;
    expect(await readdir(join(directory, 'disks'))).toEqual([ownSandboxId]);
    expect(await readdir(join(directory, 'unfinished'))).toEqual([]);
  });
});
