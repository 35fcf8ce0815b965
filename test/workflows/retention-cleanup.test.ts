import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { archived, clean, holdJob, nameOf, ready, stateOf } from './cleanup-stand.js';
import { createStand, type Stand } from './stand.js';

let stand: Stand;
beforeAll(async () => {
  stand = await createStand();
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
});
