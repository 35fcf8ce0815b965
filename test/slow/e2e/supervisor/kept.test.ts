/** Tier slow, about 30 s of CPU: `sandflow up`, and the death of its supervisor. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type CliHome, createCliHome } from '../../../e2e/cli/program.js';

let home: CliHome;
beforeEach(() => {
  home = createCliHome();
});
afterEach(() => home.close());

it('a killed supervisor is missed, by name, and the next command brings its stack back as up', async () => {
  await home.run(['up']);
  await writeFile(join(home.home, 'job.yaml'), 'prompt: hello\n');
  const schedule = ['schedule', 'add', 'nightly', 'job.yaml', '--cron', '30 2 * * *', '--zone', 'UTC'];
  expect(await home.run(schedule)).toMatchObject({ exitCode: 0 });
  // A second `up` looks again at what is open.
  const { stdout } = await home.run(['up', '--json']);
  const { status } = JSON.parse(stdout);
  process.kill(status.pid, 'SIGKILL');

  await expect.poll(async () => (await home.run(['status'])).stdout).toContain('ended without `sandflow down`');
  expect((await home.run(['status'])).stdout).toContain('1 active schedule');

  const listed = await home.run(['schedule', 'list']);
  expect(listed.stderr).toMatch(/The stack of `sandflow up` ended without .*1 active schedule.* It is started again\./);
  expect(listed.stderr).not.toContain('stops when it is idle');
  expect((await home.run(['status'])).stdout).toContain('at `sandflow down`');
  const doctor = await home.run(['doctor']);
  expect(doctor.stderr).not.toContain('ended without');

  const ended = await home.run(['down', '--force']);
  expect(ended.stderr).toContain('1 active schedule (nightly): nothing runs until `sandflow up`.');
  expect((await home.run(['status'])).stdout).toContain('No stack is running');
});
