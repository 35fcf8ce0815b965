import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { packageVersion } from '../../../src/client/package-version.js';
import { type Endpoint, type EndpointName, endpoints } from '../../../src/contract/endpoints/endpoints.js';
import { aSandbox, createClosing, sendJson, startStand } from './http-harness.js';
import { accountRows } from './rows/account-rows.js';
import { id, type Row } from './rows/row.js';
import { sandboxRows } from './rows/sandbox-rows.js';
import { workRows } from './rows/work-rows.js';

const closing = createClosing();
afterEach(closing.closeAll);

/** The type makes an endpoint without a row a compile error. */
const rows: Record<EndpointName, Row> = { ...accountRows, ...sandboxRows, ...workRows };

describe('each method', () => {
  let directory: string;
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'sandflow-client-'));
  });
  afterAll(() => rm(directory, { recursive: true }));

  it.each(Object.entries(rows))('%s sends its row of the contract and returns the whole body', async (name, row) => {
    const { status, type, confirmDelete, raw }: Endpoint = endpoints[name as EndpointName];
    const answer = { ok: true, type, ...row.answer };
    const stand = closing.keep(
      await startStand((_, response) => {
        if (raw) response.end('bytes');
        else sendJson(response, status, answer);
      }),
    );
    const to = join(directory, name);

    const result = await row.call(closing.client(stand), to);

    if (raw) expect(await readFile(to, 'utf8')).toBe('bytes');
    else expect(result).toEqual(answer);
    expect(stand.seen).toHaveLength(1);
    const [request] = stand.seen;
    expect(`${request?.method} ${request?.url}`).toBe(row.sends);
    expect(request?.headers.authorization).toBe('Bearer key_secret');
    expect(request?.body).toBe(row.body === undefined ? '' : JSON.stringify(row.body));
    expect(request?.headers['user-agent']).toBe(`sandflow/${await packageVersion()}`);
    expect(request?.headers['content-type']).toBe(row.body === undefined ? undefined : 'application/json');
    expect(request?.headers['x-svc-confirm-delete']).toBe(row.confirms);
    expect(confirmDelete === true).toBe(row.confirms !== undefined);
  });
});

/** Every place in a value where it has one of these ids. */
function placesOf(value: unknown, ids: readonly string[], path: readonly string[] = []): (readonly string[])[] {
  if (typeof value === 'string') return ids.includes(value) ? [path] : [];
  return Object.entries(value ?? {}).flatMap(([name, part]) => placesOf(part, ids, [...path, name]));
}

function replaced(value: unknown, [name, ...rest]: readonly string[], by: string): unknown {
  if (name === undefined) return by;
  const parts = value as Readonly<Record<string, unknown>>;
  return { ...parts, [name]: replaced(parts[name], rest, by) };
}

describe('an answer to each method', () => {
  const repeating = Object.entries(rows).flatMap(([name, row]) => {
    const ids =
      row.sends
        .split('?', 1)[0]
        ?.split('/')
        .filter((part) => /[_-]/.test(part)) ?? [];
    // Whose id the top-level `id` is, is not specified.
    const places = placesOf(row.answer, ids).filter((path) => path.join('.') !== 'id');
    return places.map((path) => [name, path.join('.'), row, path] as const);
  });

  it('repeats the ids of its request in many places', () => {
    expect(repeating.length).toBeGreaterThan(10);
  });

  it.each(repeating)('%s is refused if its %s is another one', async (name, field, row, path) => {
    const { status, type }: Endpoint = endpoints[name as EndpointName];
    const answer = replaced({ ok: true, type, ...row.answer }, path, 'bx_99999999');
    const stand = closing.keep(await startStand((_, response) => sendJson(response, status, answer)));
    const made = row.call(closing.client(stand), '');
    await expect(made).rejects.toMatchObject({ code: 'unexpected_response', field });
  });
});

describe('the client', () => {
  const ok = { ok: true, type: 'sandbox.created', sandbox: aSandbox };
  const another = 'bx_3333aaaa';

  it('S4: sends the same bytes for bodies that differ only in key order and undefined fields', async () => {
    const stand = closing.keep(await startStand((_, response) => sendJson(response, 202, ok)));
    const client = closing.client(stand);
    await client.createSandbox({ ttlSeconds: 60, name: 'a', setupScript: undefined }, { idempotencyKey: 'k-1' });
    await client.createSandbox({ name: 'a', ttlSeconds: 60 }, { idempotencyKey: 'k-1' });
    await client.forkSandbox(another, { ttlSeconds: 60, name: 'a' }, { idempotencyKey: 'k-2' });
    expect(stand.seen.map((request) => request.body)).toEqual(Array(3).fill('{"name":"a","ttlSeconds":60}'));
    expect(stand.seen.map((request) => request.headers['idempotency-key'])).toEqual(['k-1', 'k-1', 'k-2']);
  });

  it('client rows: takes fields of a create, a fork and a prompt that the specification does not show, and sends them', async () => {
    const stand = closing.keep(
      await startStand((request, response) => {
        if (request.url.endsWith('/prompt')) sendJson(response, 202, { ok: true, conversationId: 'conv_1' });
        else sendJson(response, 202, { ok: true, sandbox: aSandbox });
      }),
    );
    const client = closing.client(stand);
    const other = { region: 'north', limits: { cpu: 2 } };
    await client.createSandbox({ name: 'one', ...other });
    await client.forkSandbox('bx_22222222', { name: 'two', ...other });
    await client.sendPrompt(id, { prompt: 'three', ...other });
    for (const { body } of stand.seen) expect(JSON.parse(body)).toMatchObject(other);
    // @ts-expect-error: the fields that the specification shows keep their types
    await client.createSandbox({ name: 5, ...other });
  });

  it('reads the key again for each call', async () => {
    const stand = closing.keep(await startStand((_, response) => sendJson(response, 200, ok)));
    const keys = ['first', 'second\n'];
    const client = closing.client(stand, { apiKey: async () => keys.shift() ?? '' });
    await client.getSandbox(id);
    await client.getSandbox(id);
    expect(stand.seen.map((request) => request.headers.authorization)).toEqual(['Bearer first', 'Bearer second']);
    await expect(client.getSandbox(id)).rejects.toMatchObject({ code: 'bad_api_key' });
    expect(stand.seen).toHaveLength(2);
  });

  it('escapes ids and refuses ids that would address something else', async () => {
    const stand = closing.keep(await startStand((_, response) => sendJson(response, 200, ok)));
    const client = closing.client(stand);
    await expect(client.getSandbox('a/b?c')).rejects.toMatchObject({ field: 'sandbox.id' });
    expect(stand.seen[0]?.url).toBe('/v1/sandboxes/a%2Fb%3Fc');
    for (const empty of ['', '.', '..']) {
      await expect(client.deleteSandbox(empty)).rejects.toMatchObject({ code: 'bad_argument' });
    }
    await expect(client.createSandbox({}, { idempotencyKey: 'a\nb' })).rejects.toMatchObject({ code: 'bad_argument' });
    expect(stand.seen).toHaveLength(1);
  });

  it('reuses its connections', async () => {
    const stand = closing.keep(await startStand((_, response) => sendJson(response, 200, ok)));
    const client = closing.client(stand);
    for (let call = 0; call < 20; call++) await client.getSandbox(id);
    // Two, because a call that follows at once starts before the pool knows that the first connection is free.
    expect(stand.sockets()).toBeLessThanOrEqual(2);
  });

  it('reports each call without its payload', async () => {
    const records: unknown[] = [];
    const stand = closing.keep(await startStand((_, response) => sendJson(response, 200, ok)));
    const client = closing.client(stand, { onCall: (record) => records.push(record) });
    await client.getSandbox(id);
    const numbers = { startedAt: expect.any(Number), durationMs: expect.any(Number) };
    expect(records).toEqual([{ endpoint: 'getSandbox', status: 200, errorCode: null, requestId: null, ...numbers }]);
  });

  it('refuses an invalid base URL', () => {
    expect(() => closing.client({ url: 'sandbox' })).toThrow(/base URL/);
    expect(() => closing.client({ url: 'ftp://a/v1' })).toThrow(/https/);
  });
});
