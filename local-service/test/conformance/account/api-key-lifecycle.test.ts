import { readFile } from 'node:fs/promises';
import { expect } from 'vitest';
import { rule } from '../rule.js';
import { scopedKey, startLocalTarget, startPeople } from '../target/index.js';

const local = { needs: ['local'] } as const;

rule(
  ['api-keys.rotate-session', 'api-keys.revoke-session'],
  'rotate and revoke are refused to every API key, and accepted from a session of the same account only',
  async () => {
    const { ann, eve } = await startPeople();
    for (const [method, verb] of [
      ['POST', '/rotate'],
      ['DELETE', ''],
    ] as const) {
      const { id, secret } = await scopedKey(ann);
      const path = `/api-keys/${id}${verb}`;
      for (const key of [ann.key, secret]) {
        expect(await ann.call(method, path, { key })).toMatchObject({ status: 403, body: { code: 'forbidden' } });
      }
      expect(await eve.call(method, path, { key: eve.session })).toMatchObject({
        status: 404,
        body: { code: 'not_found' },
      });
      expect((await ann.call('GET', '/me', { key: secret })).status).toBe(200);
      expect((await ann.call(method, path, { key: ann.session })).status).toBe(200);
    }
  },
  local,
);

rule(
  ['api-keys.rotate-revokes', 'api-keys.rotate-keeps', 'api-keys.secret-once'],
  'rotate ends the old secret at once and returns a new one, and id, name, scope and expiry stay',
  async () => {
    const { ann } = await startPeople();
    const { id, secret } = await scopedKey(ann, { name: 'turning', preset: 'read-only', ttlSeconds: 7_200 });
    const read = async () => (await ann.call('GET', '/api-keys')).body.apiKeys.find((key) => key.id === id);
    const before = await read();
    const rotated = await ann.call('POST', `/api-keys/${id}/rotate`, { key: ann.session });
    expect(rotated.body).toMatchObject({ type: 'api_key.rotated', apiKey: { id } });
    expect((await ann.call('GET', '/sandboxes', { key: secret })).status).toBe(401);
    expect((await ann.call('GET', '/sandboxes', { key: rotated.body.secret })).status).toBe(200);
    expect((await ann.call('GET', '/me', { key: rotated.body.secret })).body.code).toBe('api_key_action_forbidden');
    const after = await read();
    for (const field of ['name', 'scope', 'expiresAt', 'createdAt'] as const) {
      expect(after?.[field], field).toEqual(before?.[field]);
    }
    expect(after?.lastFour).toBe(rotated.body.secret.slice(-4));
  },
  local,
);

rule(
  ['api-keys.rotate-legacy', 'scope.older-keys'],
  'a key from before scopes stays account-wide and without expiry when it is rotated, also after a restart',
  async () => {
    const target = await startLocalTarget();
    const session = target.service.accounts.createSession('acct_local');
    const [old] = (await target.call('GET', '/api-keys')).body.apiKeys;
    const rotated = await target.call('POST', `/api-keys/${old?.id}/rotate`, { key: session });
    const { secret } = rotated.body;
    expect(rotated.body.apiKey).toMatchObject({ id: old?.id, scope: null, expiresAt: null });
    expect((await target.call('POST', '/sandboxes', { key: secret })).status).toBe(202);
    const { directory } = target;
    await target.service.close();
    const again = await startLocalTarget({ directory });
    expect((await again.call('GET', '/me')).status).toBe(401);
    expect((await again.call('GET', '/api-keys', { key: secret })).body.apiKeys).toHaveLength(1);
  },
  local,
);

rule(
  ['api-keys.row-usage', 'api-keys.row-resources', 'api-keys.usage'],
  'usage counts the requests of 30 days and the existing resources that the key created',
  async () => {
    const { ann, local: target } = await startPeople();
    target.service.clock.hold();
    const { id, secret: key } = await scopedKey(ann);
    const usage = async () => (await ann.call('GET', `/api-keys/${id}/usage`)).body;
    expect(await usage()).toMatchObject({ usage: { requests: 0 }, resources: { total: 0 } });
    const { body } = await ann.call('POST', '/sandboxes', { key, body: { noEnv: true } });
    const sandboxId = body.sandbox.id;
    await ann.create();
    await target.service.clock.advance(1_000);
    await ann.reach(sandboxId, 'ready');
    for (const conversation of [{}, {}, { new: true }]) {
      const prompt = { prompt: 'Say hello.', ...conversation };
      expect((await ann.call('POST', `/sandboxes/${sandboxId}/prompt`, { key, body: prompt })).status).toBe(202);
    }
    await ann.prompt(sandboxId, 'Say hello.', { new: true });
    await ann.call('GET', '/nothing', { key });
    expect(await usage()).toMatchObject({
      usage: { requests: 5 },
      resources: { total: 3, sandboxes: 1, agents: 2 },
    });
    const row = (await ann.call('GET', '/api-keys')).body.apiKeys.find((entry) => entry.id === id);
    expect(row).toMatchObject({ usage: { requests: 5 }, resources: { total: 3, sandboxes: 1, agents: 2 } });
    await target.service.clock.advance(29 * 86_400_000);
    await ann.call('GET', '/me', { key });
    expect((await usage()).usage.requests).toBe(6);
    await target.service.clock.advance(2 * 86_400_000);
    expect((await usage()).usage.requests).toBe(1);
    await ann.call('DELETE', `/sandboxes/${sandboxId}`, { headers: { 'x-svc-confirm-delete': sandboxId } });
    expect((await usage()).resources).toMatchObject({ total: 0, sandboxes: 0, agents: 0 });
  },
  { needs: ['local', 'clock'] },
);

rule(
  ['api-keys.revoke-at-once', 'api-keys.revoke-keeps-resources', 'api-keys.usage-after-revocation'],
  'a revoked key fails authentication at once, and its resources and usage stay',
  async () => {
    const { ann } = await startPeople();
    const { id, secret: key } = await scopedKey(ann);
    const { sandbox } = (await ann.call('POST', '/sandboxes', { key })).body;
    const revoked = await ann.call('DELETE', `/api-keys/${id}`, { key: ann.session });
    expect(revoked).toMatchObject({ status: 200, body: { type: 'api_key.revoked' } });
    const refused = await ann.call('GET', '/sandboxes', { key });
    expect(refused).toMatchObject({ status: 401, body: { code: 'unauthorized' } });
    await ann.reach(sandbox.id, 'ready');
    const { body } = await ann.call('GET', `/api-keys/${id}/usage`);
    expect(body).toMatchObject({ usage: { requests: 1 }, resources: { total: 1, sandboxes: 1 } });
    expect((await ann.call('GET', '/api-keys')).body.apiKeys.map((entry) => entry.id)).not.toContain(id);
    for (const [method, path] of [
      ['POST', `/api-keys/${id}/rotate`],
      ['DELETE', `/api-keys/${id}`],
    ] as const) {
      expect((await ann.call(method, path, { key: ann.session })).status).toBe(404);
    }
  },
  local,
);

rule(
  'auth.secret-not-logged',
  'the database contains no secret of a key or session',
  async () => {
    const { ann, local: target } = await startPeople();
    const { secret } = await scopedKey(ann);
    await ann.call('GET', '/me', { key: secret });
    const { directory } = target;
    await target.service.close();
    const stored = await readFile(`${directory}/service.db`);
    expect(stored.includes('svc_key_')).toBe(true);
    for (const kept of [secret, ann.session, ann.key]) expect(stored.includes(kept)).toBe(false);
  },
  local,
);
