import { afterEach, describe, expect, it } from 'vitest';
import { keepSecret } from '../../../src/secrecy/known-secrets.js';
import { type ActivityStand, createActivityStand } from '../../activities/activity-harness.js';
import { errorBody, sendJson, startStand as startHttpStand } from '../../unit/client/http-harness.js';

const open: ActivityStand[] = [];
afterEach(async () => {
  for (const stand of open.splice(0)) await stand.close();
});

async function startStand(options: { readonly withSecrets?: boolean } = {}): Promise<ActivityStand> {
  const stand = await createActivityStand(options);
  open.push(stand);
  return stand;
}

interface Kept {
  readonly value: { readonly secretRef: string };
}

describe('a secret that the service shows once', () => {
  it('stays in the worker, under the name of its resource', async () => {
    const stand = await startStand();
    const url = 'https://d.example/?_token=abc';
    stand.answer((_, response) =>
      sendJson(response, 200, {
        ...{ ok: true, url, apiKeys: [] },
        ...{ secret: 'key_new', apiKey: { id: 'sak_9', name: 'ci', prefix: 'key' } },
      }),
    );
    const key = (await stand.run('createApiKey', { name: 'ci' })) as Kept;
    expect(key).toMatchObject({ value: { apiKey: { id: 'sak_9', prefix: 'key' } } });
    expect(await stand.secrets.get(key.value.secretRef)).toBe('key_new');
    expect(await stand.history()).not.toContain('key_new');
    const desktop = (await stand.run('openDesktop', 'bx_23456789', { vnc: '1' })) as Kept;
    expect(await stand.secrets.get(desktop.value.secretRef)).toBe(url);
    expect(await stand.history()).not.toContain('_token');
    expect(await stand.secrets.list()).toEqual(['api-key-sak_9', 'desktop-bx_23456789']);
    expect(stand.seen().filter((line) => line.startsWith('POST'))).toEqual([
      'POST /v1/api-keys/scoped',
      'POST /v1/sandboxes/bx_23456789/desktop?vnc=1',
    ]);
  });

  it('is not requested by a worker without a secret store', async () => {
    const stand = await startStand({ withSecrets: false });
    stand.answer((_, response) => sendJson(response, 200, { ok: true, secret: 'key_new', webhooks: [], apiKeys: [] }));
    for (const [name, input] of [
      ['createApiKey', { name: 'ci' }],
      ['rotateApiKey', 'sak_1'],
      ['rotateWebhookSecret', 'wh_1'],
      ['createWebhook', { name: 'n', url: 'https://a.example/', events: ['sandbox.ready'] }],
    ] as const) {
      expect(await stand.failureOf(name, input)).toMatchObject({ type: 'no_secret_store', nonRetryable: true });
    }
    expect(stand.seen().filter((line) => line.startsWith('POST'))).toEqual([]);
  });

  it('results in the usual failure if the service refuses to show it', async () => {
    const stand = await startStand();
    stand.answer((_, response) => sendJson(response, 403, errorBody(403, 'forbidden')));
    expect(await stand.failureOf('rotateApiKey', 'sak_1')).toMatchObject({ type: 'forbidden', nonRetryable: true });
    expect(await stand.secrets.list()).toEqual([]);
  });
});

describe('a reference to a stored secret', () => {
  it('resolves to a secret that reaches the service but not Temporal', async () => {
    const stand = await startStand();
    const bodies: string[] = [];
    stand.answer(({ body }, response) => {
      bodies.push(body);
      sendJson(response, 200, { ok: true, secrets: [{ name: 'TOKEN' }] });
    });
    const secretRef = await stand.secrets.put('token', 'hidden-value');
    const result = await stand.run('updateSecrets', { set: { TOKEN: { secretRef } }, unset: ['OLD'] });
    expect(result).toEqual({ value: ['TOKEN'], calls: 1 });
    expect(bodies.map((body) => JSON.parse(body))).toEqual([{ set: { TOKEN: 'hidden-value' }, unset: ['OLD'] }]);
    expect(await stand.history()).not.toContain('hidden-value');
  });

  it('fails the activity at once if the secret does not exist', async () => {
    const stand = await startStand();
    for (const [secretRef, type] of [
      ['secret-store:none', 'secret_not_found'],
      ['secret-store:../none', 'bad_secret_name'],
    ] as const) {
      const failure = await stand.failureOf('updateSecrets', { set: { TOKEN: { secretRef } } });
      expect(failure).toMatchObject({ type, nonRetryable: true });
    }
    const update = { environmentId: 'e', body: {}, secretFiles: [{ path: 'a', contentsRef: 'secret-store:none' }] };
    expect(await stand.failureOf('updateEnvironment', update)).toMatchObject({ type: 'secret_not_found' });
    expect(stand.seen()).toEqual([]);
  });
});

it('a notification holds no secret of its worker, whatever the message quotes', async () => {
  const stand = await startStand();
  const bodies: string[] = [];
  const receiver = await startHttpStand((request, response) => {
    bodies.push(request.body);
    response.end();
  });
  const canary = 'canary-of-a-"notification"';
  keepSecret(canary);
  const message = `the header "Bearer ${canary}" is invalid, ${encodeURIComponent(canary)} too`;
  await stand.run('notify', { url: receiver.url }, { event: 'ended', jobId: 'j', message, outcome: 'failed' });
  await receiver.close();
  const redacted = 'the header "Bearer [redacted]" is invalid, [redacted] too';
  expect(bodies.map((body) => JSON.parse(body))).toEqual([expect.objectContaining({ jobId: 'j', message: redacted })]);
});
