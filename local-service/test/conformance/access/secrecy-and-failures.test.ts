import { expect } from 'vitest';
import { register, startReceiver } from '../../service/webhooks/receiver.js';
import { rule } from '../rule.js';
import { startLocalTarget, useTarget } from '../target/index.js';

const target = useTarget();

rule(
  ['auth.secret-not-logged', 'webhooks.secret-once'],
  'neither keys nor webhook secrets appear in the log, the records or an error',
  async () => {
    const lines: string[] = [];
    const local = await startLocalTarget({
      timings: { stopRetryMs: 20 },
      log: (message, fields) => lines.push(message + JSON.stringify(fields ?? {})),
    });
    const receiver = await startReceiver((response) => void response.writeHead(500).end());
    const { id: webhookId, secret } = await register(local, receiver.url);
    const rotated = (await local.call('POST', `/webhooks/${webhookId}/rotate`)).body.secret;
    await local.arm({ kind: 'stop_fails' });
    const id = await local.ready();
    await local.archive(id);
    const texts = [await local.call('GET', '/nothing'), await local.call('GET', '/webhooks')].map(({ text }) => text);
    const wrong = await local.call('GET', '/me', { key: `${local.key}x` });
    const { books } = local.service;
    const everything = [lines, texts, wrong.text, books.calls(), books.deliveries(), books.summary()];
    const told = JSON.stringify(everything);
    for (const word of [local.key, secret, rotated]) expect(told).not.toContain(word);
  },
  { needs: ['local', 'faults'] },
);

rule(
  ['errors.invalid-json-response', 'errors.stream-failed', 'errors.http-500', 'envelope.ok-false'],
  'failures of the service have the envelope with their codes, and an idempotent call succeeds when repeated',
  async () => {
    const local = await startLocalTarget();
    const failures = [
      [502, 'invalid_json_response'],
      [500, 'stream_failed'],
      [500, 'http_500'],
    ] as const;
    for (const [status, code] of failures) {
      await local.arm({ kind: 'error', endpoint: 'getMe', status, code });
      expect(await local.call('GET', '/me')).toMatchObject({ status, body: { ok: false, code } });
      expect((await local.call('GET', '/me')).status).toBe(200);
    }
  },
  { needs: ['faults'] },
);

rule('webhooks.no-history', 'no path of a webhook shows its deliveries', async () => {
  const created = await target.call('POST', '/webhooks', {
    body: { name: 'history', url: 'https://hooks.example.com/', events: ['sandbox.ready'] },
  });
  const { id } = created.body.webhook;
  for (const path of ['deliveries', 'attempts', 'events', 'history']) {
    expect((await target.call('GET', `/webhooks/${id}/${path}`)).status, path).toBe(404);
  }
  const { body } = await target.call('GET', `/webhooks/${id}`);
  expect(Object.keys(body.webhook)).not.toEqual(expect.arrayContaining(['deliveries']));
});

rule(
  ['prompts.reasoning-effort-accepted', 'prompts.provider-models', 'prompts.reasoning-effort-enum'],
  'each model accepts exactly the levels that the catalog lists for it',
  async () => {
    const local = await startLocalTarget();
    const { providers } = (await local.call('GET', '/provider-models')).body;
    const id = await local.ready();
    const levels = ['none', 'low', 'medium', 'high', 'xhigh', 'max'];
    const outcomes = { taken: 0, refused: 0 };
    for (const { provider, models = [] } of providers) {
      for (const { model, reasoningEfforts = [] } of models) {
        for (const reasoningEffort of levels) {
          const { status } = await local.prompt(id, 'hello', { provider, model, reasoningEffort, new: true });
          const accepts = reasoningEfforts.includes(reasoningEffort);
          expect(status, `${model} ${reasoningEffort}`).toBe(accepts ? 202 : 400);
          outcomes[accepts ? 'taken' : 'refused'] += 1;
        }
      }
    }
    expect(providers.map(({ provider }) => provider).sort()).toEqual(
      ['claude-code', 'codex', 'kimi', 'opencode', 'pi', 'prime-agent'].sort(),
    );
    expect(outcomes.taken).toBeGreaterThan(0);
    expect(outcomes.refused).toBeGreaterThan(0);
  },
  { needs: ['local'] },
);
