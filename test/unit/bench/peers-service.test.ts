import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { listenService } from '../../../bench/peers/service/listen.js';
import { createSandboxClient, type SandboxClient } from '../../../src/client/index.js';
import { parseSandboxWebhookEvent } from '../../../src/contract/records/webhook-events.js';
import { verifyDelivery } from '../../../src/webhook/index.js';

const ends: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0).reverse()) await end();
});

async function start(): Promise<SandboxClient> {
  const service = await listenService({ bootMs: 5, promptMs: 5, archiveMs: 5, answerMs: 1 });
  ends.push(() => service.close());
  const client = createSandboxClient({ baseUrl: service.url, apiKey: 'key' });
  ends.push(() => client.close());
  return client;
}

async function until(isDone: () => Promise<boolean>): Promise<void> {
  while (!(await isDone()));
}

describe('the service of the bench of peers', () => {
  it('speaks the contract to the client of sandflow', async () => {
    const client = await start();
    const { sandbox } = await client.createSandbox({ name: 'one' }, { idempotencyKey: 'k' });
    const again = await client.createSandbox({ name: 'one' }, { idempotencyKey: 'k' });
    expect(again.sandbox.id).toBe(sandbox.id);
    await until(async () => (await client.getSandbox(sandbox.id)).sandbox.state === 'ready');
    const { promptId } = await client.sendPrompt(sandbox.id, { prompt: 'Work.' });
    const { events } = await client.listEvents(sandbox.id);
    expect(events[0]).toMatchObject({ type: 'prompt.queued', promptId, data: { prompt: 'Work.' } });
    await until(async () => (await client.getPrompt(sandbox.id, promptId ?? '')).prompt.status === 'completed');
    expect((await client.listAllSandboxes())[0]).toMatchObject({ id: sandbox.id, state: 'idle' });
    const { stop } = await client.stopSandbox(sandbox.id);
    await until(async () => (await client.getStop(sandbox.id, stop?.id ?? '')).stop.status === 'completed');
    expect((await client.getSandbox(sandbox.id)).sandbox).toMatchObject({ state: 'archived', snapshotAvailable: true });
    const fork = await client.forkSandbox(sandbox.id, { name: 'two' }, { idempotencyKey: 'f' });
    expect(fork).toMatchObject({ sourceSandboxId: sandbox.id, sandbox: { name: 'two' } });
  });

  it('signs its webhooks', async () => {
    const client = await start();
    let secret = '';
    const received = new Promise((resolve) => {
      const receiver = createServer(async (request, response) => {
        const rawBody = Buffer.concat(await request.toArray());
        response.end();
        const { headers } = request;
        const { ok } = verifyDelivery({ headers, rawBody, secrets: [secret], nowMs: Date.now() });
        resolve({ ok, event: parseSandboxWebhookEvent(JSON.parse(rawBody.toString())) });
      });
      receiver.listen(0, '127.0.0.1', async () => {
        const { port } = receiver.address() as AddressInfo;
        const events = ['sandbox.ready' as const];
        ({ secret } = await client.createWebhook({ name: 'w', url: `http://127.0.0.1:${port}/`, events }));
        await client.createSandbox({ name: 'one' });
      });
      ends.push(async () => receiver.close());
    });
    expect(await received).toMatchObject({ ok: true, event: { type: 'sandbox.ready', sandboxName: 'one' } });
  });
});
