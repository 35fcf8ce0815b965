/** A stack that plays the service of a record, after it was killed. Gate; fifteen CPU seconds. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type CliHome, createCliHome } from '../cli/program.js';

let cli: CliHome;
beforeEach(() => {
  cli = createCliHome();
});
afterEach(() => cli.close());

it('plays the same service when a command starts it again, and commands call it as that service wants', async () => {
  const record = join(cli.home, 'record.json');
  const settings = { SANDBOX_API_HEADER_PREFIX: 'X-Box-' };
  writeFileSync(record, JSON.stringify({ deviations: ['A-header-family'], settings, findings: [] }));
  expect(await cli.run(['up', '--assume', record]), cli.said()).toMatchObject({ exitCode: 0 });
  for (const pid of cli.alive(' supervisor ')) process.kill(pid, 'SIGKILL');
  await expect.poll(() => cli.alive(), { message: cli.said() }).toEqual([]);

  const made = await cli.run(['api', 'POST', '/sandboxes']);
  expect(made.stderr).toContain('It is started again.');
  const { id } = JSON.parse(made.stdout).sandbox;
  const deleted = await cli.run(['api', 'DELETE', `/sandboxes/${id}`, '--confirm', id]);
  expect(deleted, cli.said()).toMatchObject({ exitCode: 0 });
});
