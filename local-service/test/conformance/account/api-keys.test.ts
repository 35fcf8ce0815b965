import { expect } from 'vitest';
import { rule } from '../rule.js';
import { scopedKey, startPeople } from '../target/index.js';

const local = { needs: ['local'] } as const;
const dayMs = 24 * 3_600_000;

rule(
  [
    'api-keys.id-form',
    'api-keys.row',
    'api-keys.secret-once',
    'api-keys.list-no-secret',
    'api-keys.creation-enabled-reported',
  ],
  'a key is created and listed with its public fields, and its secret shows once',
  async () => {
    const { ann } = await startPeople();
    const created = await ann.call('POST', '/api-keys/scoped', {
      body: { name: 'build', preset: 'ci', ttlSeconds: 60 },
    });
    expect(created).toMatchObject({ status: 201, body: { type: 'api_key.created', secret: expect.any(String) } });
    const { secret, apiKey } = created.body;
    expect(apiKey.id).toMatch(/^sak_[0-9a-f]{24}$/);
    expect((await ann.call('GET', '/limits', { key: secret })).status).toBe(403);
    const { body, text } = await ann.call('GET', '/api-keys');
    expect(body).toMatchObject({ type: 'api_key.list', catalog: { scopedCreationEnabled: true } });
    expect(body.apiKeys.find(({ id }) => id === apiKey.id)).toMatchObject({
      name: 'build',
      prefix: 'svc_key_',
      lastFour: secret.slice(-4),
      scope: { preset: 'ci', actions: expect.arrayContaining(['sandbox.create', 'exec']), sandboxes: null },
      expiresAt: expect.stringMatching(/Z$/),
      lastUsedAt: expect.stringMatching(/Z$/),
      usage: { requests: 1 },
      resources: { total: 0 },
    });
    const { body: usage, text: usageText } = await ann.call('GET', `/api-keys/${apiKey.id}/usage`);
    expect(usage.type).toBe('api_key.usage');
    for (const shown of [text, usageText]) expect(shown).not.toContain(secret);
  },
  local,
);

rule(
  ['api-keys.list-restricted', 'api-keys.list-full', 'api-keys.create-session'],
  'sessions, account keys and unlimited admin keys list and create keys; restricted keys get an empty list',
  async () => {
    const { ann, ben } = await startPeople();
    const id = await ann.create();
    const admin = await scopedKey(ann, { preset: 'admin' }, ann.session);
    const byAdmin = await scopedKey(ann, { preset: 'read-only' }, admin.secret);
    await scopedKey(ben);
    for (const key of [ann.key, ann.session, admin.secret]) {
      const { body } = await ann.call('GET', '/api-keys', { key });
      expect(body.apiKeys.map(({ name }) => name)).toEqual(['Account key', 'scoped', 'scoped']);
    }
    const limited = await scopedKey(ann, { preset: 'admin', sandboxes: [id] });
    const reader = await scopedKey(ann, { actions: ['account.read', 'account.admin'] });
    for (const key of [limited.secret, reader.secret]) {
      expect(await ann.call('GET', '/api-keys', { key })).toMatchObject({ status: 200, body: { apiKeys: [] } });
      const refused = await ann.call('POST', '/api-keys/scoped', { key, body: { name: 'more', preset: 'admin' } });
      expect(refused.status).toBe(403);
    }
    const refused = await ann.call('POST', '/api-keys/scoped', { key: byAdmin.secret, body: { name: 'more' } });
    expect(refused).toMatchObject({ status: 403, body: { code: 'api_key_action_forbidden' } });
    const list = await ann.call('GET', '/api-keys', { key: byAdmin.secret });
    expect(list).toMatchObject({ status: 200, body: { apiKeys: [], catalog: { scopedCreationEnabled: true } } });
  },
  local,
);

rule(
  ['api-keys.create-disabled', 'api-keys.creation-enabled-reported'],
  'while scoped key creation is off, it answers a typed 503, and the catalog says so',
  async () => {
    const { ann, local: target } = await startPeople();
    target.service.accounts.setScopedKeyCreation(false);
    const refused = await ann.call('POST', '/api-keys/scoped', { body: { name: 'late' } });
    expect(refused).toMatchObject({ status: 503, body: { code: 'scoped_key_creation_disabled' } });
    expect((await ann.call('GET', '/api-keys')).body.catalog.scopedCreationEnabled).toBe(false);
    target.service.accounts.setScopedKeyCreation(true);
    await scopedKey(ann);
  },
  local,
);

rule(
  [
    'api-keys.default-admin-90-days',
    'api-keys.ttl-max',
    'api-keys.preset-or-actions',
    'scope.new-keys-expire',
    'scope.older-keys',
  ],
  'a new key has a scope and expires in 90 days by default and 365 at most; older keys do not',
  async () => {
    const { ann, local: target } = await startPeople();
    target.service.clock.hold();
    const create = (body: object) => ann.call('POST', '/api-keys/scoped', { body: { name: 'key', ...body } });
    const lifeDays = async (body: object) => {
      const { apiKey } = (await create(body)).body;
      return (Date.parse(apiKey.expiresAt ?? '') - target.service.clock.now()) / dayMs;
    };
    expect((await create({})).body.apiKey.scope).toMatchObject({ preset: 'admin', actions: ['*'], sandboxes: null });
    expect(await lifeDays({})).toBe(90);
    expect(await lifeDays({ preset: 'read-only' })).toBe(90);
    expect(await lifeDays({ actions: ['exec'], ttlSeconds: 365 * 86_400 })).toBe(365);
    for (const body of [
      { ttlSeconds: 365 * 86_400 + 1 },
      { ttlSeconds: 0 },
      { preset: 'ci', actions: ['exec'] },
      { actions: [] },
      { actions: ['no.such.action'] },
      { preset: 'no-such-preset' },
      { sandboxes: [] },
      { environments: [] },
      { name: '' },
    ]) {
      expect((await create(body)).status, JSON.stringify(body)).toBe(400);
    }
    const { apiKeys } = (await ann.call('GET', '/api-keys')).body;
    expect(apiKeys.find(({ name }) => name === 'Account key')).toMatchObject({ scope: null, expiresAt: null });
    await target.service.clock.advance(366 * dayMs);
    expect((await ann.call('GET', '/me')).status).toBe(200);
  },
  { needs: ['local', 'clock'] },
);

rule(
  ['api-keys.expired', 'api-keys.rotate-expired'],
  'an expired key gets its typed 403, and cannot be rotated',
  async () => {
    const { ann, local: target } = await startPeople();
    target.service.clock.hold();
    const { id, secret } = await scopedKey(ann, { ttlSeconds: 3_600 });
    await target.service.clock.advance(3_599_000);
    expect((await ann.call('GET', '/me', { key: secret })).status).toBe(200);
    await target.service.clock.advance(1_000);
    for (const path of ['/me', '/sandboxes', '/nothing']) {
      const refused = await ann.call('GET', path, { key: secret });
      expect(refused, path).toMatchObject({ status: 403, body: { code: 'api_key_expired' } });
    }
    const rotated = await ann.call('POST', `/api-keys/${id}/rotate`, { key: ann.session });
    expect(rotated).toMatchObject({ status: 409, body: { code: 'api_key_expired' } });
    expect((await ann.call('GET', `/api-keys/${id}/usage`)).status).toBe(200);
  },
  { needs: ['local', 'clock'] },
);
