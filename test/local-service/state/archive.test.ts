import { execFile } from 'node:child_process';
import { mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { emptyDirectory, type ServiceUnderTest, startService } from '../service-under-test.js';

const run = promisify(execFile);

/** An export of a service with one sandbox, unpacked. */
async function unpackedExport(): Promise<{ readonly folder: string; readonly id: string }> {
  const from = await startService();
  const id = await from.ready({ name: 'of the export' });
  await from.call('PUT', `/sandboxes/${id}/files`, { body: { path: 'a', content: 'of the export' } });
  const folder = await emptyDirectory();
  const archive = join(await emptyDirectory(), 'state.tar.gz');
  await writeFile(archive, await buffer(await from.service.export()));
  await run('tar', ['-xzf', archive, '-C', folder]);
  return { folder, id };
}

async function pack(folder: string): Promise<Readable> {
  const archive = join(await emptyDirectory(), 'state.tar.gz');
  await run('tar', ['-czf', archive, '-C', folder, '.']);
  return Readable.from([await readFile(archive)]);
}

async function startedWithImport(folder: string, rest: (directory: string) => Promise<void> = async () => undefined) {
  const directory = await emptyDirectory();
  const before = await startService({ directory });
  const old = await before.ready({ name: 'of before' });
  await before.service.close();
  await rename(folder, join(directory, 'import'));
  await mkdir(folder);
  await rest(directory);
  return { under: await startService({ directory }), old, directory };
}

async function holdsTheExport(under: ServiceUnderTest, id: string): Promise<void> {
  expect((await under.call('GET', '/sandboxes')).body.sandboxes.map(({ name }) => name)).toEqual(['of the export']);
  expect((await under.call('GET', `/sandboxes/${id}/files?path=a`)).body.content).toBe('of the export');
}

test('an import that was accepted before a kill is applied by the next start', async () => {
  const { folder, id } = await unpackedExport();
  const { under } = await startedWithImport(folder);
  await holdsTheExport(under, id);
});

test('an import that a kill interrupted is completed by the next start', async () => {
  const { folder, id } = await unpackedExport();
  const { under } = await startedWithImport(folder, async (directory) => {
    const machines = join(directory, 'machines');
    await rm(join(machines, 'disks'), { recursive: true });
    await rename(join(directory, 'import', 'machines', 'disks'), join(machines, 'disks'));
  });
  await holdsTheExport(under, id);
  // It is applied only once.
  const other = await under.ready({ name: 'after' });
  await under.service.close();
  const again = await startService({ directory: under.directory });
  expect((await again.call('GET', `/sandboxes/${other}`)).status).toBe(200);
});

const changed = (change: object) => async (folder: string) => {
  const path = join(folder, 'manifest.json');
  await writeFile(path, JSON.stringify({ ...JSON.parse(await readFile(path, 'utf8')), ...change }));
};

test.each([
  ['of another layout', 'archive_of_other_version', changed({ layout: 2 })],
  ['of another format', 'archive_of_other_version', changed({ version: 2 })],
  ['of something else', 'bad_archive', changed({ format: 'backup' })],
  ['without a manifest', 'bad_archive', (folder: string) => rm(join(folder, 'manifest.json'))],
  [
    'without a disk that a sandbox needs',
    'bad_archive',
    (folder: string) =>
      rm(join(folder, 'machines', 'disks'), { recursive: true }).then(() => mkdir(join(folder, 'machines', 'disks'))),
  ],
  [
    'with a link in the place of the disks',
    'bad_archive',
    (folder: string) =>
      rm(join(folder, 'machines', 'disks'), { recursive: true }).then(() =>
        symlink('/etc', join(folder, 'machines', 'disks')),
      ),
  ],
  ['with more than a state', 'bad_archive', (folder: string) => writeFile(join(folder, 'machines', 'more'), '')],
  [
    'with an invalid database',
    'bad_archive',
    (folder: string) => writeFile(join(folder, 'service.db'), 'x'.repeat(8192)),
  ],
])('an archive %s is refused with %s, and the state is unchanged', async (_what, code, damage) => {
  const { folder } = await unpackedExport();
  await damage(folder);
  const under = await startService();
  const id = await under.ready({ name: 'of before' });
  await expect(under.service.import(await pack(folder))).rejects.toMatchObject({ code, status: 400 });
  expect((await under.call('GET', `/sandboxes/${id}/files?path=.`)).body.code).not.toBe('machine_not_running');
  expect((await under.call('GET', '/sandboxes')).body.sandboxes.map(({ name }) => name)).toEqual(['of before']);
});
