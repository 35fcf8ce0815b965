import { describe, expect, it } from 'vitest';
import type { SandboxView } from '../../../src/contract/workflow-safe/sandbox-view.js';
import { type FreshnessOptions, freshnessOf, staleness } from '../../../workflows/fanout/source/freshness.js';

const archived: SandboxView = {
  id: 'bx_22222222',
  name: 'by hand',
  state: 'archived',
  error: null,
  hydrated: true,
  setupStatus: null,
  setupError: null,
  ttlSeconds: null,
  createdAt: null,
  access: 'owner',
  snapshots: true,
  snapshotAvailable: true,
  snapshotCompletedAt: '2026-01-01T10:00:05.000Z',
  snapshotVerifiedAt: '2026-01-01T10:00:05.000Z',
  lastSnapshotStatus: 'completed',
  dataExpiredAt: null,
  type: 'default',
  stop: null,
};
const lastStop = { id: 'stop_1', status: 'completed', requestedAt: '2026-01-01T10:00:00.000Z', error: null };
const options: FreshnessOptions = { allowStale: false, lastStop, usedBy: null };
const judge = (over: Partial<SandboxView>, more: Partial<FreshnessOptions> = {}) => {
  const freshness = freshnessOf({ ...archived, ...over }, { ...options, ...more });
  return freshness.kind === 'refuse' ? freshness.error.code : freshness.kind;
};
const allowStale = true;

describe('a source that is archived', () => {
  it('is forked if its snapshot was verified after its stop was requested', () => {
    expect(judge({})).toBe('fork');
    expect(judge({ snapshotVerifiedAt: '2026-01-01T09:59:59.000Z' })).toBe('source_stale');
    expect(judge({ snapshotCompletedAt: '2026-01-01T09:00:00.000Z' })).toBe('fork');
    expect(judge({ lastSnapshotStatus: 'failed' })).toBe('source_stale');
    expect(judge({ snapshotVerifiedAt: null, snapshotCompletedAt: null })).toBe('source_unknown');
  });

  it('is forked anyway if stale sources are allowed, unless there is nothing to fork', () => {
    expect(judge({ lastSnapshotStatus: 'failed' }, { allowStale })).toBe('fork');
    expect(judge({ hydrated: false }, { allowStale })).toBe('fork');
    expect(judge({ snapshotAvailable: false }, { allowStale })).toBe('source_keeps_nothing');
    expect(judge({ dataExpiredAt: '2026-01-15T10:00:00.000Z', snapshotAvailable: false }, { allowStale })).toBe(
      'snapshot_data_expired',
    );
  });

  it('is refused by name if its data is gone or its files were incomplete', () => {
    expect(judge({ dataExpiredAt: '2026-01-15T10:00:00.000Z' })).toBe('snapshot_data_expired');
    expect(judge({ hydrated: false })).toBe('source_not_hydrated');
    expect(judge({ snapshotAvailable: false })).toBe('source_keeps_nothing');
  });
});

describe('a usable source', () => {
  it.each(['ready', 'idle'])('that is %s is stopped, however fresh its snapshot seems', (state) => {
    expect(judge({ state })).toBe('stop');
    expect(judge({ state }, { allowStale })).toBe('fork');
  });

  it('is not stopped if that would interrupt an agent or a job, or lose its content', () => {
    expect(judge({ state: 'running' })).toBe('source_in_use');
    expect(judge({ state: 'idle' }, { usedBy: 'sf-test-job' })).toBe('source_in_use');
    expect(judge({ state: 'idle', snapshots: false, snapshotAvailable: false })).toBe('source_keeps_nothing');
    expect(judge({ state: 'idle', hydrated: false })).toBe('source_not_hydrated');
    expect(judge({ state: 'idle', snapshots: false, snapshotAvailable: false }, { allowStale })).toBe('fork');
  });
});

describe('a source between states', () => {
  it('is awaited, or refused if it cannot become usable', () => {
    expect(judge({ state: 'archiving' })).toBe('wait_archived');
    expect(judge({ state: 'provisioning' })).toBe('wait_usable');
    expect(judge({ state: 'error' })).toBe('source_not_ready');
    expect(judge({ state: 'something new' }, { allowStale })).toBe('source_not_ready');
  });
});

describe('a refusal names the source and says what to do', () => {
  const refusal = (over: Partial<SandboxView>, more: Partial<FreshnessOptions> = {}) => {
    const freshness = freshnessOf({ ...archived, ...over }, { ...options, ...more });
    return freshness.kind === 'refuse' ? freshness.error.message : freshness.kind;
  };
  const orStale = /or allow a stale source \(`--allow-stale`\)/;

  it.each<[string, () => string, RegExp]>([
    [
      'expired',
      () => refusal({ dataExpiredAt: '2026-01-15T10:00:00.000Z' }),
      /on 2026-01-15T.* Fork from another sandbox/,
    ],
    ['in error', () => refusal({ state: 'error', error: 'No disk.' }), /is error: No disk\.\. Repair or replace it/],
    ['in error without a reason', () => refusal({ state: 'error' }), /is error\. Repair or replace it/],
    ['archived too early', () => refusal({ hydrated: false }), /Resume it until it is hydrated and stop it, or allow/],
    ['not hydrated', () => refusal({ state: 'idle', hydrated: false }), /Wait until it is hydrated, or allow/],
    ['without snapshots', () => refusal({ state: 'idle', snapshots: false }), /snapshots off.*`--allow-stale`/],
    ['running', () => refusal({ state: 'running' }), /running agent.*Wait until it is idle or stop it/],
    [
      'used',
      () => refusal({ state: 'idle' }, { usedBy: 'sf-test-job' }),
      /is used by sf-test-job\. Wait until that has ended/,
    ],
    [
      'stale',
      () => refusal({ lastSnapshotStatus: 'failed' }),
      /not saved after its last work.* Resume bx_22222222 and stop it/,
    ],
    [
      'unknown',
      () => refusal({ snapshotVerifiedAt: null, snapshotCompletedAt: null }),
      /does not say when.* Resume bx_22222222/,
    ],
    ['empty', () => refusal({ snapshotAvailable: false }), /has no snapshot/],
    [
      'empty, although stale is allowed',
      () => refusal({ snapshotAvailable: false }, { allowStale }),
      /has no snapshot/,
    ],
  ])('%s', (kind, refused, says) => {
    const message = refused();
    expect(message).toMatch(/^The source bx_22222222 /);
    expect(message).toMatch(says);
    if (['archived too early', 'not hydrated', 'running', 'used', 'stale', 'unknown'].includes(kind)) {
      expect(message).toMatch(orStale);
    }
  });

  it('has a code for each kind of preserved work', () => {
    expect((['saved', 'none', 'stale', null] as const).map((kept) => staleness('bx_1', kept)?.code)).toEqual([
      undefined,
      'source_keeps_nothing',
      'source_stale',
      'source_unknown',
    ]);
    expect(staleness('bx_1', 'none')?.message).toMatch(/nothing to fork/);
  });
});
