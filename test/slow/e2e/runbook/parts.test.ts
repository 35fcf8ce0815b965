/** Brings about the incidents of docs/runbook.md that concern the parts of a stack, and repairs them as it says. */
import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readSecrets } from '../../../../src/bridge/index.js';
import { deliveryHeadersFor } from '../../../../src/webhook/index.js';
import { createRunbookStand, printedSteps, type RunbookStand } from './runbook-stand.js';

let stand: RunbookStand;
beforeAll(async () => {
  stand = await createRunbookStand();
});
afterAll(() => stand.parts.close());

type Env = Readonly<Record<string, string>>;
const begin = (title: string, values: Env, env = stand.env) =>
  printedSteps(title, values, (args) => stand.run(args, env));

it('No worker takes jobs', async () => {
  const env = stand.parts.environment(stand.service, 'unserved');
  await stand.startJob('unserved', ['Say hello'], env);
  const steps = begin('No worker takes jobs', { JOB: 'unserved' }, env);
  expect(await steps.next()).toMatchObject({ exitCode: 1, stdout: expect.stringMatching(/worker/) });
  steps.serves('worker');
  await stand.parts.startWorker(env);
  expect(await steps.next()).toMatchObject({ exitCode: 0 });
  steps.done();
});

it('A deploy was bad', async () => {
  const env = stand.parts.environment(stand.service, 'deployed');
  const bad = await stand.parts.startWorker({ ...env, SANDBOX_API_KEY: 'bx_of_another_account' });
  await stand.startJob('deployed', ['Say hello'], env);
  await stand.until(['jobs', 'show', 'deployed'], 'unauthorized', env);
  const steps = begin('A deploy was bad', { JOB: 'deployed' }, env);
  await steps.next();
  expect((await steps.next()).stdout).toContain('unauthorized');
  bad.process.kill('SIGTERM');
  await bad.ended;
  steps.serves('worker');
  await stand.parts.startWorker(env);
  expect(await steps.next()).toMatchObject({ exitCode: 0 });
  steps.done();
});

it('A webhook secret leaked', async () => {
  const { bridgeUrl, secretFile } = stand.parts;
  const env = { ...stand.env, SANDBOX_WEBHOOK_SECRET_FILE: secretFile };
  const [leaked = ''] = await readSecrets(secretFile);
  const forge = async () => {
    const rawBody = Buffer.from(JSON.stringify({ id: randomUUID() }));
    const timestamp = Math.floor(Date.now() / 1_000);
    const signed = { secret: leaked, deliveryId: randomUUID(), timestamp, rawBody, event: 'webhook.test' };
    return (await fetch(bridgeUrl, { method: 'POST', headers: deliveryHeadersFor(signed), body: rawBody })).status;
  };
  expect(await forge()).not.toBe(401);
  const listed = await stand.run(['webhooks', 'list', '--json'], env);
  const [webhook] = (JSON.parse(listed.stdout) as { webhooks: { id: string }[] }).webhooks;
  const steps = begin('A webhook secret leaked', { WEBHOOK: webhook?.id ?? '' }, env);
  expect((await steps.next()).stdout).toContain(webhook?.id);
  expect(await steps.next()).toMatchObject({ exitCode: 0 });
  expect(await steps.next()).toMatchObject({ exitCode: 0 });
  steps.done();
  expect(await forge()).toBe(401);
  // The events of the service, with the new secret, still wake jobs.
  const { stdout } = await stand.run(['run', 'Say hello', '--json'], env);
  expect(JSON.parse(stdout)).toMatchObject({ outcome: 'completed', wakes: expect.anything() });
});

it('Webhooks are lost', async () => {
  await stand.parts.killBridge();
  expect(await stand.run(['run', 'Say hello', '--id', 'late'])).toMatchObject({ exitCode: 0 });
  const steps = begin('Webhooks are lost', {});
  expect((await steps.next()).stdout).toContain(stand.parts.bridgeUrl);
  expect((await steps.next()).stdout).toMatch(/^failed +bridge +\S+ does not answer/m);
  steps.serves('bridge');
  await stand.parts.startBridge();
  steps.done();
  const { stdout } = await stand.run(['run', 'Say hello', '--json']);
  expect(JSON.parse(stdout)).toMatchObject({ outcome: 'completed' });
});
