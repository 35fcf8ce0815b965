import { execFileSync } from 'node:child_process';
import { access, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { machine, ownSandboxId } from './machine-fixture.js';

const sizeLimit = 1_000_000;
const text = (content: string) => Buffer.from(content);

async function diskWithSecretBeside() {
  const made = await machine('plain');
  const secret = join(made.directory, 'secret');
  await writeFile(secret, 'secret');
  const read = async (path: string) => (await made.host.readFile(ownSandboxId, path, sizeLimit)).toString();
  const write = (path: string, content = 'written') => made.host.writeFile(ownSandboxId, path, text(content));
  return { ...made, secret, read, write };
}

describe('files of a sandbox', () => {
  it('are read as they were written, in folders created on the way', async () => {
    const { host, read, write } = await diskWithSecretBeside();
    const bytes = Buffer.from([0, 255, 10, 13, 128]);
    await host.writeFile(ownSandboxId, 'a/b/bytes', bytes);
    expect(await host.readFile(ownSandboxId, '/home/sandbox/a/b/bytes', sizeLimit)).toEqual(bytes);
    await write('a/b/note', 'a long first version');
    await write('/home/sandbox/./a//b/../b/note', 'short');
    expect(await read('a/b/note')).toBe('short');
  });

  it('report what is wrong with a path', async () => {
    const { host, disk, write } = await diskWithSecretBeside();
    await write('folder/file', 'content');
    execFileSync('mkfifo', [join(disk, 'pipe')]);
    const read = (path: string, maxBytes = sizeLimit) => host.readFile(ownSandboxId, path, maxBytes);
    await expect(read('missing')).rejects.toMatchObject({ code: 'not_found' });
    await expect(read('missing/deeper')).rejects.toMatchObject({ code: 'not_found' });
    await expect(read('folder/file/deeper')).rejects.toMatchObject({ code: 'not_found' });
    await expect(write('folder/file/deeper')).rejects.toMatchObject({ code: 'not_found' });
    await expect(read('folder')).rejects.toMatchObject({ code: 'not_a_file' });
    await expect(read('')).rejects.toMatchObject({ code: 'not_a_file' });
    await expect(write('folder')).rejects.toMatchObject({ code: 'not_a_file' });
    await expect(write('new/')).rejects.toMatchObject({ code: 'not_a_file' });
    await expect(read('pipe')).rejects.toMatchObject({ code: 'not_a_file' });
    await expect(write('pipe')).rejects.toMatchObject({ code: 'not_a_file' });
    await expect(read('folder/file', 6)).rejects.toMatchObject({ code: 'too_large' });
    expect((await read('folder/file', 7)).toString()).toBe('content');
    await expect(read('a\0b')).rejects.toMatchObject({ code: 'outside' });
    await expect(host.readFile('bx_zzzz2345', 'a', 1)).rejects.toMatchObject({ code: 'no_disk' });
  });

  it.each(['../secret', 'a/../../secret', '/home/sandbox/../secret', '/etc/passwd', '/home/sandboxed/x', '/', '..'])(
    'are not found outside the disk: %s',
    async (path) => {
      const { read, write, secret } = await diskWithSecretBeside();
      await write('a/file');
      await expect(read(path)).rejects.toMatchObject({ code: 'outside' });
      await expect(write(path)).rejects.toMatchObject({ code: 'outside' });
      expect(await readFile(secret, 'utf8')).toBe('secret');
    },
  );

  it('are not reached through links that lead out, even to a missing target', async () => {
    const { disk, directory, secret, read, write } = await diskWithSecretBeside();
    await symlink(secret, join(disk, 'absolute'));
    await symlink('../../secret', join(disk, 'relative'));
    await symlink(join(directory, 'new'), join(disk, 'dangling'));
    await symlink(directory, join(disk, 'folder'));
    await symlink('absolute', join(disk, 'chain'));
    for (const path of ['absolute', 'relative', 'dangling', 'folder/secret', 'folder/new', 'chain']) {
      await expect(read(path), path).rejects.toMatchObject({ code: 'outside' });
      await expect(write(path), path).rejects.toMatchObject({ code: 'outside' });
    }
    expect(await readFile(secret, 'utf8')).toBe('secret');
    await expect(access(join(directory, 'new'))).rejects.toThrow();
  });

  it('are reached through links that stay inside, as the sandbox resolves them', async () => {
    const { disk, read, write } = await diskWithSecretBeside();
    await write('real/file', 'inside');
    await symlink('/home/sandbox/real', join(disk, 'absolute'));
    await symlink('real/../real/file', join(disk, 'relative'));
    await symlink('/home/sandbox/real/new', join(disk, 'dangling'));
    expect(await read('absolute/file')).toBe('inside');
    expect(await read('relative')).toBe('inside');
    await write('dangling', 'made');
    expect(await read('real/new')).toBe('made');
    await symlink('circle', join(disk, 'circle'));
    await expect(read('circle')).rejects.toMatchObject({ code: 'not_found' });
  });

  it('stay inside while the sandbox swaps folders for links', async () => {
    const { disk, directory, secret, read, write } = await diskWithSecretBeside();
    await write('folder/secret', 'inside');
    await symlink(directory, join(disk, 'evil'));
    let swapping = true;
    const swap = (async () => {
      const folder = join(disk, 'folder');
      // A write may have created the folder again meanwhile. Then the swap starts over, even if the next write is faster.
      const remove = () => rm(folder, { recursive: true, force: true }).catch(() => undefined);
      const move = (from: string, to: string) => rename(from, to).catch(remove);
      while (swapping) {
        await move(folder, join(disk, 'parked'));
        await move(join(disk, 'evil'), folder);
        await move(folder, join(disk, 'evil'));
        await move(join(disk, 'parked'), folder);
      }
    })();
    const reads = new Set<string>();
    for (let round = 0; round < 400; round += 1) {
      reads.add(await read('folder/secret').catch((error) => error.code));
      await write('folder/secret', 'inside').catch(() => undefined);
    }
    swapping = false;
    await swap;
    expect(reads.has('secret')).toBe(false);
    expect(reads.has('inside')).toBe(true);
    expect(await readFile(secret, 'utf8')).toBe('secret');
  });

  it('are never outside the disk, whatever the path', async () => {
    const { directory, disk, host, secret } = await diskWithSecretBeside();
    await mkdir(join(disk, 'a'));
    await symlink('../..', join(disk, 'a', 'up'));
    await symlink('/', join(disk, 'root'));
    const part = fc.constantFrom(
      '..',
      '.',
      '',
      'a',
      'up',
      'root',
      'secret',
      'home',
      'sandbox',
      directory.slice(1),
      'b',
    );
    const path = fc.array(part, { maxLength: 8 }).map((parts) => parts.join('/'));
    await fc.assert(
      fc.asyncProperty(path, async (tried) => {
        await host.writeFile(ownSandboxId, tried, text('overwritten')).catch(() => undefined);
        const found = await host.readFile(ownSandboxId, tried, sizeLimit).catch(() => undefined);
        expect(found?.toString() ?? 'overwritten').toBe('overwritten');
        expect(await readFile(secret, 'utf8')).toBe('secret');
      }),
      { numRuns: 300 },
    );
  });
});
