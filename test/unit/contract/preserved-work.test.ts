import { describe, expect, it } from 'vitest';
import { sandboxView } from '../../../activities/sandbox-view.js';
import { preservedWorkOf } from '../../../src/contract/workflow-safe/preserved-work.js';

const stop = { id: 'stop_1', status: 'completed', requestedAt: '2026-01-01T10:00:00Z', error: null };
const sandbox = (fields: Record<string, unknown>) => sandboxView({ id: 'bx_22222222', state: 'archived', ...fields });

describe('preservedWorkOf', () => {
  it.each([
    [
      'saved',
      { snapshotAvailable: true, lastSnapshotStatus: 'completed', snapshotCompletedAt: '2026-01-01T10:00:05Z' },
    ],
    [
      'saved',
      {
        snapshotAvailable: true,
        snapshotCompletedAt: '2026-01-01T09:00:00Z',
        snapshotVerifiedAt: '2026-01-01T10:00:05Z',
      },
    ],
    [
      'stale',
      { snapshotAvailable: true, lastSnapshotStatus: 'completed', snapshotCompletedAt: '2026-01-01T09:59:59Z' },
    ],
    ['saved', { snapshotAvailable: true, snapshotCompletedAt: '2026-01-01T10:00:00Z' }],
    [null, { snapshotCompletedAt: '2026-01-01T10:00:05Z' }],
    ['stale', { snapshotAvailable: true, lastSnapshotStatus: 'failed', snapshotCompletedAt: '2026-01-01T10:00:05Z' }],
    ['none', { snapshots: false, snapshotAvailable: false }],
    ['none', { snapshotAvailable: false, lastSnapshotStatus: 'failed' }],
    [null, {}],
    [null, { snapshotAvailable: true }],
  ])('says %s for %j', (kept, fields) => {
    expect(preservedWorkOf(sandbox(fields), stop)).toBe(kept);
  });

  it('trusts a completed snapshot if the time of the request is unknown', () => {
    const saved = sandbox({
      snapshotAvailable: true,
      lastSnapshotStatus: 'completed',
      snapshotCompletedAt: '2026-01-01T09:00:00Z',
    });
    expect(preservedWorkOf(saved, { ...stop, requestedAt: null })).toBe('saved');
  });
});
