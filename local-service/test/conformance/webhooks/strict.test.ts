import { expect } from 'vitest';
import { register, startReceiver } from '../../service/webhooks/receiver.js';
import { rule } from '../rule.js';
import { startLocalTarget } from '../target/index.js';

const events = ['sandbox.ready'];
const hook = (url: string) => ({ body: { name: 'x', url, events } });
const refusal = { status: 400, body: { code: 'invalid_url' } };

rule(
  ['trap.S9', 'delivery.public-addresses-only'],
  'strict mode refuses a name with an address that is not public, at creation and at an edit',
  async () => {
    const addresses: Record<string, readonly string[]> = {
      'public.example.com': ['1.1.1.1', '2606:4700::1111'],
      'private.example.com': ['10.0.0.8'],
      'mapped.example.com': ['::ffff:169.254.169.254'],
      'both.example.com': ['1.1.1.1', 'fd00::1'],
    };
    const strict = await startLocalTarget({
      strictWebhookUrls: true,
      resolveWebhookHost: async (name) => addresses[name] ?? Promise.reject(new Error('ENOTFOUND')),
    });
    const made = await strict.call('POST', '/webhooks', hook('https://public.example.com/'));
    expect(made.status).toBe(201);
    for (const name of ['private', 'mapped', 'both']) {
      const url = `https://${name}.example.com/`;
      expect(await strict.call('POST', '/webhooks', hook(url)), name).toMatchObject(refusal);
      const path = `/webhooks/${made.body.webhook.id}`;
      expect(await strict.call('PATCH', path, { body: { url } }), name).toMatchObject(refusal);
    }
    expect((await strict.call('POST', '/webhooks', hook('https://not-yet.example.com/'))).status).toBe(201);
    expect((await strict.call('GET', '/webhooks')).body.webhooks).toHaveLength(2);
  },
  { needs: ['local'] },
);

rule(
  ['trap.S9', 'delivery.public-addresses-only', 'delivery.retried-on-connection'],
  'the address is checked again at each connection, so a name that changes its address reaches nobody',
  async () => {
    let address = '1.1.1.1';
    const asked: string[] = [];
    const strict = await startLocalTarget({
      strictWebhookUrls: true,
      resolveWebhookHost: async (name) => {
        asked.push(name);
        return [address];
      },
    });
    await strict.call('POST', '/webhooks', hook('https://rebound.example.com/'));
    address = '127.0.0.1';
    const id = await strict.ready();
    const attempts = () => strict.service.books.deliveries({ sandboxId: id });
    await expect.poll(() => attempts().length).toBeGreaterThan(1);
    for (const { status, error } of attempts()) {
      expect(status).toBeNull();
      expect(error).toContain('rebound.example.com resolves to an address that is not public');
    }
    // Once at the registration, and again at every attempt.
    expect(asked.length).toBeGreaterThan(attempts().length);
  },
  { needs: ['clock', 'local'] },
);

rule(
  ['trap.S9', 'delivery.https-443-only', 'delivery.public-addresses-only'],
  'an earlier webhook is not delivered to this machine once the service is strict',
  async () => {
    const relaxed = await startLocalTarget();
    const receiver = await startReceiver();
    await register(relaxed, receiver.url, events);
    await relaxed.ready();
    await receiver.waitFor(1);
    await relaxed.service.close();
    const strict = await startLocalTarget({ strictWebhookUrls: true, directory: relaxed.directory });
    const id = await strict.ready();
    const attempts = () => strict.service.books.deliveries({ sandboxId: id });
    await expect.poll(() => attempts().length).toBeGreaterThan(0);
    expect(attempts()[0]).toMatchObject({ status: null, error: expect.stringContaining('https on port 443') });
    expect(receiver.received).toHaveLength(1);
  },
  { needs: ['clock', 'local'] },
);
