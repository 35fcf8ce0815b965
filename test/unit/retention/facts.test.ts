import { describe, expect, test } from 'vitest';
import type { Sandbox } from '../../../src/contract/records/sandbox-records.js';
import { factsOf } from '../../../src/retention/facts.js';
import { fitsAny } from '../../../src/retention/glob.js';
import { ownershipOf } from '../../../src/retention/ownership.js';
import { dataExpiresAtMs } from '../../../src/retention/plan.js';

const at = (day: number) => `2026-06-${String(day).padStart(2, '0')}T00:00:00.000Z`;
const sandbox = (over: Partial<Sandbox>): Sandbox => ({
  id: 'bx_22222222',
  name: 'a',
  state: 'ready',
  createdAt: at(1),
  updatedAt: at(2),
  snapshotAvailable: true,
  ...over,
});
const stop = { id: 'stop_1', status: 'completed', requestedAt: null, lastAttemptAt: null, error: null, endedAt: at(4) };

describe('facts of a sandbox', () => {
  test.each<[string, Partial<Sandbox>, string | null]>([
    ['archived: since its stop', { state: 'archived', stop, updatedAt: at(9) }, at(4)],
    ['archived without a known stop: since it last changed', { state: 'archived' }, at(2)],
    ['ready: since it last changed', {}, at(2)],
    [
      'idle: since its agent last renewed the auto-stop',
      { state: 'idle', ttlSeconds: 86_400, archiveAfter: at(6) },
      at(5),
    ],
    ['restored: since its files were there', { hydratedAt: at(3) }, at(3)],
    ['running: not idle', { state: 'running' }, null],
    ['being stopped: unknown', { state: 'archiving' }, null],
    ['without times from the service: unknown', { createdAt: null, updatedAt: null }, null],
  ])('idle, %s', (_, over, since) => {
    expect(factsOf(sandbox(over)).idleSince).toBe(since);
  });

  test.each<[string, Partial<Sandbox>]>([
    ['expired', { state: 'archived', dataExpiredAt: at(9), snapshotAvailable: false }],
    ['none', { snapshotAvailable: false }],
    ['none', { snapshots: false }],
    ['stale', { state: 'archived', snapshotCompletedAt: at(3), lastSnapshotStatus: 'failed' }],
    ['stale', { state: 'ready', snapshotCompletedAt: at(3), lastSnapshotStatus: 'completed' }],
    ['saved', { state: 'archived', snapshotCompletedAt: at(3), lastSnapshotStatus: 'completed' }],
    ['unknown', { state: 'archived' }],
  ])('saved: %s', (saved, over) => {
    expect(factsOf(sandbox(over)).saved).toBe(saved);
  });

  test('S12: the data of a stopped sandbox expires once, 14 days later', () => {
    const stopped = { state: 'archived', stop };
    expect(dataExpiresAtMs(factsOf(sandbox(stopped)))).toBe(Date.parse(at(18)));
    expect(dataExpiresAtMs(factsOf(sandbox({ ...stopped, dataExpiredAt: at(18) })))).toBeUndefined();
    expect(dataExpiresAtMs(factsOf(sandbox({ ...stopped, snapshots: false })))).toBeUndefined();
    expect(dataExpiresAtMs(factsOf(sandbox({})))).toBeUndefined();
  });

  test('leave out moments that no date can hold', () => {
    expect(factsOf(sandbox({ archiveAfter: at(1), ttlSeconds: -1e300 })).idleSince).toBe(at(2));
    const late = { ...stop, endedAt: '+275760-09-13T00:00:00.000Z' };
    expect(dataExpiresAtMs(factsOf(sandbox({ state: 'archived', stop: late })))).toBeUndefined();
  });

  test('are those of the record', () => {
    const full = {
      ...{ access: 'use', archiveAfter: at(7), environment: 'web', createdBy: 'ann', createdById: 'user_1' },
      ...{ cost: { dollars: 3 }, stop, state: 'archived', snapshotCompletedAt: at(3), snapshotVerifiedAt: at(4) },
    } as const;
    expect(factsOf(sandbox(full as Partial<Sandbox>))).toEqual({
      ...{ id: 'bx_22222222', name: 'a', state: 'archived', access: 'use', createdAt: at(1), updatedAt: at(2) },
      ...{ archiveAfter: at(7), environment: 'web', createdBy: 'ann', createdById: 'user_1', dollars: 3 },
      ...{
        stopId: 'stop_1',
        stopStatus: 'completed',
        stopFailingSince: null,
        stopFailedForMs: null,
        stoppedAt: at(4),
        dataExpiredAt: null,
        idleSince: at(4),
      },
      ...{ saved: 'saved', savedAt: at(4) },
    });
  });

  test('that the service does not give are null', () => {
    const { id, name, state, saved, ...unknown } = factsOf({ id: 'bx_a', state: 'archived' } as Sandbox);
    expect({ id, name, state, saved }).toEqual({ id: 'bx_a', name: null, state: 'archived', saved: 'unknown' });
    expect(Object.values(unknown).every((value) => value === null)).toBe(true);
  });

  test.each([
    ['error', at(2)],
    ['provisioning', null],
  ])('idle in the state %s: %s', (state, since) => {
    expect(factsOf(sandbox({ state })).idleSince).toBe(since);
  });

  test('a stop that goes on has not stopped the sandbox', () => {
    expect(factsOf(sandbox({ stop: { ...stop, status: 'pending' } })).stoppedAt).toBeNull();
  });

  test('an auto-stop of unknown length shows no activity', () => {
    expect(factsOf(sandbox({ state: 'idle', archiveAfter: at(6) })).idleSince).toBe(at(2));
    expect(factsOf(sandbox({ state: 'idle', ttlSeconds: 60 })).idleSince).toBe(at(2));
  });

  test('contain no URL and no token', () => {
    const secret = 'https://desktop.example.com/?_token=secret';
    expect(JSON.stringify(factsOf(sandbox({ desktopUrl: secret, url: secret })))).not.toContain('secret');
  });
});

describe('patterns of names', () => {
  test.each([
    ['ci-*', 'ci-1', true],
    ['ci-*', 'ci-', true],
    ['ci-*', 'xci-1', false],
    ['*-ci', 'a-ci-ci', true],
    ['a?c', 'abc', true],
    ['a?c', 'ac', false],
    ['a.c', 'abc', false],
    ['*', '', true],
    ['a*b*c', 'a-b-b-c', true],
    ['a*b*c', 'a-c-b', false],
  ])('%s and %s: %s', (pattern, name, fits) => {
    expect(fitsAny([pattern], name)).toBe(fits);
  });

  test('take no time with many stars', () => {
    expect(fitsAny([`${'*a'.repeat(50)}b`], 'a'.repeat(5_000))).toBe(false);
  });
});

describe('the owner of a sandbox', () => {
  const name = 'sf-mine-job-aaaaaaaaaaaa-main-1';
  const fits = '00000000-0000-7000-8000-aaaaaaaaaaaa';
  const other = '00000000-0000-7000-8000-bbbbbbbbbbbb';
  test.each([
    ['a name of no job', 'mine', undefined, 'none'],
    ['no name', null, undefined, 'unknown'],
    ['a job of another deployment', 'sf-theirs-job-aaaaaaaaaaaa-main-1', undefined, 'other-deployment'],
    ['a workflow that Temporal does not know', name, undefined, 'unknown'],
    ['an execution that runs', name, { isOpen: true, closedFirstRunIds: [] }, 'open'],
    ['a later execution of the same id that runs', name, { isOpen: true, closedFirstRunIds: [fits] }, 'open'],
    ['its execution, closed', name, { isOpen: false, closedFirstRunIds: [fits] }, 'closed'],
    ['another execution, closed', name, { isOpen: false, closedFirstRunIds: [other] }, 'unknown'],
  ] as const)('%s', (_, sandboxName, seen, status) => {
    expect(ownershipOf({ id: 'bx_kept', name: sandboxName }, 'mine', seen).status).toBe(status);
  });
});
