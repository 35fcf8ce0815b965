import { request } from 'node:http';
import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, inject, it } from 'vitest';
import { webhookPath } from '../../src/bridge/index.js';
import { checkBridge } from '../../src/cli/doctor/check-webhook.js';
import { deliveryHeadersFor } from '../../src/webhook/index.js';
import { connectClient, deliver, eventBody, newEventId, newSandboxId, secret, startBridge } from './bridge-harness.js';

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

  it('but accepts a signed one with headers of another family, and tells of it in the log and when asked', async () => {
    const lines: string[] = [];
    await bridge.close();
    bridge = await startBridge(temporal.client, { log: (message) => lines.push(message) });
    const { id: deliveryId, ...event } = eventBody();
    const rawBody = JSON.stringify({ id: deliveryId, ...event });
    const timestamp = nowSeconds();
    const own = deliveryHeadersFor({ secret, deliveryId, timestamp, rawBody, event: 'sandbox.ready' });
    const headers = Object.fromEntries(
      Object.entries(own).map(([name, value]) => [name.replace('x-svc-', 'x-box-'), value]),
    );
    for (const _ of [1, 2]) {
      expect((await fetch(bridge.url + webhookPath, { method: 'POST', headers, body: rawBody })).status).toBe(200);
    }
    expect(lines).toEqual([expect.stringContaining('SANDBOX_API_HEADER_PREFIX=x-box-')]);
    expect(await checkBridge(bridge.url)).toMatchObject({
      status: 'warning',
      message: expect.stringContaining('x-box-'),
      mend: expect.stringContaining('SANDBOX_API_HEADER_PREFIX=x-box-'),
    });
    const sandboxService = { apiUrl: '', headerPrefix: 'x-box-' };
    const config = { sandboxService, webhookSecrets: [secret], webhookSecretFile: '/none' };
    expect(await checkBridge(bridge.url, config)).toMatchObject({ status: 'ok' });
  });

  it('and tells of a secret that became wrong: in the log, in the metrics, and when asked, until it is right again', async () => {
    const lines: string[] = [];
    await bridge.close();
    bridge = await startBridge(temporal.client, { log: (message) => lines.push(message) });
    const ready = async () => (await fetch(`${bridge.url}/readyz`)).text();
    expect(await ready()).toBe('ready\n');
    for (const _ of [1, 2]) await deliver(bridge.url, eventBody(), { secret: 'whsec_other' });
    expect(lines).toEqual([expect.stringMatching(/another secret.*connect` with `--rotate.*webhooks rotate/)]);
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

describe('the bridge tells of what it refuses, once', () => {
  const lines: string[] = [];
  const fields: unknown[] = [];
  beforeEach(async () => {
    lines.length = 0;
    fields.length = 0;
    await bridge.close();
    const log = (message: string, known?: unknown) => void [lines.push(message), fields.push(known)];
    bridge = await startBridge(temporal.client, { log });
  });
  const ready = async () => (await fetch(`${bridge.url}/readyz`)).text();
  const refused = (result: string) => bridge.metric('sandflow_bridge_deliveries_total', `{result="${result}"}`);

  it.each([
    ['400 s old', () => nowSeconds() - 400, 401],
    ['400 s in the future', () => nowSeconds() + 400, -399],
    ['of 1970', () => 0, undefined],
  ])(
    'a signed timestamp that is %s, in the log and in /readyz, until a delivery is accepted',
    async (_, timestamp, skew) => {
      for (const _ of [1, 2]) await deliver(bridge.url, eventBody(), { timestamp: timestamp() });
      expect(lines).toEqual([expect.stringMatching(/clock of the bridge differ by more than 300 s.*NTP/)]);
      const told = (fields[0] as { readonly skewSeconds: number }).skewSeconds;
      if (skew !== undefined) expect(Math.abs(told - skew)).toBeLessThan(60);
      expect(await ready()).toBe('ready\nrefused timestamps: 2\n');
      await deliver(bridge.url, eventBody());
      expect(await ready()).toBe('ready\n');
      await deliver(bridge.url, eventBody(), { timestamp: timestamp() });
      expect(lines).toHaveLength(2);
    },
  );

  /** What the bridge answers to these bytes. */
  const raw = (bytes: Buffer | string): Promise<string> =>
    new Promise((resolve, reject) => {
      const socket = connect(bridge.port, '127.0.0.1', () => socket.write(bytes));
      let answer = '';
      socket.on('data', (data) => {
        answer += data;
      });
      socket.once('close', () => resolve(answer));
      socket.once('error', reject);
    });
  const post = 'POST /webhooks/sandbox HTTP/1.1\r\nHost: b\r\nContent-Length: 2\r\n';
  const chunked = 'POST /webhooks/sandbox HTTP/1.1\r\nHost: b\r\nTransfer-Encoding: chunked\r\n\r\n';

  it.each([
    ['431', 'large headers', 'headers_too_large', `${post}Cookie: ${'x'.repeat(17_000)}\r\n\r\n{}`],
    ['400', 'the PROXY protocol', 'bad_request', `PROXY TCP4 10.0.0.1 10.0.0.2 1 2\r\n${post}\r\n{}`],
    ['400', 'its binary form', 'bad_request', `\r\n\r\n\0\r\nQUIT\n\x21\x11\0\x0c`],
    ['400', 'TLS', 'bad_request', Buffer.from('1603010200010001fc0303', 'hex')],
    ['400', 'HTTP/2', 'bad_request', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n'],
    ['400', 'two lengths', 'bad_request', `${post}Content-Length: 3\r\n\r\n{}`],
    ['400', 'a broken header', 'bad_request', `${post}a b: c\r\n\r\n{}`],
    ['413', 'large chunk extensions', 'bad_request', `${chunked}2;${'x'.repeat(17_000)}\r\n{}\r\n0\r\n\r\n`],
  ])('%s: %s, in the log and the metrics', async (status, _, result, bytes) => {
    const before = await refused(result);
    expect(await raw(bytes)).toContain(`HTTP/1.1 ${status} `);
    expect(await refused(result)).toBe(before + 1);
    const told = result === 'bad_request' ? /no request of HTTP\/1.1.*PROXY protocol/ : /larger than 16 KiB/;
    expect(lines).toEqual([expect.stringMatching(told)]);
    await raw(bytes);
    expect(lines).toHaveLength(1);
    expect(await ready()).toBe('ready\n');
  });

  it('nothing of a peer that goes away', async () => {
    const socket = connect(bridge.port, '127.0.0.1', () => socket.resetAndDestroy());
    await new Promise((resolve) => socket.once('close', resolve));
    await ready();
    expect(lines).toEqual([]);
  });

  it('a malformed header of a signature, but not a request without one, which doctor sends too', async () => {
    const send = (headers: Record<string, string>) =>
      fetch(`${bridge.url}/webhooks/sandbox`, { method: 'POST', headers, body: '{}' });
    expect((await send({})).status).toBe(401);
    expect(lines).toEqual([]);
    const headers = deliveryHeadersFor({
      ...{ secret, deliveryId: newEventId(), timestamp: nowSeconds(), rawBody: '{}', event: 'x' },
    });
    expect((await send({ ...headers, 'x-svc-timestamp': String(Date.now()) })).status).toBe(401);
    expect((await send({ ...headers, 'x-svc-signature': 'v1=0' })).status).toBe(401);
    expect(lines).toEqual([expect.stringMatching(/malformed, or there twice with different values/)]);
  });
});

describe('the bridge accepts', () => {
  it('a header that a proxy has doubled', async () => {
    const body = JSON.stringify(eventBody());
    const headers = deliveryHeadersFor({
      ...{ secret, deliveryId: JSON.parse(body).id, timestamp: nowSeconds(), rawBody: body, event: 'sandbox.ready' },
    });
    const doubled = Object.entries(headers).flatMap(([name, value]) => [name, value, name, value]);
    const answer = await new Promise((resolve, reject) => {
      const sending = request(`${bridge.url}/webhooks/sandbox`, {
        method: 'POST',
        headers: [...doubled, 'host', 'b', 'content-length', String(body.length)],
      });
      sending.once('response', (response) => {
        response.resume();
        resolve(response.statusCode);
      });
      sending.once('error', reject);
      sending.end(body);
    });
    expect(answer).toBe(200);
  });
});
