import { expect } from 'vitest';
import { rule } from '../rule.js';
import { useTarget } from '../target/index.js';

const target = useTarget();
const sandboxOf = async (id: string) => (await target.call('GET', `/sandboxes/${id}`)).body.sandbox;

rule(
  ['sandbox.id-pattern', 'sandboxes.get', 'sandbox.created-by', 'sandbox.access', 'access.owner'],
  'a sandbox is read by its id, and belongs to the account that created it',
  async () => {
    const id = await target.create();
    expect(id).toMatch(/^bx_[23456789abcdefghjkmnpqrstuvwxyz]{8}$/);
    const { body } = await target.call('GET', `/sandboxes/${id}`);
    expect(body.type).toBe('sandbox.info');
    expect(body.sandbox).toMatchObject({
      id,
      access: 'owner',
      createdBy: expect.any(String),
      createdById: expect.any(String),
    });
  },
);

rule(
  ['sandbox.type-current', 'sandbox.vcpu', 'sandbox.memory', 'sandbox.billing-multiplier', 'create.type'],
  'each size has its multiplier, and its guaranteed vCPUs and memory grow with it',
  async () => {
    const multipliers = { small: 0.5, default: 1, large: 2, xlarge: 50 / 9 };
    let before = { vcpu: 0, memoryGB: 0 };
    for (const [type, billingMultiplier] of Object.entries(multipliers)) {
      const sandbox = await sandboxOf(await target.create({ type }));
      expect(sandbox).toMatchObject({ type, billingMultiplier });
      const { vcpu = 0, memoryGB = 0 } = sandbox;
      expect([Number.isInteger(vcpu), Number.isInteger(memoryGB)]).toEqual([true, true]);
      expect(vcpu).toBeGreaterThan(before.vcpu);
      expect(memoryGB).toBeGreaterThan(before.memoryGB);
      before = { vcpu, memoryGB };
    }
    expect((await sandboxOf(await target.create())).type).toBe('default');
  },
);

rule(
  ['sandbox.type-current', 'sandbox.ttl-seconds', 'resume.type-and-ttl'],
  'a resume with another size and time changes both, and one without keeps both',
  async () => {
    const id = await target.ready({ type: 'small', ttlSeconds: 600 });
    await target.archive(id);
    await target.call('POST', `/sandboxes/${id}/resume`, { body: { type: 'large', ttlSeconds: 900 } });
    expect(await target.reach(id, 'ready')).toMatchObject({ type: 'large', billingMultiplier: 2, ttlSeconds: 900 });
    await target.archive(id);
    await target.call('POST', `/sandboxes/${id}/resume`);
    expect(await target.reach(id, 'ready')).toMatchObject({ type: 'large', ttlSeconds: 900 });
  },
);

rule(
  ['sandbox.ttl-seconds', 'sandbox.ttl-null', 'create.ttl', 'sandbox.archive-after', 'sandboxes.patch'],
  'ttlSeconds is the last value of create or PATCH, archiveAfter is that far ahead, and null disables both',
  async () => {
    const id = await target.ready({ ttlSeconds: 600, name: 'before' });
    const created = await sandboxOf(id);
    const ahead = Date.parse(created.archiveAfter ?? '') - Date.parse(created.updatedAt ?? '');
    expect(created.ttlSeconds).toBe(600);
    expect(Math.abs(ahead - 600_000)).toBeLessThan(10_000);
    const { body } = await target.call('PATCH', `/sandboxes/${id}`, { body: { ttlSeconds: 1200, name: 'after' } });
    expect(body.sandbox).toMatchObject({ ttlSeconds: 1200, name: 'after' });
    const moved = Date.parse(body.sandbox.archiveAfter ?? '') - Date.parse(created.archiveAfter ?? '');
    expect(moved).toBeGreaterThan(590_000);
    const off = await target.create({ ttlSeconds: null });
    expect(await sandboxOf(off)).toMatchObject({ ttlSeconds: null, archiveAfter: null });
  },
);

rule(
  ['sandbox.monitoring-off', 'sandbox.snapshots-off', 'create.flags'],
  'snapshots and monitoring are on unless they are disabled at creation',
  async () => {
    expect(await sandboxOf(await target.create())).toMatchObject({ snapshots: true, monitoring: true });
    const off = await target.create({ snapshots: false, monitoring: false });
    expect(await sandboxOf(off)).toMatchObject({ snapshots: false, monitoring: false });
  },
);

rule(
  ['sandbox.machine-provider', 'sandbox.url', 'sandbox.ip', 'sandbox.desktop-available'],
  'an archived sandbox has no machine: no provider, url or address, and no desktop',
  async () => {
    const id = await target.ready();
    expect(await target.archive(id)).toMatchObject({
      machineProvider: null,
      url: null,
      ip: null,
      sshEndpoint: null,
      desktopAvailable: false,
    });
  },
);

rule(
  ['sandbox.health-enum', 'sandbox.health-reason', 'sandbox.degraded-since'],
  'a fully reachable sandbox is ok, without a reason or a time',
  async () => {
    expect(await sandboxOf(await target.ready())).toMatchObject({
      health: 'ok',
      healthReason: null,
      degradedSince: null,
    });
  },
);

rule('sandbox.timestamps', 'updatedAt changes with an update and createdAt does not', async () => {
  const id = await target.ready();
  const before = await sandboxOf(id);
  await expect
    .poll(async () => {
      const { body } = await target.call('PATCH', `/sandboxes/${id}`, { body: { name: 'renamed' } });
      return Date.parse(body.sandbox.updatedAt ?? '');
    })
    .toBeGreaterThan(Date.parse(before.updatedAt ?? ''));
  expect((await sandboxOf(id)).createdAt).toBe(before.createdAt);
});

rule('sandbox.subdomain', 'the subdomain is a stable slug of three words', async () => {
  const id = await target.ready();
  const { subdomain } = await sandboxOf(id);
  expect(subdomain).toMatch(/^[a-z]+-[a-z]+-[a-z]+$/);
  await target.archive(id);
  await target.call('POST', `/sandboxes/${id}/resume`);
  expect(await target.reach(id, 'ready')).toMatchObject({ subdomain });
});

rule(
  ['sandbox.hydration-null-in-lists', 'sandbox.hydrated-from-start'],
  'a sandbox that restored nothing is hydrated from the start and shows no progress',
  async () => {
    const id = await target.create();
    expect(await sandboxOf(id)).toMatchObject({ hydrated: true, hydration: null, hydratedAt: null });
    const { body } = await target.call('GET', '/sandboxes');
    expect(body.sandboxes.find((sandbox) => sandbox.id === id)).toMatchObject({ hydrated: true, hydration: null });
  },
);

rule('trap.S13', 'labels and metadata are not stored: a list can be searched by name', async () => {
  const name = `owner-${Date.now()}`;
  const id = await target.create({ name, labels: { job: 'one' }, metadata: { job: 'one' } });
  const { body } = await target.call('GET', '/sandboxes');
  const found = body.sandboxes.filter((sandbox) => sandbox.name === name);
  expect(found.map((sandbox) => sandbox.id)).toEqual([id]);
  expect(Object.keys(found[0] ?? {})).not.toEqual(expect.arrayContaining(['labels']));
  expect(Object.keys(found[0] ?? {})).not.toEqual(expect.arrayContaining(['metadata']));
});
