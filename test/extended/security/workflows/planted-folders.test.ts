/** Links in the folder of a project, where commands create folders that the user has not named. */
import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, inject, it } from 'vitest';
import { cli } from '../../../unit/cli/in-process.js';
import { createStand, deployment, type Stand } from '../../../workflows/workflow-harness.js';

let stand: Stand;
let folder: string;
beforeAll(async () => {
  stand = await createStand();
  folder = await mkdtemp(join(tmpdir(), 'sandflow-planted-'));
  await mkdir(join(folder, 'keys'));
  await mkdir(join(folder, 'project'));
});
afterAll(async () => {
  await stand.close();
  await rm(folder, { recursive: true, force: true });
});

const run = (args: readonly string[]) =>
  cli(args, {
    cwd: join(folder, 'project'),
    env: {
      TEMPORAL_ADDRESS: inject('temporalAddress'),
      SANDBOX_API_URL: stand.service.url ?? '',
      SANDBOX_API_KEY: 'test-key',
      SANDFLOW_DEPLOYMENT: deployment,
      SANDFLOW_TASK_QUEUE: stand.taskQueue,
      SANDFLOW_RESULTS: stand.resultsDirectory,
    },
  });
const plant = (name: string) => symlink('../keys', join(folder, 'project', name));
const refused = { exitCode: 2, stderr: expect.stringContaining('is a link or a file') };

it('the results of a batch and its report are not written through a link', async () => {
  await writeFile(join(folder, 'project', 'items.txt'), 'Say hello\n');
  const batch = ['fanout', 'items.txt', '--id', 'weekly'];
  expect(await run([...batch, '--out', 'results'])).toMatchObject({ exitCode: 0 });
  await plant('fanout-weekly');
  const ofTheRun = { exitCode: 2, stderr: expect.stringContaining('is a link to a folder') };
  expect(await run(batch)).toMatchObject(ofTheRun);
  expect(await run(['fanout', 'report', 'weekly'])).toMatchObject(refused);
  expect(await readdir(join(folder, 'keys'))).toEqual([]);
});
