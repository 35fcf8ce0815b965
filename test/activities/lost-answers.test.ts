import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { aSandbox, errorBody, type SeenRequest, sendJson } from '../unit/client/http-harness.js';
import { type ActivityStand, createActivityStand, lateForMs, leastSeenMs } from './activity-harness.js';

let stand: ActivityStand;
beforeAll(async () => {
  stand = await createActivityStand();
});
afterAll(() => stand.close());

const hourMs = 3_600_000;
const requests = (start: string) => stand.seen().filter((line) => line.startsWith(start));

describe('a fork or create with a key that is 23 hours old', () => {
  const input = (hours: number) => ({
    sandboxId: 'bx_22222222',
    body: { name: 'sf-demo' },
    idempotencyKey: 'k',
    firstSentAtMs: Date.now() - hours * hourMs,
    lookFirst: false,
  });
  const made = (over: object) => ({
    ...aSandbox,
    name: 'sf-demo',
    access: 'owner',
    createdAt: new Date().toISOString(),
    ...over,
  });
  const long = new Date(Date.now() - 48 * hourMs).toISOString();

  function answerWith(sandboxes: readonly object[]) {
    stand.answer(({ method }, response) => {
      if (method === 'GET') sendJson(response, 200, { ok: true, sandboxes });
      else sendJson(response, 202, { ok: true, sandbox: made({}) });
    });
  }

  it.each(['createSandbox', 'forkSandbox'])('S4: %s sends a younger key without a lookup', async (name) => {
    answerWith([]);
    expect(await stand.run(name, input(22.9))).toMatchObject({ value: { id: aSandbox.id }, calls: 1 });
    expect(requests('POST')).toHaveLength(1);
  });

  it.each(['createSandbox', 'forkSandbox'])(
    'S4: %s adopts the only sandbox with its name and sends nothing',
    async (name) => {
      const others = [
        made({ id: 'a', name: 'sf-demo-2' }),
        made({ id: 'b', access: 'use' }),
        made({ id: 'c', createdAt: long }),
      ];
      answerWith([...others, made({ id: 'bx_33333333' })]);
      expect(await stand.run(name, input(23))).toMatchObject({ value: { id: 'bx_33333333' } });
      expect(requests('POST')).toHaveLength(0);
    },
  );

  it.each([
    ['none', []],
    ['two', [made({ id: 'a' }), made({ id: 'b' })]],
  ])('S4: forkSandbox reports an unknown outcome if there is %s', async (_, sandboxes) => {
    answerWith(sandboxes);
    expect(await stand.failureOf('forkSandbox', input(24))).toMatchObject({
      type: 'outcome_unknown',
      nonRetryable: true,
    });
    expect(requests('POST')).toHaveLength(0);
  });

  it.each(['createSandbox', 'forkSandbox'])(
    'S4: %s asks again while the row with its name has a malformed id, and sends nothing',
    async (name) => {
      let reads = 0;
      stand.answer((_, response) => {
        reads += 1;
        sendJson(response, 200, { ok: true, sandboxes: [made({ id: reads < 3 ? 'bx_!' : 'bx_33333333' })] });
      });
      expect(await stand.run(name, { ...input(0), lookFirst: true })).toMatchObject({ value: { id: 'bx_33333333' } });
      expect(requests('POST')).toHaveLength(0);
    },
  );

  it('forkSandbox repeats the call with the same key after a lost answer', async () => {
    const keys: unknown[] = [];
    stand.answer(({ headers }, response) => {
      keys.push(headers['idempotency-key']);
      if (keys.length === 1) response.destroy();
      else sendJson(response, 202, { ok: true, sandbox: made({}) });
    });
    await stand.run('forkSandbox', input(0));
    expect(keys).toEqual(['k', 'k']);
  });
});

/** A service that stores webhooks; `lose` loses the answer to a create. */
function webhookService(options: { readonly lose: 'after' | 'before'; readonly others?: readonly object[] }) {
  const webhooks: object[] = [...(options.others ?? [])];
  let rotations = 0;
  stand.answer(({ method, url, body }: SeenRequest, response: ServerResponse) => {
    if (url.endsWith('/rotate')) return sendJson(response, 200, { ok: true, secret: `whsec_new${++rotations}` });
    if (method === 'GET') return sendJson(response, 200, { ok: true, webhooks });
    if (options.lose === 'after') webhooks.push({ ...JSON.parse(body), id: 'wh_made' });
    return response.destroy();
  });
}

describe('createWebhook when the answer is lost', () => {
  const body = { name: 'n', url: 'https://a.example/hook', events: ['sandbox.ready'] };
  const twin = { ...body, id: 'wh_before' };

  it('adopts the webhook that did not exist before, with a new secret', async () => {
    webhookService({ lose: 'after', others: [twin, { ...body, id: 'wh_x', url: 'https://b.example/' }] });
    const result = (await stand.run('createWebhook', body)) as { value: { secretRef: string } };
    expect(result).toMatchObject({ value: { webhook: { id: 'wh_made' } } });
    expect(await stand.secrets.get(result.value.secretRef)).toBe('whsec_new1');
    expect(requests('POST /v1/webhooks').filter((line) => !line.endsWith('/rotate'))).toHaveLength(1);
    expect(await stand.history()).not.toContain('whsec_');
  });

  it('rotates again only when the rotation of a worker that died can no longer take effect', async () => {
    const rotatedAtMs: number[] = [];
    const webhooks: object[] = [];
    stand.answer(async ({ method, url, body }, response) => {
      if (method === 'GET') return sendJson(response, 200, { ok: true, webhooks });
      if (url.endsWith('/rotate')) {
        rotatedAtMs.push(Date.now());
        if (rotatedAtMs.length === 1) await stand.loseAttempt();
        return sendJson(response, 200, { ok: true, secret: `whsec_new${rotatedAtMs.length}` });
      }
      webhooks.push({ ...JSON.parse(body), id: 'wh_made' });
      return response.destroy();
    });
    const { value } = (await stand.run('createWebhook', body)) as { value: { secretRef: string } };
    expect(await stand.secrets.get(value.secretRef)).toBe('whsec_new2');
    const [first = 0, second = 0] = rotatedAtMs;
    expect(second - first).toBeGreaterThanOrEqual(leastSeenMs);
    expect(requests('POST /v1/webhooks').filter((line) => !line.endsWith('/rotate'))).toHaveLength(1);
  });

  it('reports an unknown outcome if there is no new webhook, and creates no second one', async () => {
    webhookService({ lose: 'before', others: [twin] });
    expect(await stand.failureOf('createWebhook', body)).toMatchObject({ type: 'outcome_unknown', nonRetryable: true });
    expect(requests('POST')).toHaveLength(1);
  });

  it('fails if the create was refused, and does not report an unknown outcome', async () => {
    stand.answer(({ method }, response) => {
      if (method === 'GET') sendJson(response, 200, { ok: true, webhooks: [] });
      else sendJson(response, 403, errorBody(403, 'forbidden'));
    });
    expect(await stand.failureOf('createWebhook', body)).toMatchObject({ type: 'forbidden' });
  });
});

describe('updateEnvironment when the answer is lost', () => {
  async function run(shown: object) {
    const envContentsRef = await stand.secrets.put('env', 'A=whsec_1');
    stand.answer(({ method }, response) => {
      if (method === 'PUT') return response.destroy();
      return sendJson(response, 200, { success: true, environments: [{ id: 'e1', name: 'new', ...shown }] });
    });
    return { environmentId: 'e1', body: { name: 'new', passSecrets: true }, envContentsRef };
  }

  it('succeeds if the environment has the requested content', async () => {
    const input = await run({ passSecrets: true, envContents: 'A=whsec_1' });
    expect(await stand.run('updateEnvironment', input)).toMatchObject({
      value: { id: 'e1', name: 'new', envContents: '[redacted]' },
    });
    expect(requests('PUT')).toHaveLength(1);
    expect(await stand.history()).not.toContain('whsec_1');
  });

  it('reports an unknown outcome if the environment has different content', async () => {
    const input = await run({ passSecrets: true, envContents: 'A=other' });
    expect(await stand.failureOf('updateEnvironment', input)).toMatchObject({ type: 'outcome_unknown' });
    expect(requests('PUT')).toHaveLength(1);
  });
});

describe('a secret when the answer is lost', () => {
  const rotations = [
    ['rotateWebhookSecret', 'wh_1', 'webhook-wh_1'],
    ['rotateApiKey', 'sak_1', 'api-key-sak_1'],
  ] as const;

  it.each(rotations)('%s is repeated until a secret has been stored', async (name, id, kept) => {
    const atMs: number[] = [];
    stand.answer((_, response) => {
      atMs.push(performance.now());
      if (atMs.length === 1) response.destroy();
      else sendJson(response, 200, { ok: true, secret: `key_${atMs.length}` });
    });
    const { value } = (await stand.run(name, id)) as { value: { secretRef: string } };
    expect(value.secretRef).toContain(kept);
    expect(await stand.secrets.get(value.secretRef)).toBe('key_2');
    const [lost = 0, next = 0] = atMs;
    // The lost call may still be executed, and must not be executed after the next one.
    expect(next - lost).toBeGreaterThanOrEqual(lateForMs);
  });

  it.each(rotations)('%s of a worker that died is repeated once it can no longer take effect', async (name, id) => {
    const atMs: number[] = [];
    stand.answer(async (_, response) => {
      atMs.push(Date.now());
      if (atMs.length === 1) await stand.loseAttempt();
      sendJson(response, 200, { ok: true, secret: `key_${atMs.length}` });
    });
    const { value } = (await stand.run(name, id)) as { value: { secretRef: string } };
    expect(await stand.secrets.get(value.secretRef)).toBe('key_2');
    const [lost = 0, next = 0] = atMs;
    expect(next - lost).toBeGreaterThanOrEqual(leastSeenMs);
  });

  it('of a webhook whose create and first rotation got no answer is that of a rotation that came later', async () => {
    const body = { name: 'twice lost', url: 'https://a.example/twice', events: ['sandbox.ready'] };
    const webhooks: object[] = [];
    const rotatedAtMs: number[] = [];
    stand.answer(({ method, url, body: sent }, response) => {
      if (method === 'GET') return sendJson(response, 200, { ok: true, webhooks });
      if (!url.endsWith('/rotate')) {
        webhooks.push({ ...JSON.parse(sent), id: 'wh_made' });
        return response.destroy();
      }
      rotatedAtMs.push(performance.now());
      if (rotatedAtMs.length === 1) return response.destroy();
      return sendJson(response, 200, { ok: true, secret: `whsec_${rotatedAtMs.length}` });
    });
    const { value } = (await stand.run('createWebhook', body)) as { value: { secretRef: string } };
    expect(await stand.secrets.get(value.secretRef)).toBe('whsec_2');
    const [lost = 0, next = 0] = rotatedAtMs;
    expect(next - lost).toBeGreaterThanOrEqual(lateForMs);
    expect(webhooks).toHaveLength(1);
  });
});

describe('an upgrade of sandboxes', () => {
  it('whose first answer was lost does not give its counts for the whole', async () => {
    let turn = 0;
    stand.answer((_, response) => {
      turn += 1;
      if (turn === 1) response.destroy();
      else sendJson(response, 200, { success: true, upgraded: 0, failed: 0 });
    });
    expect(await stand.run('upgradeEnvironment', 'e1')).toEqual({
      value: { upgraded: 0, failed: 0, repeated: true },
      calls: 2,
    });
    expect(await stand.run('upgradeEnvironment', 'e1')).toEqual({ value: { upgraded: 0, failed: 0 }, calls: 1 });
  });

  it('that was refused before is not repeated', async () => {
    let turn = 0;
    stand.answer((_, response) => {
      turn += 1;
      // A refusal of the service itself had no effect.
      if (turn === 1) sendJson(response, 429, errorBody(429, 'rate_limited'));
      else sendJson(response, 200, { success: true, upgraded: 3, failed: 0 });
    });
    expect(await stand.failureOf('upgradeEnvironment', 'e1')).toMatchObject({ type: 'rate_limited' });
    expect(await stand.run('upgradeEnvironment', 'e1')).toMatchObject({ value: { upgraded: 3, failed: 0 } });
  });
});

describe('a download', () => {
  it('is repeated if it breaks, and the result store gets the complete content', async () => {
    const content = Buffer.alloc(3 * 1024 * 1024, 'x');
    let turn = 0;
    stand.answer((_, response) => {
      response.writeHead(200, { 'content-length': content.length });
      if (++turn > 1) return response.end(content);
      return response.write(content.subarray(0, 1024), () => response.destroy());
    });
    const result = (await stand.run('downloadSnapshot', 'snap_1', 'jobs/large')) as { value: { ref: string } };
    expect(result.value).toMatchObject({ size: content.length });
    expect((await stand.results.get(result.value.ref)).equals(content)).toBe(true);
  });

  it('goes to the result store if the file is too long for history', async () => {
    const content = 'é'.repeat(70_000);
    stand.answer((_, response) => sendJson(response, 200, { ok: true, path: 'a', encoding: 'utf8', content }));
    const result = await stand.run('readFile', 'bx_1', { path: 'a', key: 'jobs/read' });
    expect(result).toMatchObject({ value: { content: null, size: 140_000, ref: 'file-store:jobs/read' } });
    expect((await stand.results.get('file-store:jobs/read')).toString()).toBe(content);
  });
});

describe('client rows: an interrupt whose answer was lost', () => {
  const queued = (id: string) => ({ id, type: 'prompt.queued', createdAt: new Date().toISOString() });
  let interrupts = 0;

  /** Loses the first answer; `events` answers the reads of the history. */
  function answerWith(events: (response: ServerResponse) => void) {
    interrupts = 0;
    stand.answer(({ method }, response) => {
      if (method === 'GET') return events(response);
      interrupts += 1;
      if (interrupts === 1) response.destroy();
      else sendJson(response, 200, { ok: true, interrupted: 2 });
    });
  }

  it('is repeated while nothing was queued since', async () => {
    answerWith((response) => sendJson(response, 200, { ok: true, events: [queued('a'), queued('b')] }));
    expect(await stand.run('interruptSandbox', aSandbox.id, null)).toEqual({ value: 2, calls: 4 });
    expect(interrupts).toBe(2);
  });

  it('is not repeated once somebody has queued another prompt', async () => {
    answerWith((response) => {
      const events = [queued('a'), ...(interrupts === 0 ? [] : [queued('b')])];
      sendJson(response, 200, { ok: true, events });
    });
    const failure = await stand.failureOf('interruptSandbox', aSandbox.id, 'conv_1');
    expect(failure).toMatchObject({ type: 'outcome_unknown', nonRetryable: true });
    expect(interrupts).toBe(1);
  });

  it('is sent without a history, and then not repeated', async () => {
    answerWith((response) => sendJson(response, 500, errorBody(500, 'internal_error')));
    expect(await stand.failureOf('interruptSandbox', aSandbox.id, null)).toMatchObject({ type: 'outcome_unknown' });
    expect(interrupts).toBe(1);
  });

  it('is sent although a long history is read slowly', async () => {
    let page = 0;
    answerWith((response) => {
      const events = Array.from({ length: 100 }, (_, at) =>
        queued(`sev_${(page * 100 + at).toString(16).padStart(24, '0')}`),
      );
      page += 1;
      setTimeout(() => sendJson(response, 200, { ok: true, events }), 700);
    });
    interrupts = 1;
    expect(await stand.run('interruptSandbox', aSandbox.id, null)).toMatchObject({ value: 2 });
  });

  it('stops nothing in a sandbox that does not exist', async () => {
    stand.answer((_, response) => sendJson(response, 404, errorBody(404, 'sandbox_not_found')));
    expect(await stand.run('interruptSandbox', aSandbox.id, null)).toMatchObject({ value: 0 });
  });
});

describe('a second interrupt of a prompt', () => {
  const promptId = 'prm_0123456789abcdef01234567';
  const sandboxId = aSandbox.id;
  const again = {
    ...{ sandboxId, promptId, conversationId: 'conv_1', prompt: 'go', knownPromptIds: [], recordKey: 'none' },
    ...{ isOwnSandbox: true, resultKey: 'none', answerBytes: 1_000, sideBySide: false, readLagMs: 1_000 },
  };
  const interrupt = () => stand.run('interruptSandbox', sandboxId, 'conv_1', again);

  it.each([
    ['running', 1],
    ['queued', 1],
    ['completed', 0],
    ['interrupted', 0],
  ])('is sent only while the prompt runs: if it is %s, %i', async (status, sent) => {
    stand.answer(({ method, url }, response) => {
      if (method === 'POST') return sendJson(response, 200, { ok: true, interrupted: 1 });
      if (url.includes('/events')) return sendJson(response, 200, { ok: true, events: [] });
      return sendJson(response, 200, { ok: true, prompt: { id: promptId, status } });
    });
    expect(await interrupt()).toMatchObject({ value: sent });
    expect(requests('POST')).toHaveLength(sent);
  });

  it('is not sent if no read shows the prompt', async () => {
    stand.answer(({ method, url }, response) => {
      if (method === 'POST') return sendJson(response, 200, { ok: true, interrupted: 1 });
      if (url.includes('/events')) return sendJson(response, 200, { ok: true, events: [] });
      return sendJson(response, 404, errorBody(404, 'not_found'));
    });
    expect(await interrupt()).toMatchObject({ value: 0 });
    expect(requests('POST')).toHaveLength(0);
  });
});
