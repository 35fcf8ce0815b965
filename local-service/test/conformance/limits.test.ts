import { expect } from 'vitest';
import { rule } from './rule.js';
import type { Answer } from './target/answer.js';
import { startPeople, type Target } from './target/index.js';

const local = { needs: ['local'] } as const;
const clocked = { needs: ['local', 'clock'] } as const;

const create = (target: Target, body: object = { noEnv: true }): Promise<Answer> =>
  target.call('POST', '/sandboxes', { body });

rule(
  ['limits.rate-limited', 'limits.message', 'trap.S14'],
  'requests above the rate per minute are refused with the time to wait, for each caller separately',
  async () => {
    const { ann, eve, local: target } = await startPeople({ limits: { requestsPerMinute: 3 } });
    target.service.clock.hold();
    await target.service.clock.advance(60_000 - (target.service.clock.now() % 60_000));
    await target.service.clock.advance(15_000);
    for (let count = 0; count < 3; count++) expect((await ann.call('GET', '/me')).status).toBe(200);
    const refused = await ann.call('GET', '/me');
    expect(refused).toMatchObject({
      status: 429,
      body: { code: 'rate_limited', message: expect.stringMatching(/\w/) },
    });
    expect(refused.headers.get('retry-after')).toBe('45');
    expect((await ann.call('GET', '/me', { key: ann.session })).status).toBe(200);
    expect((await eve.call('GET', '/me')).status).toBe(200);
    await target.service.clock.advance(45_000);
    expect((await ann.call('GET', '/me')).status).toBe(200);
  },
  clocked,
);

rule(
  ['limits.daily-limit-reached', 'limits.message'],
  'the daily limit is renewed at midnight, counts deleted sandboxes, and applies to a fork',
  async () => {
    const { ann, eve, local: target } = await startPeople({ limits: { sandboxesPerDay: 1 } });
    const { clock } = target.service;
    clock.hold();
    await clock.advance(86_400_000 - (clock.now() % 86_400_000));
    const id = (await create(ann)).body.sandbox.id;
    await clock.advance(1_000);
    const refused = { status: 429, body: { code: 'daily_limit_reached', message: expect.stringContaining('1') } };
    expect(await create(ann)).toMatchObject(refused);
    expect(await ann.call('POST', `/sandboxes/${id}/fork`)).toMatchObject(refused);
    expect((await create(eve)).status).toBe(202);
    await ann.call('DELETE', `/sandboxes/${id}`, { headers: { 'x-svc-confirm-delete': id } });
    expect(await create(ann)).toMatchObject(refused);
    await clock.advance(86_400_000 - 1_001);
    expect(await create(ann)).toMatchObject(refused);
    await clock.advance(1);
    expect((await create(ann)).status).toBe(202);
  },
  clocked,
);

rule(
  ['limits.limit-reached', 'limits.member-limit-reached', 'limits.message'],
  'a member has a limit within that of the organization, and archived sandboxes do not count',
  async () => {
    const { ann, ben, eve } = await startPeople({ limits: { activeSandboxes: 3, activeSandboxesPerMember: 2 } });
    const id = await ann.ready({ noEnv: true });
    expect((await create(ann)).status).toBe(202);
    const member = await create(ann);
    expect(member).toMatchObject({ status: 429, body: { code: 'member_limit_reached', message: expect.any(String) } });
    expect((await create(ben)).status).toBe(202);
    expect(await create(ben)).toMatchObject({ status: 429, body: { code: 'limit_reached' } });
    for (let count = 0; count < 3; count++) expect((await create(eve)).status).toBe(202);
    expect(await create(eve)).toMatchObject({ status: 429, body: { code: 'limit_reached' } });
    await ann.archive(id);
    expect((await create(ann)).status).toBe(202);
  },
  local,
);

rule(
  ['errors.billing-required', 'errors.account-not-ready'],
  'an account that must pay or is not set up starts no machine, and the first is told where to go',
  async () => {
    const { eve, local: target } = await startPeople();
    const { accounts } = target.service;
    const id = await eve.ready();
    await eve.archive(id);
    const attempts = [
      () => create(eve),
      () => eve.call('POST', `/sandboxes/${id}/fork`),
      () => eve.call('POST', `/sandboxes/${id}/resume`),
    ];
    accounts.update(eve.accountId, { billingRequired: true });
    for (const attempt of attempts) {
      const refused = await attempt();
      expect(refused).toMatchObject({ status: 402, body: { code: 'billing_required' } });
      expect(refused.body.error.details?.billingUrl).toMatch(/^https:\/\//);
    }
    accounts.update(eve.accountId, { billingRequired: false, ready: false });
    for (const attempt of attempts) {
      const refused = await attempt();
      expect(refused).toMatchObject({ status: 409, body: { code: 'account_not_ready' } });
    }
    expect((await eve.call('GET', '/sandboxes')).body.sandboxes).toHaveLength(1);
    accounts.update(eve.accountId, { ready: true });
    for (const attempt of attempts) expect((await attempt()).status).toBe(202);
  },
  local,
);

rule(
  ['errors.trial-auto-stop-required', 'errors.trial-machine-class-not-allowed'],
  'a trial needs auto-stop and has no large machines, whatever requests them',
  async () => {
    const { eve, local: target } = await startPeople();
    target.service.accounts.update(eve.accountId, { trial: true });
    const noStop = { status: 400, body: { code: 'trial_auto_stop_required' } };
    const tooLarge = { status: 403, body: { code: 'trial_machine_class_not_allowed' } };
    for (const body of [{}, { ttlSeconds: null }]) expect(await create(eve, body)).toMatchObject(noStop);
    for (const type of ['large', 'xlarge']) expect(await create(eve, { ttlSeconds: 60, type })).toMatchObject(tooLarge);
    for (const type of ['small', 'default']) {
      expect((await create(eve, { ttlSeconds: 600, type })).status).toBe(202);
    }
    const id = await eve.ready({ ttlSeconds: 600 });
    expect(await eve.call('PATCH', `/sandboxes/${id}`, { body: { ttlSeconds: null } })).toMatchObject(noStop);
    expect((await eve.call('PATCH', `/sandboxes/${id}`, { body: { ttlSeconds: 300 } })).status).toBe(200);
    const fork = (body: object) => eve.call('POST', `/sandboxes/${id}/fork`, { body });
    expect(await fork({ type: 'large' })).toMatchObject(tooLarge);
    expect(await fork({ ttlSeconds: null })).toMatchObject(noStop);
    await eve.archive(id);
    const resume = (body: object) => eve.call('POST', `/sandboxes/${id}/resume`, { body });
    expect(await resume({ type: 'xlarge' })).toMatchObject(tooLarge);
    expect(await resume({ ttlSeconds: null })).toMatchObject(noStop);
    expect((await resume({})).status).toBe(202);
  },
  local,
);

rule(
  'errors.org-suspended',
  'no member of a suspended organization starts a machine; reads and stops still work, and others are not affected',
  async () => {
    const { ann, ben, eve, teamId, local: target } = await startPeople();
    const id = await ann.ready({ noEnv: true });
    const other = await ann.ready({ noEnv: true });
    await ann.archive(other);
    target.service.accounts.updateTeam(teamId, { suspended: true });
    const suspended = { status: 403, body: { code: 'org_suspended', message: expect.stringContaining('Acme') } };
    expect(await create(ann)).toMatchObject(suspended);
    expect(await create(ben)).toMatchObject(suspended);
    expect(await ben.call('POST', `/sandboxes/${other}/resume`)).toMatchObject(suspended);
    expect(await ann.call('POST', `/sandboxes/${id}/fork`)).toMatchObject(suspended);
    expect((await create(eve)).status).toBe(202);
    expect((await ben.call('GET', `/sandboxes/${id}`)).status).toBe(200);
    expect((await ben.archive(id)).state).toBe('archived');
  },
  local,
);

rule(
  'errors.team-member-cap-reached',
  'a member whose limit is used up starts no machine; another member does',
  async () => {
    const { ann, ben, local: target } = await startPeople();
    const { accounts, clock } = target.service;
    clock.hold();
    accounts.update(ann.accountId, { memberCapSeconds: 3_600 });
    const { sandbox } = (await create(ann)).body;
    await clock.advance(60_000);
    await ann.reach(sandbox.id, 'ready');
    expect((await create(ann, { noEnv: true, type: 'small' })).status).toBe(202);
    await clock.advance(3_600_000);
    const refused = await create(ann);
    expect(refused).toMatchObject({ status: 402, body: { code: 'team_member_cap_reached' } });
    expect(refused.body.message).toContain('owner of the organization');
    expect((await create(ben)).status).toBe(202);
    accounts.update(ann.accountId, { memberCapSeconds: null });
    expect((await create(ann)).status).toBe(202);
  },
  clocked,
);
