import { request } from 'node:http';
import { expect, test } from 'vitest';
import { apiKey, startService } from './service-under-test.js';

test('every error is the whole envelope, with a request id that the header repeats', async () => {
  const under = await startService();
  const { status, headers, body } = await under.call('GET', '/sandboxes/bx_22222222');
  expect(status).toBe(404);
  expect(body).toEqual({
    ok: false,
    type: 'sandbox.error',
    status: 404,
    code: 'sandbox_not_found',
    message: expect.any(String),
    error: { code: 'sandbox_not_found', message: body.message, status: 404 },
    requestId: expect.stringMatching(/^req_[0-9a-f]+$/),
  });
  expect(headers.get('x-request-id')).toBe(body.requestId);
});

test.each([
  ['no header', {}],
  ['another key', { authorization: 'Bearer somebody-else' }],
  ['another scheme', { authorization: `Basic ${apiKey}` }],
  ['a key that begins like it', { authorization: `Bearer ${apiKey}x` }],
])('%s is unauthorized, on every path', async (_title, headers) => {
  const under = await startService();
  for (const url of [`${under.service.url}/me`, `${under.service.url}/nothing`, `${under.service.adminUrl}/books`]) {
    const response = await fetch(url, { headers });
    expect(response.status).toBe(401);
    const text = await response.text();
    expect(JSON.parse(text)).toMatchObject({ ok: false, code: 'unauthorized' });
    expect(text).not.toContain(apiKey);
  }
});

test('unknown routes, and methods that a path does not have, are not found', async () => {
  const under = await startService();
  for (const [method, path] of [
    ['GET', '/nothing'],
    ['PUT', '/me'],
    ['GET', '/sandboxes/not-an-id'],
    ['GET', '/webhooks/wh_000000000000000000000000'],
    ['GET', '/deletion-operations/del_00'],
  ] as const) {
    const { status, body } = await under.call(method, path);
    expect(status).toBe(404);
    expect(['not_found', 'sandbox_not_found']).toContain(body.code);
  }
});

test.each([
  ['{"name":', 'invalid_json'],
  ['[]', 'invalid_request'],
  ['"text"', 'invalid_request'],
  ['null', 'invalid_request'],
  ['{"name":7}', 'invalid_name'],
  ['{"name":""}', 'invalid_name'],
  ['{"name":"a\\u0007b"}', 'invalid_name'],
  [`{"name":"${'n'.repeat(101)}"}`, 'invalid_name'],
  ['{"ttlSeconds":"60"}', 'invalid_request'],
  ['{"ttlSeconds":-1}', 'invalid_request'],
  ['{"type":"huge"}', 'invalid_request'],
  ['{"snapshots":1}', 'invalid_request'],
])('create refuses the body %s', async (rawBody, code) => {
  const under = await startService();
  expect(await under.call('POST', '/sandboxes', { rawBody })).toMatchObject({ status: 400, body: { code } });
  expect(under.service.books.sandboxes()).toEqual([]);
});

test('unknown fields are ignored and a create without a body is taken', async () => {
  const under = await startService();
  expect((await under.call('POST', '/sandboxes', { body: { colour: 'red', __proto__x: 1 } })).status).toBe(202);
  expect((await under.call('POST', '/sandboxes')).status).toBe(202);
});

test('a PATCH that changes nothing is refused', async () => {
  const under = await startService();
  const id = await under.ready();
  const refused = await under.call('PATCH', `/sandboxes/${id}`, { body: { colour: 'red' } });
  expect(refused).toMatchObject({ status: 400, body: { code: 'no_changes' } });
});

test('a body that is too large is refused', async () => {
  const under = await startService();
  const rawBody = JSON.stringify({ name: 'n'.repeat(5 * 1024 * 1024) });
  expect(await under.call('POST', '/sandboxes', { rawBody })).toMatchObject({
    status: 413,
    body: { code: 'too_large' },
  });
});

test('a body that comes too slowly is given up', async () => {
  const under = await startService({ timings: { requestTimeoutMs: 150 } });
  const { port } = new URL(under.service.url);
  const status = await new Promise<number | undefined>((resolve, reject) => {
    const slow = request(
      {
        host: '127.0.0.1',
        port,
        path: '/v1/sandboxes',
        method: 'POST',
        headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json', 'content-length': '100' },
      },
      (response) => {
        response.resume();
        resolve(response.statusCode);
      },
    );
    slow.on('error', reject);
    slow.write('{"name":');
  });
  expect(status).toBe(408);
  expect(under.service.books.sandboxes()).toEqual([]);
});

test('S14: the limits answer 429 with their own codes, and only the short one with Retry-After', async () => {
  const daily = await startService({ limits: { sandboxesPerDay: 1 } });
  await daily.create();
  const overDay = await daily.call('POST', '/sandboxes', { body: {} });
  expect(overDay).toMatchObject({ status: 429, body: { code: 'daily_limit_reached' } });
  expect(overDay.headers.get('retry-after')).toBeNull();

  const active = await startService({ limits: { activeSandboxes: 1 } });
  const id = await active.ready();
  expect(await active.call('POST', '/sandboxes')).toMatchObject({ status: 429, body: { code: 'limit_reached' } });
  await active.archive(id);
  expect((await active.call('POST', '/sandboxes')).status).toBe(202);

  const rate = await startService({ limits: { requestsPerSecond: 5 } });
  const answers = await Promise.all(Array.from({ length: 30 }, () => rate.call('GET', '/me')));
  const refused = answers.filter(({ status }) => status === 429);
  expect(refused.length).toBeGreaterThan(0);
  expect(refused[0]?.body.code).toBe('rate_limited');
  expect(refused[0]?.headers.get('retry-after')).toBe('1');
});
