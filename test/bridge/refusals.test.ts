import { request } from 'node:http';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { connectClient, deliver, eventBody, newEventId, newSandboxId, startBridge } from './bridge-harness.js';

let temporal: Awaited<ReturnType<typeof connectClient>>;
let bridge: Awaited<ReturnType<typeof startBridge>>;
const sandboxId = newSandboxId();
const watch = `sandbox-watch/${sandboxId}`;
beforeAll(async () => {
  temporal = await connectClient(inject('temporalAddress'));
  await temporal.startWaiting(watch);
});
beforeEach(async () => {
  bridge = await startBridge(temporal.client, { maxBodyBytes: 4096 });
});
afterEach(async () => {
  // After every refusal, the workflow that waits for this sandbox has received nothing.
  expect(await temporal.signalsTo(watch)).toEqual([]);
  await bridge.close();
});
afterAll(() => temporal.close());

const nowSeconds = () => Math.floor(Date.now() / 1000);

describe('S10: the bridge refuses a delivery without our signature with 401', () => {
  it('with a wrong signature, even if the body is not JSON', async () => {
    const body = eventBody({ sandboxId });
    expect(await deliver(bridge.url, body, { secret: 'whsec_other' })).toMatchObject({
      status: 401,
      text: 'bad_signature',
    });
    expect(await deliver(bridge.url, '{', { secret: 'whsec_other' })).toMatchObject({ status: 401 });
    expect(await bridge.metric('sandflow_bridge_deliveries_total', '{result="bad_signature"}')).toBe(2);
  });

  it('with headers of another family, which its metrics count by themselves', async () => {
    const headers = { 'x-svc-webhook-id': '', 'x-svc-signature': '', 'x-box-signature': 'v1=0' };
    expect(await deliver(bridge.url, eventBody({ sandboxId }), { headers })).toMatchObject({ status: 401 });
    expect(await bridge.metric('sandflow_bridge_deliveries_total', '{result="missing_headers"}')).toBe(1);
  });

  it('and tells of a secret that became wrong: in the log, in the metrics, and when asked, until it is right again', async () => {
    const lines: string[] = [];
    await bridge.close();
    bridge = await startBridge(temporal.client, { log: (message) => lines.push(message) });
    const ready = async () => (await fetch(`${bridge.url}/readyz`)).text();
    expect(await ready()).toBe('ready\n');
    for (const _ of [1, 2]) await deliver(bridge.url, eventBody(), { secret: 'whsec_other' });
    expect(lines).toEqual([expect.stringMatching(/another secret.*connect --rotate.*webhooks rotate/)]);
    expect(await bridge.metric('sandflow_bridge_deliveries_total', '{result="bad_signature"}')).toBe(2);
    // A test delivery is signed with the secret of this machine, and says nothing about the service's.
    await deliver(bridge.url, eventBody({ type: 'sandflow.connection_test' }));
    expect(await ready()).toBe('ready\nrefused signatures: 2\n');
    await deliver(bridge.url, eventBody());
    expect(await ready()).toBe('ready\n');
  });

  it('with changed bytes but the same meaning', async () => {
    const body = eventBody({ sandboxId });
    const headers = { 'x-svc-signature': `v1=${'0'.repeat(64)}` };
    expect(await deliver(bridge.url, `${JSON.stringify(body)} `, { headers, deliveryId: body.id })).toMatchObject({
      status: 401,
    });
  });

  it.each([-310, 600])('with a timestamp %i s from now', async (offset) => {
    const answer = await deliver(bridge.url, eventBody({ sandboxId }), { timestamp: nowSeconds() + offset });
    expect(answer).toMatchObject({ status: 401, text: 'stale_timestamp' });
  });

  it('without the headers', async () => {
    const response = await fetch(`${bridge.url}/webhooks/sandbox`, { method: 'POST', body: '{}' });
    expect(response.status).toBe(401);
  });
});

describe('the bridge refuses a signed body that is not an event with 400', () => {
  it.each([
    ['no JSON', '{"id":'],
    ['no object', '[]'],
    ['no sandbox', JSON.stringify({ id: 'evt_1', type: 'sandbox.ready', createdAt: 'now', data: {} })],
    ['a sandbox without a name', JSON.stringify({ ...eventBody(), data: { sandbox: { id: sandboxId } } })],
  ])('%s', async (_, body) => {
    expect(await deliver(bridge.url, body)).toMatchObject({ status: 400, text: 'malformed_body' });
  });

  it('with a delivery id that differs from the event id', async () => {
    const answer = await deliver(bridge.url, eventBody({ sandboxId }), { deliveryId: newEventId() });
    expect(answer).toMatchObject({ status: 400, text: 'id_mismatch' });
  });
});

describe('the bridge refuses a body over the limit with 413 before reading it', () => {
  const large = () => ({ ...eventBody({ sandboxId }), padding: 'x'.repeat(5000) });

  it('by its declared length', async () => {
    expect(await deliver(bridge.url, large())).toMatchObject({ status: 413, text: 'too_large', connection: 'close' });
  });

  it('by its bytes, if no length is declared', async () => {
    const status = await new Promise((resolve, reject) => {
      const url = `${bridge.url}/webhooks/sandbox`;
      const sending = request(url, { method: 'POST' }, (response) => {
        response.resume();
        resolve(response.statusCode);
        sending.destroy();
      });
      sending.once('error', reject);
      sending.write(JSON.stringify(large()));
    });
    expect(status).toBe(413);
  });
});

describe('the bridge', () => {
  it.each([
    ['GET', '/webhooks/sandbox', 405],
    ['POST', '/healthz', 405],
    ['POST', '/webhooks', 404],
    ['POST', '/webhooks/sandboxes', 404],
    ['POST', '/sandflow-webhooks/sandbox', 404],
    ['PUT', '/prefix/readyz', 405],
    ['GET', '/constructor', 404],
  ])('answers %s %s with %i', async (method, path, status) => {
    const response = await fetch(`${bridge.url}${path}`, { method });
    expect(response.status).toBe(status);
    if (status === 405) expect(response.headers.get('allow')).toMatch(/GET|POST/);
  });
});
