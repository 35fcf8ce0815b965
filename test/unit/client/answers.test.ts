import { afterEach, describe, expect, it } from 'vitest';
import { ApiError, type SandboxClient, UnexpectedResponseError } from '../../../src/client/index.js';
import { aSandbox, createClosing, errorBody, rejectionOf, sendJson, startStand } from './http-harness.js';

const closing = createClosing();
afterEach(closing.closeAll);

const id = 'bx_23456789';

async function clientOf(status: number, body: unknown, headers: Record<string, string> = {}) {
  return closing.client(closing.keep(await startStand((_, response) => sendJson(response, status, body, headers))));
}

async function clientOfText(status: number, text: string, headers: Record<string, string> = {}) {
  return closing.client(closing.keep(await startStand((_, response) => response.writeHead(status, headers).end(text))));
}

describe('an error answer', () => {
  it('has all fields of the envelope', async () => {
    const details = { provider: 'pi', setupUrl: 'https://a.example/setup' };
    const client = await clientOf(409, errorBody(409, 'provider_not_configured', 'Set it up', details));
    const error = await rejectionOf(client.sendPrompt(id, { prompt: 'x' }));
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({
      ...{ status: 409, code: 'provider_not_configured', typed: true, meaning: 'permanent', requestId: 'req_1' },
      ...{ details, endpoint: 'sendPrompt', retryAfterMs: null },
    });
    expect(error).toHaveProperty('message', expect.stringContaining('Set it up'));
  });

  it.each([
    ['is named in the message', 'https://a.example/setup', '. See https://a.example/setup'],
    ['is not named if it is no URL', 'javascript:alert(1)', ''],
    ['is not named if it holds other than printable characters', 'https://a.example/\u001b[2J', ''],
    ['is not named if it is long', `https://a.example/${'x'.repeat(500)}`, ''],
    ['is not named if it is no text', 7, ''],
  ])('client rows: the setupUrl of a missing provider %s', async (_, setupUrl, text) => {
    const body = errorBody(409, 'provider_not_configured', 'No credentials', { provider: 'pi', setupUrl });
    const error = await rejectionOf((await clientOf(409, body)).sendPrompt(id, { prompt: 'x' }));
    expect(error).toHaveProperty('message', `No credentials (409 provider_not_configured)${text}`);
  });

  it('names the page to go to, under any name, but not a secret URL and not twice', async () => {
    const billingUrl = 'https://a.example/billing';
    const message = async (details: Record<string, unknown>, text = 'Pay first') => {
      const client = await clientOf(402, errorBody(402, 'billing_required', text, details));
      return ((await rejectionOf(client.getMe())) as ApiError).message;
    };
    expect(await message({ billingUrl })).toBe(`Pay first (402 billing_required). See ${billingUrl}`);
    expect(await message({ url: billingUrl, upgradeURL: 'https://a.example/up', ownerUrl: billingUrl })).toBe(
      `Pay first (402 billing_required). See ${billingUrl} and https://a.example/up`,
    );
    expect(await message({ billingUrl }, `Pay at ${billingUrl}`)).not.toContain('See');
    const desktopUrl = 'https://d.example/?_token=abc';
    expect(await message({ desktopUrl, plainUrl: 'http://a.example', curl: 7 })).not.toContain('See');
    expect(await message({ desktop: { url: desktopUrl } })).not.toContain('See');
  });

  const billingUrl = 'https://a.example/billing';
  const refused = errorBody(402, 'billing_required', 'Pay first');
  it.each<[string, object]>([
    ['at the top', { ...refused, billingUrl }],
    ['in the error', { ...refused, error: { ...refused.error, billingUrl } }],
    [
      'in a part of the details',
      errorBody(402, 'billing_required', 'Pay first', { plan: { links: [{ url: billingUrl }] } }),
    ],
  ])('names the page to go to if the answer has it %s', async (_, body) => {
    const error = await rejectionOf((await clientOf(402, body)).getMe());
    expect(error).toHaveProperty('message', `Pay first (402 billing_required). See ${billingUrl}`);
  });

  it('names the action that the key lacks, once', async () => {
    const message = async (text: string) => {
      const client = await clientOf(403, errorBody(403, 'api_key_action_forbidden', text));
      return ((await rejectionOf(client.stopSandbox(id))) as ApiError).message;
    };
    expect(await message('Not on this key.')).toBe(
      'Not on this key. (403 api_key_action_forbidden). The key lacks the action sandbox.stop',
    );
    expect(await message('Add sandbox.stop.')).toBe('Add sandbox.stop. (403 api_key_action_forbidden)');
  });

  it('S15: has its code in the current vocabulary', async () => {
    const client = await clientOf(409, errorBody(409, 'box_not_promptable'));
    await expect(client.getMe()).rejects.toMatchObject({ code: 'sandbox_not_promptable', typed: true });
  });

  it('S14: is throttled shortly or for long depending on its code, with the wait in seconds', async () => {
    const shortly = await clientOf(429, errorBody(429, 'rate_limited'), { 'retry-after': '7' });
    await expect(shortly.getMe()).rejects.toMatchObject({ meaning: 'throttled_shortly', retryAfterMs: 7_000 });
    const long = await clientOf(429, errorBody(429, 'daily_limit_reached'));
    await expect(long.getMe()).rejects.toMatchObject({ meaning: 'throttled_for_long', retryAfterMs: null });
  });

  it.each([502, 503, 429, 404, 403, 413, 401, 302])(
    'of a proxy (%i) is untyped and not a refusal, whatever its status',
    async (status) => {
      const headers = { location: '/elsewhere', 'retry-after': '600' };
      const client = await clientOfText(status, '<html>key_secret</html>', headers);
      const error = await rejectionOf(client.getMe());
      expect(error).toMatchObject({
        code: `http_${status}`,
        typed: false,
        meaning: 'unavailable',
        status,
        details: null,
        requestId: null,
        retryAfterMs: null,
      });
      expect(error).toHaveProperty('message', expect.not.stringContaining('html'));
    },
  );

  it.each<[string, (whole: Record<string, unknown>) => object]>([
    ['only in error', ({ ok, error }) => ({ ok, error })],
    ['with an error that is null', (whole) => ({ ...whole, error: null })],
    ['with success instead of ok', ({ ok: _, ...whole }) => ({ ...whole, success: false })],
    ['with a code in capitals', (whole) => ({ ...whole, code: 'DAILY_LIMIT_REACHED' })],
    ['with a code with hyphens', (whole) => ({ ...whole, code: 'daily-limit-reached' })],
  ])('is the same refusal %s', async (_, written) => {
    const client = await clientOf(429, written(errorBody(429, 'daily_limit_reached', 'No more today')));
    const error = await rejectionOf(client.sendPrompt(id, { prompt: 'x' }));
    expect(error).toMatchObject({ typed: true, code: 'daily_limit_reached', meaning: 'throttled_for_long' });
    expect(error).toHaveProperty('message', 'No more today (429 daily_limit_reached)');
  });

  it.each([
    ['without an envelope', { error: { code: 'rate_limited', message: 'x' } }],
    ['without a code', { ok: false, error: 'rate_limited' }],
    ['with success and no id of a request', { success: false, error: { code: 'rate_limited', message: 'x' } }],
    ['with success and an id of its own', { success: false, code: 'rate_limited', requestId: '7f3a' }],
    ['with a code that is a number', { ok: false, error: { code: 429 } }],
  ])('%s may be that of a gateway, and is no refusal', async (_, body) => {
    expect(await rejectionOf((await clientOf(429, body)).getMe())).toMatchObject({ typed: false, code: 'http_429' });
  });

  it.each([
    ['https://new.example/v2/TOKEN?token=abc', 'It redirects getMe to https://new.example.'],
    ['app:TOKEN', 'A proxy may have sent it.'],
    ['/elsewhere', 'A proxy may have sent it.'],
  ])('that redirects to %s names the host alone', async (location, text) => {
    const error = await rejectionOf((await clientOfText(308, '', { location })).getMe());
    expect(error).toHaveProperty('message', `The answer was 308 without the error body of the service. ${text}`);
  });

  it('with null in optional fields is typed', async () => {
    const body = { ...errorBody(404, 'sandbox_not_found'), error: { details: null }, requestId: null };
    await expect((await clientOf(404, body)).getMe()).rejects.toMatchObject({ typed: true, code: 'sandbox_not_found' });
  });

  it('is one attempt, even for a 503', async () => {
    const stand = closing.keep(await startStand((_, response) => sendJson(response, 503, errorBody(503, 'http_500'))));
    await expect(closing.client(stand).getMe()).rejects.toMatchObject({ meaning: 'unavailable' });
    expect(stand.seen).toHaveLength(1);
  });
});

describe('the client', () => {
  it('keeps unknown fields and enum values, and leaves missing fields undefined', async () => {
    const sandbox = { ...aSandbox, state: 'hibernating', colour: 'red', stop: { id: 's', status: 'novel', extra: 1 } };
    const answer = await (await clientOf(200, { ok: true, type: 'sandbox.info', sandbox, more: [1] })).getSandbox(id);
    expect(answer).toMatchObject({ more: [1], sandbox: { state: 'hibernating', colour: 'red', stop: { extra: 1 } } });
    expect(answer.sandbox.hydrated).toBeUndefined();
  });

  it('S5: accepts a cancelled sandbox with only id, state and error', async () => {
    const sandbox = { id, state: 'cancelled', error: 'no machine' };
    await expect((await clientOf(200, { ok: true, sandbox })).getSandbox(id)).resolves.toEqual({ ok: true, sandbox });
  });

  it('S2: accepts a queued prompt without a prompt id', async () => {
    const client = await clientOf(202, { ok: true, type: 'prompt.queued', conversationId: 'conv_1' });
    const answer = await client.sendPrompt(id, { prompt: 'x' });
    expect(answer.promptId).toBeUndefined();
    expect(answer.conversationId).toBe('conv_1');
  });

  it('accepts an unusual 2xx, and an empty body if it needs nothing from it', async () => {
    await expect((await clientOf(200, { ok: true, sandbox: aSandbox })).createSandbox()).resolves.toMatchObject({});
    await expect((await clientOfText(204, '')).deleteWebhook('wh_1')).resolves.toEqual({ ok: true });
  });
});

describe('a success answer without required content', () => {
  it.each([
    ['a missing field', { ok: true, sandbox: { ...aSandbox, state: undefined } }, 'sandbox.state'],
    ['a field of another type', { ok: true, sandbox: { ...aSandbox, id: 17 } }, 'sandbox.id'],
    ['a body that is not an object', ['whsec_hidden'], 'ok'],
    ['an empty object', {}, 'ok'],
    ['a refusal with a status of success', { ok: false, sandbox: aSandbox }, 'ok'],
  ])('is refused (%s) with the endpoint and field, without values', async (_, body, field) => {
    const error = await rejectionOf((await clientOf(200, body)).getSandbox(id));
    expect(error).toBeInstanceOf(UnexpectedResponseError);
    expect(error).toMatchObject({ code: 'unexpected_response', endpoint: 'getSandbox', status: 200, field });
    expect(String(error)).not.toContain('whsec_hidden');
  });

  it.each<[string, unknown, string]>([
    [
      'a missing field, and what is there instead',
      { ok: true, type: 'prompt.status', run: { id: 'hidden' }, 'x\u001b[2J': 1 },
      '`prompt` of its response is missing, beside `ok` (boolean), `type` (string), `run` (object)',
    ],
    [
      'a field of another type',
      { ok: true, prompt: ['hidden'] },
      '`prompt` of its response is an array, not an object',
    ],
    [
      'a field of null',
      { ok: true, prompt: { id: 'hidden', status: null } },
      '`prompt.status` of its response is null, not a string',
    ],
  ])('is named with its types: %s', async (_, body, said) => {
    const error = await rejectionOf((await clientOf(200, body)).getPrompt(id, 'prm_a'));
    expect(error).toHaveProperty('message', `The service answered getPrompt with 200, but ${said}.`);
  });

  it.each([
    ['a web page', '<html>', {}, 'unavailable'],
    ['a web page by its type', 'Sorry', { 'content-type': 'text/html' }, 'unavailable'],
    ['bytes', 'plain', { 'content-type': 'application/octet-stream' }, 'unreadable'],
    ['nothing', '', {}, 'unreadable'],
    ['JSON without the fields', '{"ok":true}', {}, 'unreadable'],
  ])('of %s has a meaning of its own', async (_, text, headers, meaning) => {
    await expect((await clientOfText(200, text, headers)).getMe()).rejects.toMatchObject({ meaning });
  });

  const accepted = { ok: true, type: 'command.result', commandId: 'cmd_1', exitCode: null, stdout: '', stderr: '' };
  it.each([
    [202, {}, false],
    [200, { status: 'running' }, false],
    [202, { status: 'in_progress' }, false],
    [202, { exitCode: 0 }, true],
    [202, { timedOut: true }, true],
    [200, {}, true],
    [200, { status: 'killed' }, true],
  ])('of a command with %i and %j is a result: %j', async (status, over, isResult) => {
    const asked = (await clientOf(status, { ...accepted, ...over })).runCommand(id, { command: 'x' });
    if (isResult) return expect(await asked).toMatchObject(over);
    expect(await rejectionOf(asked)).toMatchObject({
      ...{ code: 'unexpected_response', field: 'exitCode', meaning: 'unreadable' },
      message: expect.stringContaining('may run'),
    });
  });

  it('is refused if it is empty or not JSON', async () => {
    await expect((await clientOfText(200, '<html>')).getMe()).rejects.toMatchObject({ field: 'body' });
    await expect((await clientOfText(200, '')).getMe()).rejects.toMatchObject({ field: 'body' });
    await expect((await clientOfText(204, '')).getMe()).rejects.toMatchObject({ field: 'user' });
  });

  it('is cut off at 64 MiB', async () => {
    const block = Buffer.alloc(1024 * 1024, 0x20);
    let sent = 0;
    let closed = false;
    const stand = closing.keep(
      await startStand((_, response) => {
        response.once('close', () => {
          closed = true;
        });
        const more = () => {
          while (!closed && sent++ < 200) if (!response.write(block)) return response.once('drain', more);
          response.end();
        };
        more();
      }),
    );
    await expect(closing.client(stand).getMe()).rejects.toMatchObject({ code: 'unexpected_response', field: 'body' });
    await expect.poll(() => closed).toBe(true);
    expect(sent).toBeLessThan(200);
  });
});

describe('an answer to a read of a stop', () => {
  const stop = { id: 'stop_a', status: 'failing' };
  it.each([
    ['of the stop', { id: 'stop_a' }],
    ['of the sandbox', { id }],
    ['of something else', { id: 'op_1' }],
    ['of nothing', { id: null }],
    ['left out', {}],
  ])('is accepted with the id %s', async (_, named) => {
    const client = await clientOf(200, { ok: true, type: 'stop.status', ...named, stop });
    expect((await client.getStop(id, 'stop_a')).stop.id).toBe('stop_a');
  });
});

describe('an answer about another resource', () => {
  const other = { ...aSandbox, id: 'bx_zzzzzzzz' };
  it.each([
    ['another sandbox', { sandbox: other }, (c: SandboxClient) => c.getSandbox(id), 'sandbox.id'],
    ['another sandbox', { sandbox: other }, (c: SandboxClient) => c.updateSandbox(id, {}), 'sandbox.id'],
    ['another sandbox', { sandbox: other }, (c: SandboxClient) => c.resumeSandbox(id), 'sandbox.id'],
    [
      'another stop',
      { stop: { id: 'stop_b', status: 'completed' } },
      (c: SandboxClient) => c.getStop(id, 'stop_a'),
      'stop.id',
    ],
    [
      'another prompt',
      { prompt: { id: 'prm_b', status: 'completed' } },
      (c: SandboxClient) => c.getPrompt(id, 'prm_a'),
      'prompt.id',
    ],
    [
      'the prompt of another sandbox',
      { prompt: { id: 'prm_a', sandboxId: other.id, status: 'completed' } },
      (c: SandboxClient) => c.getPrompt(id, 'prm_a'),
      'prompt.sandboxId',
    ],
    [
      'another deletion',
      { operation: { id: 'del_b', status: 'completed' } },
      (c: SandboxClient) => c.getDeletionOperation('del_a'),
      'operation.id',
    ],
    ['a fork that is its source', { sandbox: aSandbox }, (c: SandboxClient) => c.forkSandbox(id), 'sandbox.id'],
    [
      'a fork of another source',
      { sandbox: other, sourceSandboxId: 'bx_yyyyyyyy' },
      (c: SandboxClient) => c.forkSandbox(id),
      'sourceSandboxId',
    ],
    [
      'a sandbox that no id can name',
      { sandbox: { ...aSandbox, id: '../me' } },
      (c: SandboxClient) => c.createSandbox(),
      'sandbox.id',
    ],
  ])('is refused: %s', async (_, body, call, field) => {
    const client = await clientOf(200, { ok: true, ...body });
    await expect(call(client)).rejects.toMatchObject({ code: 'unexpected_response', field });
  });
});

describe('a list', () => {
  it.each([
    ['without a state', { state: undefined }],
    ['without an id', { id: 9 }],
    ['with a stop that has no id', { stop: { status: 'pending' } }],
  ])('omits one %s without affecting the others', async (_, wrong) => {
    const rows = ['a', 'b', 'c'].map((one) => ({ ...aSandbox, id: one }));
    const client = await clientOf(200, { ok: true, sandboxes: [rows[0], { ...rows[1], ...wrong }, null, rows[2]] });
    expect((await client.listSandboxes()).sandboxes.map((sandbox) => sandbox.id)).toEqual(['a', 'c']);
    const leftOut: number[] = [];
    await client.listAllSandboxes({}, { onRowsLeftOut: (rows) => leftOut.push(rows) });
    expect(leftOut, 'whoever asks is told').toEqual([2]);
  });

  it.each([{ name: null }, { createdAt: 7 }, { error: {}, hydrated: 'yes' }])(
    'omits an optional field with a wrong type: %j',
    async (wrong) => {
      const client = await clientOf(200, { ok: true, sandboxes: [{ ...aSandbox, ...wrong }] });
      const [read] = (await client.listSandboxes()).sandboxes;
      expect(read).toMatchObject({ id: aSandbox.id, state: aSandbox.state });
      for (const name of Object.keys(wrong)) expect(read).not.toHaveProperty(name);
    },
  );

  it('is refused if it is not a list', async () => {
    const client = await clientOf(200, { ok: true, sandboxes: 'none' });
    await expect(client.listSandboxes()).rejects.toMatchObject({ code: 'unexpected_response', field: 'sandboxes' });
  });
});

describe('listing everything', () => {
  const page = (ids: string[], nextCursor?: string | null) => ({
    ok: true,
    sandboxes: ids.map((one) => ({ ...aSandbox, id: one })),
    nextCursor,
  });

  it('follows nextCursor to the end, and returns a row that moved between pages once', async () => {
    const pages = new Map([
      ['/v1/sandboxes?limit=2', page(['a', 'b'], 'x+y')],
      ['/v1/sandboxes?limit=2&cursor=x%2By', page(['b', 'c'], null)],
    ]);
    const stand = closing.keep(
      await startStand((request, response) => sendJson(response, 200, pages.get(request.url))),
    );
    const all = await closing.client(stand).listAllSandboxes({ limit: 2 });
    expect(all.map((sandbox) => sandbox.id)).toEqual(['a', 'b', 'c']);
  });

  it('stops if a cursor repeats', async () => {
    const client = await clientOf(200, page(['a'], 'again'));
    await expect(client.listAllSandboxes()).rejects.toMatchObject({ code: 'list_incomplete' });
  });
});
