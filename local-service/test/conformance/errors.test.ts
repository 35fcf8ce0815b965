import { request } from 'node:http';
import { expect } from 'vitest';
import { rule } from './rule.js';
import { startLocalTarget, useTarget } from './target/index.js';

const target = useTarget();

rule(
  [
    'errors.envelope',
    'errors.status-authoritative',
    'errors.type',
    'errors.nested',
    'errors.request-id',
    'errors.sandbox-not-found',
    'envelope.ok-false',
  ],
  'every error is the whole envelope, with the request id of its header',
  async () => {
    const { status, headers, body } = await target.call('GET', '/sandboxes/bx_22222222');
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
  },
);

const wrongKeys = (key: string): readonly (readonly [string, Readonly<Record<string, string>>])[] => [
  ['no header', {}],
  ['another key', { authorization: 'Bearer somebody-else' }],
  ['another scheme', { authorization: `Basic ${key}` }],
  ['a key that begins like it', { authorization: `Bearer ${key}x` }],
];

async function isUnauthorized(url: string, key: string): Promise<void> {
  for (const [which, headers] of wrongKeys(key)) {
    const response = await fetch(url, { headers });
    expect(response.status, which).toBe(401);
    const text = await response.text();
    expect(JSON.parse(text), which).toMatchObject({ ok: false, code: 'unauthorized' });
    expect(text).not.toContain(key);
  }
}

rule(
  [
    'auth.bearer',
    'auth.missing',
    'auth.invalid',
    'errors.unauthorized',
    'stops.get-unauthorized',
    'environments.put-unauthorized',
  ],
  'a missing, wrong or longer key, or another scheme, is unauthorized on every path',
  async () => {
    for (const path of [
      '/me',
      '/nothing',
      '/sandboxes',
      '/sandboxes/bx_22222222/stops/stop_00',
      '/environments/none',
    ]) {
      await isUnauthorized(`${target.url}${path}`, target.key);
    }
  },
);

rule(
  'auth.invalid',
  'the administration endpoints of the local service refuse other keys too',
  async () => {
    const local = await startLocalTarget();
    await isUnauthorized(`${local.service.adminUrl}/books`, local.key);
  },
  { needs: ['local'] },
);

rule(['errors.not-found', 'sandbox.path-id-pattern'], 'unknown routes and resources are not found', async () => {
  for (const [method, path] of [
    ['GET', '/nothing'],
    ['GET', '/sandboxes/not-an-id'],
    ['GET', '/webhooks/wh_000000000000000000000000'],
    ['GET', '/deletion-operations/del_00'],
  ] as const) {
    const { status, body } = await target.call(method, path);
    expect(status).toBe(404);
    expect(['not_found', 'sandbox_not_found']).toContain(body.code);
  }
});

const wrongBodies = [
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
] as const;

rule(
  ['errors.invalid-json', 'errors.invalid-name', 'sandbox.type-enum', 'create.flags'],
  'create refuses bodies that are not JSON or have fields of a wrong type, and creates nothing',
  async () => {
    const local = await startLocalTarget();
    for (const [rawBody, code] of wrongBodies) {
      expect(await local.call('POST', '/sandboxes', { rawBody }), rawBody).toMatchObject({
        status: 400,
        body: { code },
      });
    }
    expect(local.service.books.sandboxes()).toEqual([]);
  },
  { needs: ['local'] },
);

rule('create.response', 'unknown fields are ignored, and a create without a body is accepted', async () => {
  expect((await target.call('POST', '/sandboxes', { body: { colour: 'red', __proto__x: 1 } })).status).toBe(202);
  expect((await target.call('POST', '/sandboxes')).status).toBe(202);
});

rule('errors.no-changes', 'a PATCH that changes nothing is refused', async () => {
  const id = await target.ready();
  const refused = await target.call('PATCH', `/sandboxes/${id}`, { body: { colour: 'red' } });
  expect(refused).toMatchObject({ status: 400, body: { code: 'no_changes' } });
});

rule('errors.envelope', 'a body over the limit is refused', async () => {
  const rawBody = JSON.stringify({ name: 'n'.repeat(5 * 1024 * 1024) });
  expect(await target.call('POST', '/webhooks', { rawBody })).toMatchObject({
    status: 413,
    body: { code: 'too_large' },
  });
});

rule(
  'errors.envelope',
  'a slow body is abandoned',
  async () => {
    const local = await startLocalTarget({ timings: { requestTimeoutMs: 150 } });
    const { port } = new URL(local.service.url);
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const slow = request(
        {
          host: '127.0.0.1',
          port,
          path: '/v1/sandboxes',
          method: 'POST',
          headers: {
            authorization: `Bearer ${local.key}`,
            'content-type': 'application/json',
            'content-length': '100',
          },
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
    expect(local.service.books.sandboxes()).toEqual([]);
  },
  { needs: ['clock', 'local'] },
);

rule(
  ['trap.S14', 'limits.rate-limited', 'limits.daily-limit-reached', 'limits.limit-reached', 'limits.message'],
  'the limits answer 429 with their own codes, and only the short one has Retry-After',
  async () => {
    const daily = await startLocalTarget({ limits: { sandboxesPerDay: 1 } });
    daily.service.clock.hold();
    await daily.create();
    const overDay = await daily.call('POST', '/sandboxes', { body: {} });
    expect(overDay).toMatchObject({ status: 429, body: { code: 'daily_limit_reached' } });
    expect(overDay.headers.get('retry-after')).toBeNull();

    const active = await startLocalTarget({ limits: { activeSandboxes: 1 } });
    const id = await active.ready();
    expect(await active.call('POST', '/sandboxes')).toMatchObject({ status: 429, body: { code: 'limit_reached' } });
    await active.archive(id);
    expect((await active.call('POST', '/sandboxes')).status).toBe(202);

    const rate = await startLocalTarget({ limits: { requestsPerSecond: 5 } });
    rate.service.clock.hold();
    const answers = await Promise.all(Array.from({ length: 30 }, () => rate.call('GET', '/me')));
    const refused = answers.filter(({ status }) => status === 429);
    expect(refused.length).toBeGreaterThan(0);
    expect(refused[0]?.body.code).toBe('rate_limited');
    expect(refused[0]?.headers.get('retry-after')).toBe('1');
  },
  { needs: ['local'] },
);
