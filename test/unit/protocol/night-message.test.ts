import { expect, test } from 'vitest';
import type { CleanupSummary } from '../../../src/protocol/cleanup.js';
import { nightMessage } from '../../../src/protocol/night-message.js';

const none = {
  stopped: 0,
  deleted: 0,
  gone: 0,
  escalating: 0,
  skipped: 0,
  failed: 0,
  not_confirmed: 0,
  not_reached: 0,
};
const night: CleanupSummary = {
  workflowId: 'w',
  policy: 'nightly',
  outcome: 'applied',
  startedAt: '',
  endedAt: '',
  planned: null,
  counts: none,
  machinesLeft: 0,
  reportRef: null,
  apiCalls: 0,
  error: null,
};

test('a night is told in one line: done, skipped, not confirmed, and what it costs to leave it', () => {
  expect(nightMessage(night)).toBe('nightly: nothing to do');
  const counts = { ...none, stopped: 3, deleted: 12, skipped: 2, failed: 1, not_confirmed: 1 };
  expect(nightMessage({ ...night, counts, machinesLeft: 2 })).toBe(
    'nightly: 3 stopped, 12 deleted, 2 skipped, 1 failed, 1 not confirmed. 2 machines that should have ended still cost machine time',
  );
});

test('a night that failed says why', () => {
  const error = { code: 'unauthorized', message: 'the key was revoked' } as CleanupSummary['error'];
  expect(nightMessage({ ...night, outcome: 'failed', machinesLeft: null, error })).toBe(
    'nightly: nothing to do. the key was revoked',
  );
});
