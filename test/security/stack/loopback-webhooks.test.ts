import { createServer } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { startService } from '../../../local-service/test/service/service-under-test.js';
import { register, startReceiver } from '../../../local-service/test/service/webhooks/receiver.js';

/** A server of this machine that expects no webhooks; records the method of each request. */
async function startBystander(): Promise<{ readonly url: string; readonly methods: string[] }> {
  const methods: string[] = [];
  const server = createServer((request, response) => {
    methods.push(request.method ?? '');
    response.end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  return { url: `http://127.0.0.1:${typeof address === 'object' && address ? address.port : 0}/order`, methods };
}

test('a webhook of the local service is sent to its registered address only, without redirects', async () => {
  const under = await startService();
  const bystander = await startBystander();
  const receiver = await startReceiver((response) => response.writeHead(307, { location: bystander.url }).end());
  await register(under, receiver.url, ['sandbox.ready']);
  await under.ready();
  // Applies to every attempt, not only to the first.
  await expect.poll(() => receiver.received.length).toBeGreaterThan(2);
  expect(bystander.methods).toEqual([]);
});

test('a client with the key can make the local service send a signed event to a port of this machine, and nothing else', async () => {
  const under = await startService();
  const bystander = await startBystander();
  await register(under, bystander.url, ['sandbox.ready']);
  await under.ready();
  await expect.poll(() => bystander.methods).toEqual(['POST']);
  for (const url of [
    'http://127.0.0.2:1/',
    'http://0.0.0.0:1/',
    'http://169.254.169.254/',
    'http://10.0.0.1/',
    'file:///etc/passwd',
  ]) {
    const refused = await under.call('POST', '/webhooks', { body: { name: 'a', url, events: ['sandbox.ready'] } });
    expect(refused, url).toMatchObject({ status: 400 });
  }
  const strict = await startService({ strictWebhookUrls: true });
  const body = { name: 'a', url: bystander.url, events: ['sandbox.ready'] };
  expect(await strict.call('POST', '/webhooks', { body })).toMatchObject({ status: 400 });
});
