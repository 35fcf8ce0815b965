import { expect, test } from 'vitest';
import { startService } from '../service-under-test.js';

test('an unsupported method is refused with the list of supported ones', async () => {
  const under = await startService();
  for (const [method, path, allow] of [
    ['PUT', '/me', 'GET, HEAD'],
    ['POST', '/sandboxes/bx_abcd2345', 'GET, PATCH, DELETE, HEAD'],
    ['GET', '/sandboxes/bx_abcd2345/stop', 'POST'],
    ['DELETE', '/api-keys/scoped', 'POST'],
  ] as const) {
    const { status, headers, body } = await under.call(method, path);
    expect({ status, code: body.code, allow: headers.get('allow') }).toEqual({
      status: 405,
      code: 'method_not_allowed',
      allow,
    });
  }
});

test('the OpenAPI document is available without a key', async () => {
  const under = await startService();
  const response = await fetch(new URL('/openapi.json', under.service.url));
  expect(response.status).toBe(200);
  expect(await response.json()).toMatchObject({ openapi: '3.1.0', paths: { '/sandboxes': {} } });
});
