/** The setting `programs`: folders of this machine that sandboxes see. */
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createLocalService } from '../../../src/index.js';
import { apiKey, startService } from '../service-under-test.js';
import { usableIsolations } from './machine-fixture.js';

/** Not below /tmp or /dev, which each sandbox has of its own. */
async function emptyFolder(): Promise<string> {
  const cache = join(homedir(), '.cache');
  await mkdir(cache, { recursive: true });
  const folder = await mkdtemp(join(cache, 'programs-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

async function folderOfPrograms(): Promise<string> {
  const folder = await emptyFolder();
  await mkdir(join(folder, 'shown'));
  await writeFile(join(folder, 'shown/hello.sh'), 'echo hello\n');
  await writeFile(join(folder, 'hidden'), 'secret\n');
  return folder;
}

it.runIf(usableIsolations.includes('bubblewrap'))(
  'are seen by sandboxes, read-only, and nothing beside them is',
  async () => {
    const folder = await folderOfPrograms();
    const under = await startService({ isolation: 'bubblewrap', programs: [`${folder}/shown/`] });
    const id = await under.ready();
    const run = async (command: string) =>
      (await under.call('POST', `/sandboxes/${id}/commands`, { body: { command } })).body.stdout;
    expect(await run(`sh ${folder}/shown/hello.sh`)).toBe('hello\n');
    expect(await run(`touch ${folder}/shown/new || echo refused`)).toBe('refused\n');
    expect(await run(`cat ${folder}/hidden || echo missing`)).toBe('missing\n');
    expect(await run(`ls ${folder}`)).toBe('shown\n');
  },
);

it.runIf(usableIsolations.includes('bubblewrap'))('are refused if they are no folders of programs', async () => {
  const folder = await folderOfPrograms();
  const directory = await emptyFolder();
  await mkdir(join(directory, 'machines/disks'), { recursive: true });
  await symlink(homedir(), join(folder, 'link'));
  const refused: [string, RegExp][] = [
    ['~/agents', /must be an absolute path/],
    ['agents', /must be an absolute path/],
    [`${folder}/none`, /is not a folder/],
    [`${folder}/hidden`, /is not a folder/],
    ['/', /holds .*, which sandboxes must not see/],
    [homedir(), /holds .*, which sandboxes must not see/],
    [dirname(homedir()), /holds .*, which sandboxes must not see/],
    [`${folder}/link`, /holds .*, which sandboxes must not see/],
    [`${directory}/machines/disks`, /lies in .*, the data of the service\. Move the programs elsewhere/],
    [directory, /holds .*, which sandboxes must not see/],
    ['/etc/ssl', /is a folder that each sandbox has of its own/],
    ['/dev', /is a folder that each sandbox has of its own/],
  ];
  for (const [path, message] of refused) {
    const service = createLocalService({ directory, apiKey, isolation: 'bubblewrap', programs: [path] });
    await expect(service, path).rejects.toThrow(message);
  }
});
