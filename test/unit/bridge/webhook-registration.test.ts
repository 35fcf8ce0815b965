import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { ensureWebhook, rotateWebhook } from '../../../src/bridge/index.js';
import {
  createClosing,
  errorBody,
  rejectionOf,
  type SeenRequest,
  sendJson,
  startRefusingPort,
  startStand,
} from '../client/http-harness.js';

const closing = createClosing();
const url = 'https://bridge.example/webhooks/sandbox';
const four = ['sandbox.ready', 'sandbox.hydrated', 'sandbox.error', 'sandbox.archived'];
let directory: string;
let secretFile: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sandflow-webhook-'));
  secretFile = join(directory, 'state', 'webhook-secrets');
});
afterEach(async () => {
  await closing.closeAll();
  await rm(directory, { recursive: true, force: true });
});

type Fault = 'lose the answer' | 'never arrive' | '503';
type Hook = { id: string; url: string; events: string[]; name: string };

/**
 * The webhook endpoints of the service, with faults for the next writes. The first reads are answered once so many of
 * them have come.
 */
async function startService(
  webhooks: Hook[] = [],
  faults: Partial<Record<'create' | 'rotate', Fault[]>> = {},
  firstReads = 1,
) {
  let secrets = 0;
  const rotatedAtMs: number[] = [];
  let reads = 0;
  const waiting: (() => void)[] = [];
  const answer = ({ method, url: path, body }: SeenRequest, response: ServerResponse) => {
    const write = path.endsWith('/rotate') ? 'rotate' : method === 'POST' ? 'create' : undefined;
    const fault = write && faults[write]?.shift();
    if (write === 'rotate') rotatedAtMs.push(performance.now());
    if (fault === '503') return sendJson(response, 503, errorBody(503, 'http_500'));
    if (fault === 'never arrive') return response.destroy();
    const given = body ? JSON.parse(body) : {};
    const webhook = webhooks.find(({ id }) => path.includes(id)) ?? { id: `wh_${webhooks.length + 1}`, ...given };
    if (write === 'create') webhooks.push(webhook);
    if (method === 'DELETE') webhooks.splice(webhooks.indexOf(webhook), 1);
    if (method === 'PATCH') Object.assign(webhook, given);
    const secret = write && `whsec_${++secrets}`;
    if (fault === 'lose the answer') return response.destroy();
    if (method === 'GET') {
      reads += 1;
      waiting.push(() => sendJson(response, 200, { ok: true, webhooks }));
      if (reads >= firstReads) for (const send of waiting.splice(0)) send();
      return;
    }
    sendJson(response, 200, { ok: true, webhook, secret });
  };
  const stand = closing.keep(await startStand(answer));
  const writes = () => stand.seen.filter(({ method }) => method !== 'GET').map((one) => `${one.method} ${one.url}`);
  return { client: closing.client(stand), webhooks, writes, rotatedAtMs };
}

const options = () => ({ url, name: 'bridge', secretFile, retryDelaysMs: [1, 1], lateForMs: 1 });
const fileText = () => readFile(secretFile, 'utf8');

describe('ensureWebhook', () => {
  it('registers all four events and stores the secret only in a file of mode 600', async () => {
    const service = await startService();
    const result = await ensureWebhook(service.client, options());
    expect(result).toEqual({ webhookId: 'wh_1', action: 'created' });
    expect(service.webhooks).toMatchObject([{ url, name: 'bridge', events: four }]);
    expect(await fileText()).toBe('whsec_1\n');
    expect((await stat(secretFile)).mode & 0o777).toBe(0o600);
    expect(await readdir(join(directory, 'state'))).toEqual(['webhook-secrets']);
  });

  it('creates one webhook if called twice at once, and both calls get its secret', async () => {
    const service = await startService([], {}, 2);
    const results = await Promise.all([1, 2].map(() => ensureWebhook(service.client, options())));
    expect(service.webhooks).toHaveLength(1);
    expect(new Set(results.map(({ webhookId }) => webhookId))).toEqual(new Set([service.webhooks[0]?.id]));
    expect(service.writes().filter((line) => line === 'POST /v1/webhooks')).toHaveLength(2);
    expect(await fileText()).toBe('whsec_1\n');
  });

  it('waits for the secret of a webhook that another process of the home has just created', async () => {
    const service = await startService();
    const first = ensureWebhook(service.client, { ...options(), retryDelaysMs: [300, 1] });
    await expect.poll(() => service.webhooks.length).toBe(1);
    expect(await ensureWebhook(service.client, options())).toEqual({ webhookId: 'wh_1', action: 'adopted' });
    expect(await first).toEqual({ webhookId: 'wh_1', action: 'created' });
  });

  it('adopts an existing webhook and changes nothing', async () => {
    const service = await startService();
    await ensureWebhook(service.client, options());
    expect(await ensureWebhook(service.client, options())).toEqual({ webhookId: 'wh_1', action: 'adopted' });
    expect(service.writes()).toHaveLength(1);
  });

  it('adds missing events', async () => {
    const service = await startService([{ id: 'wh_7', url, events: ['sandbox.ready'], name: 'x' }]);
    const result = await ensureWebhook(service.client, { ...options(), currentSecrets: ['whsec_known'] });
    expect(result).toEqual({ webhookId: 'wh_7', action: 'updated' });
    expect(service.webhooks[0]?.events).toEqual(four);
  });

  it('refuses a webhook with an unknown secret, and says how to continue', async () => {
    const service = await startService([
      { id: 'wh_7', url: 'HTTPS://Bridge.Example:443/webhooks/sandbox', events: four, name: 'x' },
    ]);
    const error = await rejectionOf(ensureWebhook(service.client, options()));
    expect(error).toMatchObject({ code: 'webhook_secret_unknown', message: expect.stringMatching(/wh_7.*--rotate/s) });
    expect(service.writes()).toEqual([]);
  });

  it('S10: rotates on request and keeps only the previous secret as the second', async () => {
    const service = await startService();
    await ensureWebhook(service.client, options());
    for (const rotate of [true, true]) {
      expect(await ensureWebhook(service.client, { ...options(), rotate })).toMatchObject({ action: 'rotated' });
    }
    expect(await fileText()).toBe('whsec_3\nwhsec_2\n');
    expect((await stat(secretFile)).mode & 0o777).toBe(0o600);
  });

  it('refuses to choose between several webhooks for one address', async () => {
    const hook = { url, events: four, name: 'x' };
    const service = await startService([
      { id: 'wh_7', ...hook },
      { id: 'wh_8', ...hook },
    ]);
    await expect(ensureWebhook(service.client, options())).rejects.toMatchObject({
      code: 'webhook_duplicate',
      message: expect.stringContaining('wh_7, wh_8'),
    });
  });
});

describe('S3: a webhook create when the answer is lost', () => {
  it('finds the webhook by its URL and rotates its secret, without creating a second one', async () => {
    const service = await startService([], { create: ['lose the answer'] });
    const result = await ensureWebhook(service.client, options());
    expect(result).toEqual({ webhookId: 'wh_1', action: 'created' });
    expect(service.writes()).toEqual(['POST /v1/webhooks', 'POST /v1/webhooks/wh_1/rotate']);
    expect(await fileText()).toBe('whsec_2\n');
  });

  it('reports a webhook that is not in the list, and does not repeat the call', async () => {
    const service = await startService([], { create: ['never arrive'] });
    await expect(ensureWebhook(service.client, options())).rejects.toMatchObject({ code: 'connection_failed' });
    expect(service.writes()).toEqual(['POST /v1/webhooks']);
    await expect(stat(secretFile)).rejects.toMatchObject({ code: 'ENOENT' });
    expect(await readdir(join(directory, 'state'))).toEqual([]);
  });
});

describe('rotateWebhook', () => {
  it('repeats until it has read a secret, and stores the last one', async () => {
    const hook = { id: 'wh_7', url, events: four, name: 'x' };
    const service = await startService([hook], { rotate: ['lose the answer', '503'] });
    await rotateWebhook(service.client, 'wh_7', options());
    expect(service.writes()).toHaveLength(3);
    expect(await fileText()).toBe('whsec_2\n');
  });

  it('waits after a lost answer, but not after a call that was never sent, so that a late call cannot undo it', async () => {
    const hook = { id: 'wh_7', url, events: four, name: 'x' };
    const service = await startService([hook], { rotate: ['lose the answer'] });
    const lateForMs = 300;
    await rotateWebhook(service.client, 'wh_7', { ...options(), lateForMs });
    const [lost = 0, next = 0] = service.rotatedAtMs;
    expect(next - lost).toBeGreaterThanOrEqual(lateForMs);
    expect(await fileText()).toBe('whsec_2\n');
    const gone = closing.keep(await startRefusingPort());
    // Such a wait would outlast the test.
    const unsent = rotateWebhook(closing.client(gone), 'wh_7', { ...options(), lateForMs: 3_600_000 });
    await expect(unsent).rejects.toMatchObject({ code: 'connection_failed', requestSent: false });
  });

  it('replaces nothing if the secret cannot be stored', async () => {
    const service = await startService([{ id: 'wh_7', url, events: four, name: 'x' }]);
    await writeFile(join(directory, 'state'), 'a file where the directory should be');
    await expect(rotateWebhook(service.client, 'wh_7', options())).rejects.toMatchObject({
      code: 'secret_file_unwritable',
    });
    expect(service.writes()).toEqual([]);
  });
});
