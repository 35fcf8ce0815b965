/** `doctor --probe` follows an event of its own sandbox from the service to a bridge. Gate; costs some 10 CPU s. */
import { afterAll, beforeAll, describe, expect, inject, it, onTestFinished } from 'vitest';
import { webhookPath } from '../../src/bridge/index.js';
import { createSandboxClient } from '../../src/client/index.js';
import { sandboxEventTypes } from '../../src/contract/workflow-safe/states.js';
import { apiKey, idsOf, probed, startService } from '../unit/cli/doctor/probe-stand.js';
import { connectClient, deliver, eventBody, newSandboxId, startBridge } from './bridge-harness.js';

let temporal: Awaited<ReturnType<typeof connectClient>>;
beforeAll(async () => {
  temporal = await connectClient(inject('temporalAddress'));
});
afterAll(() => temporal.close());

/** A service whose registration leads to a bridge that has its secret, or another one. */
async function startBoth(hasSecret: boolean) {
  const service = await startService();
  const secrets = ['whsec_other'];
  const bridge = await startBridge(temporal.client, { secrets: () => secrets });
  onTestFinished(() => bridge.close());
  const client = createSandboxClient({ baseUrl: service.url, apiKey, allowHttp: true });
  const url = `${bridge.url}${webhookPath}`;
  const { secret } = await client.createWebhook({ name: 'bridge', url, events: [...sandboxEventTypes] });
  await client.close();
  if (hasSecret) secrets.push(secret);
  return { service, bridge };
}

describe('the delivery of a webhook, end to end', () => {
  it('is confirmed once an event of the sandbox of the probe has come', async () => {
    const { service } = await startBoth(true);
    const { findings } = await probed(service.url);
    const why = 'an event of the sandbox has reached the bridge';
    expect(findings.find(({ id }) => id === 'delivery')).toMatchObject({ verdict: 'confirmed', why });
    expect(idsOf(findings, 'refuted')).toEqual([]);
    expect(idsOf(findings, 'confirmed')).toContain('A-webhook-record');
  });

  it('is refuted by a bridge that refuses all events', async () => {
    const { service } = await startBoth(false);
    const { findings, exitCode, records } = await probed(service.url);
    const finding = { verdict: 'refuted', why: 'the bridge refuses the deliveries of the service' };
    expect(findings.find(({ id }) => id === 'delivery')).toMatchObject(finding);
    expect(JSON.parse(records[0]?.text ?? '')).toMatchObject({ deviations: [], settings: {} });
    expect(exitCode).toBe(1);
  });

  it('is not tried with a bridge that does not answer', async () => {
    const { service, bridge } = await startBoth(true);
    await bridge.close();
    const { findings } = await probed(service.url);
    const finding = { verdict: 'not tried', why: 'the bridge does not answer' };
    expect(findings.find(({ id }) => id === 'delivery')).toMatchObject(finding);
  });
});

it('a bridge tells of events only to who names the sandbox', async () => {
  const bridge = await startBridge(temporal.client, { secrets: () => ['whsec_test'] });
  onTestFinished(() => bridge.close());
  const said = async (id: string) => (await fetch(`${bridge.url}/readyz?sandbox=${id}`)).text();
  const ids = [newSandboxId(), newSandboxId()] as const;
  await deliver(bridge.url, eventBody({ sandboxId: ids[0] }));
  expect(await said(ids[0])).toBe('ready\nan event of this sandbox has come\n');
  for (const other of [ids[1], '', 'x'.repeat(5_000)]) expect(await said(other)).toBe('ready\n');
  expect(await (await fetch(`${bridge.url}/readyz`)).text()).toBe('ready\n');
});
