import { mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { Agent, createServer, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { createBridge, createSecretSource } from '../../src/bridge/index.js';
import { connectClient, deliver, eventBody, secret, startBridge } from './bridge-harness.js';

let temporal: Awaited<ReturnType<typeof connectClient>>;
let directory: string;
let bridge: { close(): Promise<void> } | undefined;
beforeAll(async () => {
  temporal = await connectClient(inject('temporalAddress'));
  directory = await mkdtemp(join(tmpdir(), 'sandflow-bridge-'));
});
afterEach(() => bridge?.close());
afterAll(async () => {
  await temporal.close();
  await rm(directory, { recursive: true, force: true });
});

describe('the secrets of the bridge', () => {
  it('are required: without any it does not start and says how to get one', async () => {
    const made = createBridge({ temporalClient: temporal.client, secrets: () => [] });
    await expect(made.listen({ port: 0 })).rejects.toMatchObject({
      code: 'no_webhook_secret',
      message: expect.stringContaining('sandflow webhooks connect'),
    });
    await made.close();
  });

  it('S10: are read again from their file, so both are valid during a rotation without a restart', async () => {
    const file = join(directory, 'rotating');
    await writeFile(file, 'whsec_old\n');
    const started = await startBridge(temporal.client, { secrets: createSecretSource({ fixed: [], file }) });
    bridge = started;
    const send = async (key: string) => (await deliver(started.url, eventBody(), { secret: key })).status;
    expect([await send('whsec_old'), await send('whsec_new')]).toEqual([200, 401]);
    await writeFile(`${file}.next`, 'whsec_new\nwhsec_old\n');
    await rename(`${file}.next`, file);
    expect([await send('whsec_old'), await send('whsec_new')]).toEqual([200, 200]);
    await writeFile(file, 'whsec_new\n');
    expect([await send('whsec_old'), await send('whsec_new')]).toEqual([401, 200]);
    await rm(file);
    expect(await send('whsec_new')).toBe(503);
  });
});

describe('a bridge', () => {
  it('is ready while Temporal answers, and serves its metrics', async () => {
    const started = await startBridge(temporal.client);
    bridge = started;
    expect((await fetch(`${started.url}/readyz`)).status).toBe(200);
    await deliver(started.url, eventBody());
    expect((await fetch(`${started.url}/metrics`)).status, 'not beside the webhook').toBe(404);
    expect((await fetch(started.metricsUrl.replace('/metrics', '/webhooks/sandbox'))).status).toBe(404);
    const metrics = await (await fetch(started.metricsUrl)).text();
    expect(metrics).toContain('sandflow_bridge_deliveries_total{result="accepted"} 1');
    expect(metrics).toContain('sandflow_bridge_clock_skew_seconds_count 1');
    expect(metrics).toContain('sandflow_bridge_delivery_seconds_count 1');
    started.bridge.reset();
    expect(await started.metric('sandflow_bridge_deliveries_total', '{result="accepted"}')).toBe(0);
  });

  it('receives deliveries and answers monitors below a prefix, and with a slash at the end', async () => {
    const started = await startBridge(temporal.client);
    bridge = started;
    for (const path of ['/webhooks/sandbox/', '/sandflow/webhooks/sandbox', '/a/b/webhooks/sandbox//?from=balancer']) {
      expect(await deliver(started.url, eventBody(), { path })).toMatchObject({ status: 200, text: 'accepted' });
    }
    expect(await (await fetch(`${started.url}/sandflow/readyz`)).text()).toBe('ready\n');
    expect(await (await fetch(`${started.url}/sandflow/healthz/`)).text()).toBe('ok\n');
  });

  it('answers HEAD as GET, without the body', async () => {
    const started = await startBridge(temporal.client);
    bridge = started;
    for (const url of [`${started.url}/healthz`, `${started.url}/readyz`, started.metricsUrl]) {
      const [asked, read] = [await fetch(url, { method: 'HEAD' }), await fetch(url)];
      expect(asked.status).toBe(200);
      expect(asked.headers.get('content-type')).toBe(read.headers.get('content-type'));
      expect([await asked.text(), (await read.text()).length > 0]).toEqual(['', true]);
    }
  });

  it('keeps an idle connection longer than any balancer does', async () => {
    const started = await startBridge(temporal.client);
    bridge = started;
    const { headers } = await fetch(`${started.url}/healthz`);
    expect(headers.get('keep-alive')).toBe('timeout=620');
  });

  it('serves its metrics only at a configured address', async () => {
    const made = createBridge({ temporalClient: temporal.client, secrets: () => [secret] });
    bridge = made;
    expect(await made.listen({ port: 0 })).not.toHaveProperty('metricsUrl');
  });

  it('serves nothing if the metrics port is in use', async () => {
    const first = await startBridge(temporal.client);
    bridge = first;
    const second = createBridge({ temporalClient: temporal.client, secrets: () => [secret] });
    await expect(second.listen({ port: 0, metrics: { port: first.port } })).rejects.toMatchObject({
      code: 'EADDRINUSE',
    });
    await second.close();
  });

  it('can be mounted in another server', async () => {
    const made = createBridge({ temporalClient: temporal.client, secrets: () => [secret] });
    const server = createServer(made.handler);
    bridge = {
      close: async () => {
        await made.close();
        await new Promise((resolve) => server.close(resolve));
      },
    };
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    expect(await deliver(url, eventBody())).toMatchObject({ status: 200 });
  });

  it('reports that its port is in use', async () => {
    const first = await startBridge(temporal.client);
    bridge = first;
    const second = createBridge({ temporalClient: temporal.client, secrets: () => [secret] });
    await expect(second.listen({ port: first.port })).rejects.toMatchObject({ code: 'EADDRINUSE' });
    await second.close();
  });
});

describe('closing a bridge', () => {
  it('finishes requests in progress, accepts no new ones and closes idle connections', async () => {
    let release = () => {};
    const held = new Promise<string[]>((resolve) => {
      release = () => resolve([secret]);
    });
    let asked = 0;
    const secrets = () => (++asked === 1 ? [secret] : held);
    const started = await startBridge(temporal.client, { secrets });
    const agent = new Agent({ keepAlive: true });
    await new Promise<void>((resolve, reject) => {
      const idle = request(`${started.url}/healthz`, { agent }, (response) => response.resume().once('end', resolve));
      idle.once('error', reject).end();
    });
    const delivery = deliver(started.url, eventBody());
    await expect.poll(() => asked).toBe(2);
    const closed = started.close();
    await expect(fetch(`${started.url}/healthz`)).rejects.toThrow();
    release();
    expect(await delivery).toMatchObject({ status: 200 });
    await closed;
    agent.destroy();
  });

  it('first is not ready any more, and accepts deliveries until the balancers have turned away', async () => {
    const started = await startBridge(temporal.client);
    const status = async (path: string) => (await fetch(`${started.url}${path}`)).status;
    expect(await status('/readyz')).toBe(200);
    const closed = started.bridge.close({ drainMs: 3_600_000 });
    const ready = await fetch(`${started.url}/readyz`);
    expect([ready.status, await ready.text()]).toEqual([503, 'closing\n']);
    expect(await status('/healthz')).toBe(200);
    for (const _ of ['first', 'second']) {
      expect(await deliver(started.url, eventBody())).toMatchObject({ status: 200, connection: 'close' });
    }
    await started.bridge.close();
    await closed;
    await expect(status('/healthz')).rejects.toThrow();
  });

  it('waits no longer than the grace period for a slow sender', async () => {
    const started = await startBridge(temporal.client, { closeGraceMs: 50 });
    const headers = { 'content-length': '100' };
    const slow = request(`${started.url}/webhooks/sandbox`, { method: 'POST', headers });
    const ended = new Promise((resolve) => slow.once('error', resolve));
    await new Promise<void>((resolve) => slow.write('{', () => resolve()));
    await started.close();
    expect(await ended).toBeInstanceOf(Error);
  });
});
