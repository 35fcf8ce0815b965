import { request as httpRequest } from 'node:http';
import { defaultPayloadConverter, type Payload } from '@temporalio/common';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import {
  type CodecServer,
  createCodecServer,
  createPayloadCodec,
  newKeyLine,
  parseKeyRing,
} from '../../../src/encryption/index.js';

const token = 'a-token-of-the-test-0123456789';
const origin = 'https://temporal.example.com';
const real = createPayloadCodec(parseKeyRing(newKeyLine('k')));
const codec = { encode: vi.fn(real.encode), decode: vi.fn(real.decode) };
let server: CodecServer;
let url: string;
beforeAll(async () => {
  server = createCodecServer({ codec, token, origins: [origin], maxBodyBytes: 10_000 });
  ({ url } = await server.listen({ port: 0 }));
});
afterAll(() => server.close());

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, unknown>>;
  readonly body: string;
}

/** `fetch` cannot set the header `Origin`. */
function call(path: string, headers: Record<string, string>, body = '{"payloads":[]}', method = 'POST') {
  return new Promise<Answer>((resolve, reject) => {
    const request = httpRequest(url + path, { method, headers }, (response) => {
      let text = '';
      response.on('data', (piece: Buffer) => {
        text += piece.toString();
      });
      response.on('end', () => resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }));
    });
    request.once('error', reject);
    request.end(body);
  });
}

const authorized = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
const inJson = ({ metadata, data }: Payload) => ({
  metadata: Object.fromEntries(
    Object.entries(metadata ?? {}).map(([name, value]) => [name, Buffer.from(value).toString('base64')]),
  ),
  data: Buffer.from(data ?? []).toString('base64'),
});
const sealed = async (value: unknown) =>
  JSON.stringify({ payloads: (await real.encode([defaultPayloadConverter.toPayload(value)])).map(inJson) });

describe('the codec server', () => {
  test('decodes, and encodes, for a client with the token', async () => {
    const decoded = await call('/decode', authorized, await sealed({ hello: 'there' }));
    expect(decoded.status).toBe(200);
    const [payload] = (JSON.parse(decoded.body) as { payloads: { data: string }[] }).payloads;
    expect(Buffer.from(payload?.data ?? '', 'base64').toString()).toBe('{"hello":"there"}');
    const encoded = await call('/encode', { ...authorized, 'x-namespace': 'default' }, decoded.body);
    expect(encoded.body).not.toContain(payload?.data);
    expect((await call('/decode', authorized, encoded.body)).body).toBe(decoded.body);
    expect(decoded.headers['cache-control']).toBe('no-store');
  });

  test('tells an orchestrator without the token that it serves, and no more', async () => {
    expect(await call('/healthz', {}, '', 'GET')).toMatchObject({ status: 200, body: '{"ok":true}' });
    expect(await call('/healthz', {}, '', 'HEAD')).toMatchObject({ status: 200, body: '' });
    expect((await call('/healthz', {})).status).toBe(401);
  });

  test('decodes nothing without the token or with another one', async () => {
    const body = await sealed('x');
    codec.decode.mockClear();
    const noHeaders: Record<string, string> = {};
    for (const headers of [noHeaders, { authorization: 'Bearer ' }, { authorization: `Bearer ${token}x` }]) {
      expect((await call('/decode', headers, body)).status).toBe(401);
    }
    for (const path of [`/${token}x/decode`, '//decode', `/decode?token=${token}`, '/x/y/decode']) {
      expect((await call(path, {}, body)).status, path).toBe(401);
    }
    expect(codec.decode).not.toHaveBeenCalled();
  });

  test('accepts the token in the path, for a UI that sends no header', async () => {
    expect((await call(`/${token}/decode`, {}, await sealed('x'))).status).toBe(200);
  });

  test('refuses a page of another origin before it decodes anything, even with the token', async () => {
    const body = await sealed('x');
    codec.decode.mockClear();
    for (const other of ['https://evil.example.com', 'null', `${origin}.evil.com`, 'http://temporal.example.com', '']) {
      for (const method of ['POST', 'OPTIONS']) {
        const answer = await call('/decode', { ...authorized, origin: other }, method === 'POST' ? body : '', method);
        expect(answer.status, `${method} from ${other}`).toBe(403);
        expect(answer.headers).not.toHaveProperty('access-control-allow-origin');
      }
    }
    expect(codec.decode).not.toHaveBeenCalled();
  });

  test('allows the UI’s origin by name, and a preflight without a token', async () => {
    const preflight = await call(
      '/decode',
      { origin, 'access-control-request-private-network': 'true' },
      '',
      'OPTIONS',
    );
    expect(preflight).toMatchObject({
      status: 204,
      headers: {
        'access-control-allow-origin': origin,
        'access-control-allow-headers': expect.stringContaining('x-namespace'),
        'access-control-allow-private-network': 'true',
        vary: 'origin',
      },
    });
    const answer = await call('/decode', { ...authorized, origin }, await sealed('x'));
    expect(answer).toMatchObject({ status: 200, headers: { 'access-control-allow-origin': origin } });
    expect((await call('/decode', { origin }, await sealed('x'))).status).toBe(401);
  });

  test.each([
    ['no payloads', '{}', 200],
    ['no JSON', '{', 400],
    ['a list', '[]', 400],
    ['payloads that are none', '{"payloads":[1]}', 400],
    ['payloads that are no list', '{"payloads":{}}', 400],
    ['too much', `{"payloads":[],"x":"${'x'.repeat(20_000)}"}`, 413],
  ])('refuses a body with %s', async (_, body, status) => {
    expect((await call('/decode', authorized, body)).status).toBe(status);
  });

  test('reports what cannot be decrypted, and serves no other paths and methods', async () => {
    const strange = createPayloadCodec(parseKeyRing(newKeyLine('other')));
    const payloads = (await strange.encode([defaultPayloadConverter.toPayload('x')])).map(inJson);
    const answer = await call('/decode', authorized, JSON.stringify({ payloads }));
    expect(answer).toMatchObject({ status: 400, body: expect.stringContaining('encryption_key_unknown') });
    expect((await call('/download', authorized)).status).toBe(404);
    expect((await call('/decode', authorized, '', 'GET')).status).toBe(405);
  });

  test.each([
    ['a short token', { token: 'short' }],
    ['an origin with a path', { origins: ['https://temporal.example.com/'] }],
    ['any origin', { origins: ['*'] }],
  ])('refuses %s at the start', (_, options) => {
    const start = () => createCodecServer({ codec, token, origins: [], ...options });
    expect(start).toThrow(expect.objectContaining({ code: 'bad_configuration' }));
  });
});
