import { expect, test } from 'vitest';
import { startService } from './service-under-test.js';

test('an error fault refuses a number of calls to one endpoint, with Retry-After, and is then used up', async () => {
  const under = await startService();
  await under.arm({
    kind: 'error',
    endpoint: 'getMe',
    status: 429,
    code: 'rate_limited',
    retryAfterSeconds: 2,
    times: 2,
  });
  expect((await under.call('GET', '/sandboxes')).status).toBe(200);
  for (let index = 0; index < 2; index++) {
    const refused = await under.call('GET', '/me');
    expect(refused).toMatchObject({ status: 429, body: { ok: false, code: 'rate_limited', error: { status: 429 } } });
    expect(refused.headers.get('retry-after')).toBe('2');
  }
  expect((await under.call('GET', '/me')).status).toBe(200);
  expect((await under.call('GET', '/faults', { admin: true })).body.faults).toEqual([]);
});

test('an error fault can be the HTML page of a proxy', async () => {
  const under = await startService();
  await under.arm({ kind: 'error', endpoint: '*', status: 502, html: true });
  const page = await under.call('GET', '/me');
  expect(page.status).toBe(502);
  expect(page.headers.get('content-type')).toContain('text/html');
  expect(page.text).toContain('<html>');
});

test('close ends the connection before anything is accepted', async () => {
  const under = await startService();
  await under.arm({ kind: 'close', endpoint: 'createSandbox' });
  await expect(under.call('POST', '/sandboxes', { body: {} })).rejects.toThrow();
  expect(under.service.books.sandboxes()).toEqual([]);
  expect(under.service.books.calls()).toMatchObject([
    { endpoint: 'createSandbox', outcome: 'closed', accepted: false, status: null },
  ]);
});

test('drop_response accepts the call and sends no answer', async () => {
  const under = await startService();
  const id = await under.ready();
  await under.arm({ kind: 'drop_response', endpoint: 'sendPrompt' });
  await expect(under.prompt(id, 'once')).rejects.toThrow();
  expect(under.service.books.prompts({ sandboxId: id })).toMatchObject([{ text: 'once' }]);
  const calls = under.service.books.calls({ sandboxId: id }).filter(({ endpoint }) => endpoint === 'sendPrompt');
  expect(calls).toMatchObject([{ outcome: 'dropped', accepted: true, status: null }]);
});

test('S3: accept_late accepts the call after its caller has disconnected', async () => {
  const under = await startService();
  const id = await under.ready();
  const accepted = () => under.service.books.prompts({ sandboxId: id }).length;
  let [sent, acceptedBefore, ms] = [0, 0, 50];
  // If a busy machine sees the end of the connection too late, the next call is accepted later.
  do {
    ms *= 2;
    await under.arm({ kind: 'accept_late', endpoint: 'sendPrompt', ms });
    sent += 1;
    await expect(under.prompt(id, 'late')).rejects.toThrow();
    acceptedBefore = accepted();
    await expect.poll(accepted).toBe(sent);
  } while (acceptedBefore === sent);
  expect(acceptedBefore).toBe(sent - 1);
  const calls = under.service.books.calls({ sandboxId: id }).filter(({ endpoint }) => endpoint === 'sendPrompt');
  expect(calls).toMatchObject(Array.from({ length: sent }, () => ({ outcome: 'late', accepted: true })));
});

test('latency delays an answer', async () => {
  const under = await startService();
  await under.arm({ kind: 'latency', endpoint: 'getMe', ms: 120 });
  const begun = performance.now();
  expect((await under.call('GET', '/me')).status).toBe(200);
  expect(performance.now() - begun).toBeGreaterThanOrEqual(115);
});

test('a fault with a probability applies only sometimes, and counts only then', async () => {
  const under = await startService();
  await under.arm({ kind: 'error', endpoint: 'getMe', status: 500, times: 10, probability: 0.5 });
  let refused = 0;
  for (let index = 0; index < 200; index++) if ((await under.call('GET', '/me')).status === 500) refused++;
  expect(refused).toBe(10);
});

test('events_lag hides recent events from the next reads', async () => {
  const under = await startService();
  const id = await under.ready();
  const { body } = await under.prompt(id, 'hello');
  await under.promptEnd(id, body.promptId);
  await under.arm({ kind: 'events_lag', ms: 60_000, times: 1 });
  expect((await under.call('GET', `/sandboxes/${id}/events`)).body.events).toEqual([]);
  expect((await under.call('GET', `/sandboxes/${id}/events`)).body.events).not.toEqual([]);
});

test('faults are refused unless the service was started with them', async () => {
  const under = await startService({ faultsEnabled: false });
  expect(await under.arm({ kind: 'stop_fails' })).toMatchObject({ status: 403, body: { code: 'forbidden' } });
});

test('an unknown fault is refused, and all faults can be removed', async () => {
  const under = await startService();
  for (const wrong of [{ kind: 'meteor' }, { kind: 'latency', endpoint: 'nowhere', ms: 1 }, { kind: 'close' }, [], 7]) {
    const refused = await under.call('POST', '/faults', { body: wrong, admin: true });
    expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_request' } });
  }
  await under.arm({ kind: 'error', endpoint: '*', status: 500, times: 1_000 });
  expect((await under.call('DELETE', '/faults', { admin: true })).status).toBe(200);
  expect((await under.call('GET', '/me')).status).toBe(200);
});
