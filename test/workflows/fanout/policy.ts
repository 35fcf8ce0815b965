/** A policy for batches in tests: short, and without limits. */
import type { FanoutPolicy } from '../../../src/protocol/fanout/fanout-input.js';

export const policy: FanoutPolicy = {
  concurrency: 8,
  stopAt: { kind: 'go_on' },
  retries: 0,
  itemDeadlineMs: 600_000,
  deadlineMs: 1_200_000,
  budgetSeconds: null,
  type: null,
  end: 'delete',
  ttlSeconds: 600,
  onUnknownOutcome: 'wait',
};
