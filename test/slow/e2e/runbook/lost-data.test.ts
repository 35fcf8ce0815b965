/** Brings about the incidents of docs/runbook.md in which a server is away or has lost its data. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { type CliHome, createCliHome } from '../../../e2e/cli/program.js';
import { killPart, partPids, patient, shell, untilBooks } from '../../../e2e/stack/fixture.js';
import { printedSteps } from './runbook-stand.js';

let cli: CliHome;
beforeAll(async () => {
  cli = createCliHome();
  expect(await cli.run(['up'])).toMatchObject({ exitCode: 0 });
});
afterAll(async () => {
  await cli.run(['down', '--force']);
  await cli.close();
});

const begin = (title: string, values: Readonly<Record<string, string>>) =>
  // Shorter than the default of a minute.
  printedSteps(title, values, (args) => cli.run(args, { SANDFLOW_PATIENCE_SECONDS: '3' }));

it('The service does not answer', async () => {
  const started = await cli.run(['run', shell('sleep 8'), '--id', 'waits', '--detach']);
  expect(started).toMatchObject({ exitCode: 0 });
  await untilBooks(cli, ({ sandboxes }) => sandboxes.length === 1);
  const [pid = 0] = partPids(cli, 'local');
  process.kill(pid, 'SIGSTOP');
  const steps = begin('The service does not answer', { JOB: 'waits' });
  expect(await steps.next()).toMatchObject({ exitCode: 1 });
  expect((await steps.next()).stdout).toContain('waits');
  expect((await steps.next()).stdout).toContain('waits');
  steps.done();
  process.kill(pid, 'SIGCONT');
  expect(await cli.run(['jobs', 'watch', 'waits'])).toMatchObject({ exitCode: 0 });
});

it('Temporal lost its data', async () => {
  expect(await cli.run(['run', 'Say hello', '--id', 'forgotten', '--end', 'keep'])).toMatchObject({ exitCode: 0 });
  // The supervisor starts the server again, with an empty database.
  rmSync(join(cli.home, 'temporal.db'), { force: true });
  const killed = killPart(cli, 'temporal');
  await vi.waitFor(() => expect(partPids(cli, 'temporal')).not.toContain(killed), patient);
  const steps = begin('Temporal lost its data', {});
  await vi.waitFor(async () => expect((await cli.run(['jobs', 'list'])).stdout).not.toContain('forgotten'), patient);
  expect((await steps.next()).stdout).not.toContain('forgotten');
  expect((await steps.next()).stdout).toContain('forgotten');
  expect(await steps.next()).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('archived') });
  steps.done();
});
