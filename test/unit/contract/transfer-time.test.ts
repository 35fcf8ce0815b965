import { expect, it } from 'vitest';
import { timeToReceive, timeToSend } from '../../../src/contract/workflow-safe/transfer-time.js';

it('a call that transfers a file has a timeout that fits a slow connection', () => {
  const largest = Math.ceil((32 * 1024 * 1024 * 4) / 3);
  expect([1_000, 1_000_000, 1_000_001, 10_000_000].map(timeToSend)).toEqual([undefined, undefined, 38_001, 110_000]);
  expect((timeToSend(largest) ?? 0) / 1_000).toBeGreaterThan((largest * 8) / 1_000_000);
  expect([1, 2, 3, 4, 5, 9].map(timeToReceive)).toEqual([undefined, 60_000, 120_000, 240_000, 480_000, 480_000]);
});
