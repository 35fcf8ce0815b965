import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { apiKey, type ServiceUnderTest, startService } from '../service-under-test.js';

interface RawAnswer {
  readonly status: number;
  readonly text: string;
}

/** Sends bytes as they are; resolves when the service has ended the connection. */
function sendRaw(under: ServiceUnderTest, pieces: readonly string[], pauseMs = 0): Promise<RawAnswer> {
  const { hostname, port } = new URL(under.service.url);
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    const chunks: Buffer[] = [];
    let timer: NodeJS.Timeout | undefined;
    const rest = [...pieces];
    const sendNext = () => {
      const piece = rest.shift();
      if (piece === undefined || socket.destroyed) return;
      socket.write(piece);
      timer = setTimeout(sendNext, pauseMs);
    };
    socket.on('connect', sendNext);
    socket.on('data', (chunk: Buffer) => chunks.push(chunk));
    socket.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'ECONNRESET' && error.code !== 'EPIPE') reject(error);
    });
    socket.on('close', () => {
      clearTimeout(timer);
      const text = Buffer.concat(chunks).toString();
      resolve({ status: Number(/^HTTP\/1\.1 (\d+)/.exec(text)?.[1] ?? 0), text });
    });
  });
}

const head = (method: string, path: string, ...more: readonly string[]) =>
  `${[`${method} /v1${path} HTTP/1.1`, 'Host: localhost', `Authorization: Bearer ${apiKey}`, 'Connection: close', ...more].join('\r\n')}\r\n\r\n`;

/** The service is unchanged: it answers, and no account was created. */
async function isUnharmed(under: ServiceUnderTest): Promise<void> {
  const { status, body } = await under.call('GET', '/sandboxes');
  expect({ status, sandboxes: body.sandboxes }).toEqual({ status: 200, sandboxes: [] });
}

test('a body over the limit is refused before it is read to its end', async () => {
  const under = await startService();
  const announced = await sendRaw(under, [head('POST', '/webhooks', 'Content-Length: 99999999999')]);
  expect(announced.status).toBe(413);
  const { status, body } = await under.call('POST', '/webhooks', { rawBody: `{"name":"${'x'.repeat(5_000_000)}"}` });
  expect({ status, code: body.code }).toEqual({ status: 413, code: 'too_large' });
  await isUnharmed(under);
});

test('an endless chunked body is cut off at the limit', async () => {
  const under = await startService();
  const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
  const { status } = await sendRaw(under, [
    head('POST', '/webhooks', 'Transfer-Encoding: chunked'),
    ...Array.from({ length: 100 }, () => chunk),
  ]);
  expect([413, 0]).toContain(status);
  await isUnharmed(under);
});

test('a slow body is abandoned and delays no other call', async () => {
  const under = await startService({ timings: { requestTimeoutMs: 3_000 } });
  const slow = sendRaw(
    under,
    [head('POST', '/sandboxes', 'Content-Length: 1000'), ...Array.from({ length: 200 }, () => ' ')],
    50,
  );
  await isUnharmed(under);
  expect((await slow).status).toBe(408);
  await isUnharmed(under);
});

test.each([
  ['negative', 'Content-Length: -5'],
  ['not a number', 'Content-Length: five'],
  ['given twice with two values', 'Content-Length: 2\r\nContent-Length: 3'],
  ['beside a chunked body', 'Content-Length: 2\r\nTransfer-Encoding: chunked'],
])('a Content-Length that is %s is refused', async (_what, header) => {
  const under = await startService();
  const { status } = await sendRaw(under, [head('POST', '/sandboxes', header), '{}']);
  expect(status).toBe(400);
  await isUnharmed(under);
});

test('line breaks and NUL in a header never become a header or an answer', async () => {
  const under = await startService();
  const injected = await sendRaw(under, [
    head('POST', '/sandboxes', 'Idempotency-Key: a\rX-Injected: 1', 'Content-Length: 0'),
  ]);
  expect(injected.status).toBe(400);
  expect((await sendRaw(under, [head('GET', '/sandboxes', 'X-Odd: a\0b')])).status).toBe(400);
  const query = await sendRaw(under, [head('GET', '/sandboxes?cursor=a%0d%0aX-Injected:%201&limit=1')]);
  expect(query.text.toLowerCase()).not.toContain('\r\nx-injected');
  const confirm = await sendRaw(under, [
    head('DELETE', '/sandboxes/bx_abcd2345', 'X-Svc-Confirm-Delete: bx_abcd2345%0d%0aSet-Cookie: a=b'),
  ]);
  expect(confirm.text.toLowerCase()).not.toContain('\r\nset-cookie');
  await isUnharmed(under);
});

test('prototype names in a body change nothing', async () => {
  const under = await startService();
  const { status } = await under.call('POST', '/sandboxes', {
    rawBody: '{"__proto__":{"type":"xlarge"},"constructor":{"prototype":{"name":"x"}},"name":"plain"}',
  });
  expect(status).toBe(202);
  const [sandbox] = (await under.call('GET', '/sandboxes')).body.sandboxes;
  expect(sandbox).toMatchObject({ name: 'plain', type: 'default' });
  expect(({} as { type?: string }).type).toBeUndefined();
});

const outside = [
  '../other',
  '../../disks/bx_abcd2345/secret',
  '/etc/passwd',
  '/home/sandbox/../../etc/passwd',
  'folder/../../x',
  '/proc/self/environ',
  'nul\0byte',
];

test.each(outside)('the path %j reaches nothing outside the sandbox', async (path) => {
  const under = await startService();
  const id = await under.ready();
  const query = `?path=${encodeURIComponent(path)}`;
  const read = await under.call('GET', `/sandboxes/${id}/files${query}`);
  expect([400, 404]).toContain(read.status);
  expect(read.body.content).toBeUndefined();
  const written = await under.call('PUT', `/sandboxes/${id}/files`, { body: { path, content: 'x' } });
  expect(written.status).toBe(400);
  const downloaded = await under.call('GET', `/sandboxes/${id}/artifacts${query}`);
  expect([400, 404]).toContain(downloaded.status);
});

test('a link out of a sandbox reaches no file of another one', async () => {
  const under = await startService();
  const victim = await under.ready();
  await under.call('PUT', `/sandboxes/${victim}/files`, { body: { path: 'secret', content: 'of the victim' } });
  const id = await under.ready();
  for (const [name, target] of [
    ['relative', `../${victim}/secret`],
    ['absolute', `${under.directory}/machines/disks/${victim}/secret`],
    ['folder', '..'],
  ]) {
    await under.call('POST', `/sandboxes/${id}/commands`, { body: { command: `ln -s '${target}' '${name}'` } });
  }
  for (const path of ['relative', 'absolute', `folder/${victim}/secret`]) {
    for (const endpoint of ['files', 'artifacts']) {
      const { status, text } = await under.call('GET', `/sandboxes/${id}/${endpoint}?path=${path}`);
      expect([400, 404]).toContain(status);
      expect(text).not.toContain('of the victim');
    }
    const written = await under.call('PUT', `/sandboxes/${id}/files`, { body: { path, content: 'overwritten' } });
    expect(written.status).toBe(400);
  }
  const { body } = await under.call('GET', `/sandboxes/${victim}/files?path=secret`);
  expect(body.content).toBe('of the victim');
});
