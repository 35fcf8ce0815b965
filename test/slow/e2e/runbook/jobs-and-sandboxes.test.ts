/** Brings about the incidents of docs/runbook.md that concern jobs and sandboxes, and repairs them as it says. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { jobWorkflowId } from '../../../../src/addresses/addresses.js';
import { arm, shell } from '../../../e2e/stack/fixture.js';
import { printedBlock } from './printed-commands.js';
import { createRunbookStand, printedSteps, type RunbookStand } from './runbook-stand.js';

let stand: RunbookStand;
beforeAll(async () => {
  stand = await createRunbookStand();
});
afterAll(() => stand.parts.close());

const agentWorks = 'the agent is working';
const works = [shell('sleep 600'), '--deadline', '20m'];
const endFaults = () =>
  fetch(new URL('/_local/faults', stand.service.url), {
    method: 'DELETE',
    headers: { authorization: `Bearer ${stand.service.apiKey}` },
  });
const begin = (title: string, values: Readonly<Record<string, string>>) => printedSteps(title, values, stand.run);

it('A job waits for a person', async () => {
  await arm(stand.service, [{ kind: 'error', endpoint: 'sendPrompt', status: 502, html: true, times: 1_000 }]);
  await stand.startJob('doubtful', ['Say hello']);
  await stand.until(['jobs', 'show', 'doubtful'], 'outcome_unknown');
  await endFaults();
  const sandboxId = await stand.sandboxOf('doubtful');
  const steps = begin('A job waits for a person', { JOB: 'doubtful', SANDBOX: sandboxId });
  expect((await steps.next()).stdout).toContain('doubtful');
  expect((await steps.next()).stdout).toContain('outcome_unknown');
  expect((await steps.next()).stdout).toContain(sandboxId);
  expect(await steps.next()).toMatchObject({ exitCode: 0 });
  steps.done();
  expect(await stand.run(['jobs', 'watch', 'doubtful'])).toMatchObject({ exitCode: 0 });
  expect(await stand.promptsOf('doubtful')).toBe(1);
});

it('A stop keeps failing', async () => {
  expect(await stand.run(['run', 'Say hello', '--id', 'kept', '--end', 'keep'])).toMatchObject({ exitCode: 0 });
  const sandboxId = await stand.sandboxOf('kept');
  await arm(stand.service, [{ kind: 'stop_fails', times: 1_000 }]);
  expect(await stand.run(['stop', sandboxId])).toMatchObject({ exitCode: 0 });
  await stand.until(['stops', 'list', '--failing'], sandboxId);
  const steps = begin('A stop keeps failing', { SANDBOX: sandboxId });
  await steps.next();
  expect((await steps.next()).stdout).toContain(sandboxId);
  await endFaults();
  expect(await steps.next()).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('work saved') });
  steps.done();
});

it('A batch runs away', async () => {
  const items = join(stand.parts.cli.home, 'items.txt');
  writeFileSync(items, Array.from({ length: 6 }, (_, at) => `sleep ${600 + at}\n`).join(''));
  const prompt = shell('{{prompt}}');
  const started = await stand.run(['fanout', items, '--prompt', prompt, '--id', 'runaway', '--detach']);
  expect(started, started.stderr).toMatchObject({ exitCode: 0 });
  await stand.until(['fanout', 'show', 'runaway'], /6 running|running +6/);
  const steps = begin('A batch runs away', { BATCH: 'runaway' });
  expect((await steps.next()).stdout).toContain('runaway');
  expect(await steps.next()).toMatchObject({ exitCode: 0 });
  expect(await steps.next()).toMatchObject({ exitCode: 0 });
  steps.done();
  const { stdout } = await stand.run(['sandboxes', '--state', 'ready', '--name', '*runaway*', '--json']);
  expect(JSON.parse(stdout)).toMatchObject({ sandboxes: [] });
});

it('Sandboxes are orphaned', async () => {
  await stand.startJob('terminated', works);
  await stand.until(['jobs', 'show', 'terminated'], agentWorks);
  const sandboxId = await stand.sandboxOf('terminated');
  const connection = await Connection.connect({ address: stand.parts.temporalAddress });
  await new Client({ connection }).workflow.getHandle(jobWorkflowId('parts', 'terminated')).terminate('a mistake');
  await connection.close();
  writeFileSync(join(stand.parts.cli.home, 'policy.yaml'), printedBlock('Sandboxes are orphaned', 'yaml'));
  const steps = begin('Sandboxes are orphaned', {});
  expect((await steps.next()).stdout).toContain(sandboxId);
  expect((await steps.next()).stdout).toContain(sandboxId);
  expect(await steps.next()).toMatchObject({ exitCode: 0 });
  steps.done();
  const { stdout } = await stand.run(['sandboxes', 'show', sandboxId, '--json']);
  expect(JSON.parse(stdout)).toMatchObject({ sandbox: { state: 'archived' } });
});
