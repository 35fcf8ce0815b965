import { expect } from 'vitest';
import { rule } from '../rule.js';
import { scopedKey, startLocalTarget, startPeople, useTarget } from '../target/index.js';

const target = useTarget();
const local = { needs: ['local'] } as const;

rule('account.me', 'GET /me returns the account of the key, and of a session', async () => {
  const { status, body } = await target.call('GET', '/me');
  expect(status).toBe(200);
  expect(body.type).toBe('user.info');
  expect(Object.keys(body.user)).toEqual(
    expect.arrayContaining(['login', 'email', 'zeroDataRetention', 'zeroDataRetentionEnabledAt']),
  );
});

rule(
  'account.me',
  'GET /me returns the own account for each key',
  async () => {
    const { ann, eve } = await startPeople();
    for (const person of [ann, eve]) {
      for (const key of [person.key, person.session]) {
        expect((await person.call('GET', '/me', { key })).body.user).toEqual({
          login: person.login,
          email: `${person.login}@sandbox.invalid`,
          zeroDataRetention: false,
          zeroDataRetentionEnabledAt: null,
        });
      }
    }
  },
  local,
);

rule('account.retention-read', 'GET /account/data-retention reads the policy', async () => {
  const { status, body } = await target.call('GET', '/account/data-retention');
  expect(status).toBe(200);
  expect(body).toMatchObject({
    type: 'account.data_retention',
    policy: { snapshotDays: 14, zeroDataRetention: expect.any(Boolean) },
  });
});

rule(
  ['account.retention-update', 'auth.retention-session', 'account.me'],
  'the policy can be changed in a session, is refused to every API key, and shows at /me of that account only',
  async () => {
    const { ann, ben, local: service } = await startPeople();
    service.service.clock.hold();
    const admin = await scopedKey(ann, { preset: 'admin' });
    const patch = (key: string, body: unknown = { zeroDataRetention: true }) =>
      ann.call('PATCH', '/account/data-retention', { key, body });
    for (const key of [ann.key, admin.secret]) {
      expect(await patch(key)).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    }
    const me = async () => (await ann.call('GET', '/me')).body.user;
    expect(await me()).toMatchObject({ zeroDataRetention: false, zeroDataRetentionEnabledAt: null });
    const enabledAt = service.service.clock.iso();
    expect((await patch(ann.session)).body.policy).toEqual({ snapshotDays: 14, zeroDataRetention: true });
    await service.service.clock.advance(60_000);
    await patch(ann.session);
    expect(await me()).toMatchObject({ zeroDataRetention: true, zeroDataRetentionEnabledAt: enabledAt });
    expect((await ben.call('GET', '/me')).body.user.zeroDataRetention).toBe(false);
    expect((await patch(ann.session, {})).body.code).toBe('no_changes');
    expect((await patch(ann.session, { zeroDataRetention: 'yes' })).body.code).toBe('invalid_request');
    expect((await patch(ann.session, { zeroDataRetention: false })).body.policy?.zeroDataRetention).toBe(false);
    expect(await me()).toMatchObject({ zeroDataRetention: false, zeroDataRetentionEnabledAt: null });
  },
  { needs: ['local', 'clock'] },
);

rule(
  'account.limits',
  'GET /limits shows usage and limits of the billed account or organization',
  async () => {
    const none = await startLocalTarget();
    const unlimited = { sandboxes: { used: 0, max: null }, dailySandboxes: { used: 0, max: null } };
    expect((await none.call('GET', '/limits')).body.limits).toMatchObject({ ...unlimited, requestsPerMinute: null });

    const limits = { activeSandboxes: 5, sandboxesPerDay: 7, requestsPerMinute: 1_000 };
    const { ann, ben, eve } = await startPeople({ limits });
    const id = await ann.ready();
    await ben.create();
    await eve.create();
    await ann.archive(id);
    const body = { name: 'a', url: 'https://hooks.example.com/a', events: ['sandbox.ready'] };
    await ann.call('POST', '/webhooks', { body });
    const ofTeam = {
      sandboxes: { used: 1, max: 5 },
      dailySandboxes: { used: 2, max: 7 },
      requestsPerMinute: 1_000,
    };
    expect((await ann.call('GET', '/limits')).body).toMatchObject({
      type: 'account.limits',
      limits: { ...ofTeam, webhooks: { used: 1, max: 10 } },
    });
    expect((await ben.call('GET', '/limits')).body.limits).toEqual({ ...ofTeam, webhooks: { used: 0, max: 10 } });
    expect((await eve.call('GET', '/limits')).body.limits).toMatchObject({
      sandboxes: { used: 1, max: 5 },
      dailySandboxes: { used: 1, max: 7 },
    });
  },
  local,
);
