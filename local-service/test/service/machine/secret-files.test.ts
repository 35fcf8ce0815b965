import { access, mkdir, readFile, stat, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { MachineHost } from '../../../src/machine/machine-host.js';
import { machine, ownSandboxId } from './machine-fixture.js';

const modeOf = async (path: string): Promise<number> => (await stat(path)).mode & 0o777;
const write = (host: MachineHost, path: string, mode?: number) =>
  host.writeFile(ownSandboxId, path, Buffer.from('content'), mode === undefined ? {} : { mode });

describe('the mode of a file', () => {
  it('is as requested for a new and an existing file, and is unchanged without a request', async () => {
    const { host, disk } = await machine('plain');
    await write(host, 'a/file', 0o600);
    expect(await modeOf(join(disk, 'a/file'))).toBe(0o600);
    await write(host, 'a/file', 0o640);
    await write(host, 'a/file');
    expect(await modeOf(join(disk, 'a/file'))).toBe(0o640);
  });
});

describe('removing a file', () => {
  it('can be repeated', async () => {
    const { host, disk } = await machine('plain');
    await write(host, 'a/file');
    await host.removeFile(ownSandboxId, '/home/sandbox/a/file');
    await expect(access(join(disk, 'a/file'))).rejects.toThrow();
    await host.removeFile(ownSandboxId, 'a/file');
    await host.removeFile(ownSandboxId, 'never/there');
  });

  it('does not leave the disk through dots, absolute paths or links', async () => {
    const { host, disk, directory } = await machine('plain');
    const secret = join(directory, 'secret');
    await writeFile(secret, 'kept');
    await symlink(secret, join(disk, 'link'));
    await symlink(directory, join(disk, 'folder'));
    for (const path of ['../secret', '../../secret', secret]) {
      await expect(host.removeFile(ownSandboxId, path), path).rejects.toMatchObject({ code: 'outside' });
    }
    for (const path of ['link', 'folder/secret']) await host.removeFile(ownSandboxId, path);
    expect(await readFile(secret, 'utf8')).toBe('kept');
  });

  it('does not remove a folder', async () => {
    const { host, disk } = await machine('plain');
    await mkdir(join(disk, 'folder'));
    for (const path of ['folder', '.', '']) {
      await expect(host.removeFile(ownSandboxId, path), path).rejects.toMatchObject({ code: 'not_a_file' });
    }
    await expect(host.removeFile('bx_22222222', 'x')).rejects.toMatchObject({ code: 'no_disk' });
  });

  it('removes neither a link nor what it leads to', async () => {
    const { host, disk } = await machine('plain');
    await write(host, 'folder/target');
    await symlink('folder/target', join(disk, 'link'));
    await symlink('folder', join(disk, 'by-folder'));
    for (const path of ['link', 'by-folder/target']) await host.removeFile(ownSandboxId, path);
    expect(await readFile(join(disk, 'link'), 'utf8')).toBe('content');
  });
});
