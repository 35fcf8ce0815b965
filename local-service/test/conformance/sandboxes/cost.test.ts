import { expect } from 'vitest';
import { rule } from '../rule.js';
import { type LocalTarget, startLocalTarget, useTarget } from '../target/index.js';

const target = useTarget();

rule(
  ['sandbox.cost-included', 'sandbox.cost-shape'],
  'cost is returned with include=cost on the list only, and counts from the first of the month',
  async () => {
    const id = await target.create();
    const of = async (path: string) => {
      const { body } = await target.call('GET', path);
      return body.sandboxes.find((sandbox) => sandbox.id === id);
    };
    expect(await of('/sandboxes')).not.toHaveProperty('cost');
    expect((await target.call('GET', `/sandboxes/${id}?include=cost`)).body.sandbox).not.toHaveProperty('cost');
    const cost = (await of('/sandboxes?include=cost'))?.cost;
    expect(cost).toEqual({ since: expect.any(String), seconds: expect.any(Number), dollars: expect.any(Number) });
    expect(new Date(cost?.since ?? '').toISOString()).toMatch(/^\d{4}-\d{2}-01T00:00:00\.000Z$/);
  },
);

rule('sandbox.cost-included', 'a row with its cost has every other field of the row without it', async () => {
  const id = await target.ready({ ttlSeconds: null });
  const of = async (path: string) => {
    const { body } = await target.call('GET', path);
    return body.sandboxes.find((sandbox) => sandbox.id === id);
  };
  const plain = await of('/sandboxes');
  const { cost, ...rest } = (await of('/sandboxes?include=cost')) ?? {};
  expect(cost).toBeDefined();
  expect(rest).toEqual(plain);
});

async function costs(local: LocalTarget) {
  const { body } = await local.call('GET', '/sandboxes?include=cost');
  return body.sandboxes.map(({ type, cost }) => ({ type, ...cost }));
}

/** Far from the end of a month, when the meter restarts. */
async function midMonth(local: LocalTarget): Promise<void> {
  const now = new Date(local.service.clock.now());
  if (now.getUTCDate() > 25) await local.service.clock.advance(10 * 24 * 3_600_000);
}

rule(
  ['sandbox.cost-multiplier', 'sandbox.cost-dollars'],
  'an hour of each size costs its multiplier, and dollars are proportional to seconds',
  async () => {
    const local = await startLocalTarget();
    await midMonth(local);
    for (const type of ['small', 'default', 'large', 'xlarge']) await local.ready({ type, ttlSeconds: null });
    local.service.clock.hold();
    const before = await costs(local);
    await local.service.clock.advance(3_600_000);
    const after = await costs(local);
    const multipliers: Readonly<Record<string, number>> = { small: 0.5, default: 1, large: 2, xlarge: 50 / 9 };
    expect(after).toHaveLength(4);
    for (const [index, { type = '', seconds = 0, dollars = 0 }] of after.entries()) {
      const passed = seconds - (before[index]?.seconds ?? 0);
      expect(Math.abs(passed - 3_600 * (multipliers[type] ?? 0)), type).toBeLessThanOrEqual(1);
      expect(dollars / seconds).toBeCloseTo((after[0]?.dollars ?? 0) / (after[0]?.seconds ?? 1), 10);
    }
  },
  { needs: ['clock'] },
);

rule(
  ['sandbox.cost-same-meter', 'sandboxes.usage'],
  'usage reads the same meter as cost',
  async () => {
    const local = await startLocalTarget();
    await midMonth(local);
    const id = await local.ready({ type: 'large', ttlSeconds: null });
    local.service.clock.hold();
    await local.service.clock.advance(7_200_000);
    const [cost] = (await local.call('GET', '/sandboxes?include=cost')).body.sandboxes.map((sandbox) => sandbox.cost);
    const { body } = await local.call('GET', `/sandboxes/${id}/usage`);
    expect(body.type).toBe('sandbox.usage');
    expect(body.usage).toEqual(cost);
    expect(cost?.seconds).toBeGreaterThanOrEqual(14_400);
  },
  { needs: ['clock'] },
);

rule(
  ['sandbox.cost-multiplier', 'sandbox.cost-same-meter', 'sandbox.type-current'],
  'each stretch is billed by the size that the machine had in it',
  async () => {
    const local = await startLocalTarget();
    await midMonth(local);
    const id = await local.ready({ type: 'small', ttlSeconds: null });
    const seconds = async () => Number((await local.call('GET', `/sandboxes/${id}/usage`)).body.usage.seconds);
    local.service.clock.hold();
    const archive = async () => {
      await local.call('POST', `/sandboxes/${id}/stop`);
      await local.service.clock.advance(1_000);
      await local.reach(id, 'archived');
    };
    await local.service.clock.advance(7_200_000);
    await archive();
    const small = await seconds();
    expect(small).toBeGreaterThanOrEqual(3_600);
    await local.call('POST', `/sandboxes/${id}/resume`, { body: { type: 'xlarge' } });
    await local.service.clock.advance(1_000);
    await local.reach(id, 'ready');
    const resumed = await seconds();
    expect(resumed - small).toBeLessThan(600);
    await local.service.clock.advance(3_600_000);
    expect(Math.abs((await seconds()) - resumed - 20_000)).toBeLessThan(600);
    await archive();
    expect((await costs(local))[0]?.seconds).toBeGreaterThanOrEqual(resumed + 20_000);
  },
  { needs: ['clock'] },
);
