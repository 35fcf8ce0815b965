import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Sandbox } from '../../../src/contract/records/sandbox-records.js';
import { createStand, type Stand } from '../workflow-harness.js';
import { archived, begin, clean, cleaned, holdJob, nameOf, policyFor, ready, stateOf } from './cleanup-harness.js';

let stand: Stand;
/** The list of sandboxes that replaces the service's. */
let fleet: Sandbox[] | undefined;
/** The parameters of its calls. */
const queries: Parameters<Stand['api']['listAllSandboxes']>[0][] = [];
beforeAll(async () => {
  stand = await createStand({
    through: (client) => ({
      ...client,
      listAllSandboxes: async (...args) => {
        queries.push(args[0]);
        return fleet ?? client.listAllSandboxes(...args);
      },
    }),
  });
});
afterAll(() => stand.close());

const everything = `
name: all
limits: {maxActions: 100, maxPercent: 100}
protect: [golden-*]
rules:
  - rule: delete what is old
    match: {name: "old-*"}
    action: delete-sandbox
  - rule: orphans
    match: {owned: closed, state: [ready, idle]}
    action: stop
  - rule: everything else of jobs
    match: {name: "sf-*"}
    action: stop
  - rule: golden, too
    match: {name: "golden-*"}
    action: delete-sandbox
`;

describe('a cleanup', () => {
  it('plans without a change, then deletes and stops what is due, and leaves the rest', async () => {
    const old = await archived(stand, 'old-1');
    const golden = await archived(stand, 'golden-1');
    const other = await ready(stand, 'mine');
    const open = await holdJob(stand, 'running-job');
    const owned = await ready(stand, nameOf('running-job', open.runId));
    const ended = await holdJob(stand, 'ended-job');
    await ended.handle.terminate();
    const orphan = await ready(stand, nameOf('ended-job', ended.runId));
    const anotherRun = await ready(stand, nameOf('ended-job', '00000000-0000-7000-8000-abcdefabcdef'));
    const unknown = await ready(stand, nameOf('never-heard-of', ended.runId));
    const theirs = await ready(stand, nameOf('ended-job', ended.runId, 'elsewhere'));

    const before = stand.service.books.calls().length;
    const dry = await clean(stand, everything, { mode: 'plan' });
    expect(dry.summary).toMatchObject({ outcome: 'planned', counts: { deleted: 0, stopped: 0 } });
    expect(dry.summary.planned).toMatchObject({ due: 2, fleet: 8, orphans: 1, unknownOwners: 2 });
    const endpoints = new Set(
      stand.service.books
        .calls()
        .slice(before)
        .map(({ endpoint }) => endpoint),
    );
    expect([...endpoints].filter((name) => name.startsWith('delete') || name.startsWith('stop'))).toEqual([]);

    const done = await clean(stand, everything);
    expect(done.summary).toMatchObject({ outcome: 'applied', counts: { deleted: 1, stopped: 1, failed: 0 } });
    expect(done.of(old)).toBe('deleted');
    expect(done.of(orphan)).toBe('stopped');
    expect(done.of(golden)).toBe('protected');
    expect(done.of(other)).toBe('no_rule');
    expect(done.of(owned)).toBe('owner_open');
    expect(done.of(anotherRun)).toBe('owner_unknown');
    expect(done.of(unknown)).toBe('owner_unknown');
    expect(done.of(theirs)).toBe('other_deployment');
    expect(await stateOf(stand, old)).toBe('gone');
    expect(await stateOf(stand, orphan)).toBe('archived');
    await open.handle.terminate();
  });

  it('requests the cost of sandboxes only if a rule needs it', async () => {
    const id = await ready(stand, 'cost-1');
    const asked = () => queries.filter((query) => query?.include === 'cost');
    const rule = (dollars: number) => policyFor('cost', 'stop').replace('match: {', `match: {costAbove: ${dollars}, `);
    expect((await clean(stand, policyFor('cost', 'stop'), { mode: 'plan' })).of(id)).toBe('stop');
    expect(asked()).toEqual([]);
    expect((await clean(stand, rule(1_000), { mode: 'plan' })).of(id)).toBe('no_rule');
    const dollars = async () => {
      const { sandboxes } = await stand.api.listSandboxes({ include: 'cost' });
      return sandboxes.find((sandbox) => sandbox.id === id)?.cost?.dollars;
    };
    await expect.poll(dollars).toBeGreaterThan(0);
    expect((await clean(stand, rule(0))).of(id)).toBe('stopped');
    expect(asked()).toHaveLength(2);
  });

  it('of ten thousand sandboxes keeps the plan in the result store, and little in history', async () => {
    const [some] = (await stand.api.listSandboxes()).sandboxes;
    if (!some) throw new Error('no sandbox to copy');
    const createdAt = (index: number) => new Date(Date.UTC(2020, 0, 1) + index * 60_000).toISOString();
    fleet = Array.from({ length: 10_000 }, (_, index) => ({
      ...some,
      id: `bx_${String(index).padStart(8, '2')}`,
      name: index % 2 === 0 ? `big-${index}` : nameOf(`big-${index % 50}`, `0197-7000-8000-${'a'.repeat(12)}`),
      state: 'archived',
      createdAt: createdAt(index),
    }));
    const policy = policyFor('big', 'delete-sandbox').replace('maxActions: 1000', 'maxActions: 4000');
    const handle = await begin(stand, policy, { mode: 'plan' });
    const { summary, report } = await cleaned(stand, await handle.result());
    fleet = undefined;
    expect(summary.planned).toMatchObject({ fleet: 10_000, due: 4_000, overLimit: 1_000, unknownOwners: 5_000 });
    expect(report.plan?.entries).toHaveLength(10_000);
    const { events } = await handle.fetchHistory();
    const sizes = (events ?? []).map((event) => JSON.stringify(event).length);
    expect(Math.max(...sizes)).toBeLessThan(200_000);
  });
});
