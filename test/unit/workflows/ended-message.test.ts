import { expect, test } from 'vitest';
import type { FanoutResult } from '../../../src/protocol/fanout/fanout-result.js';
import { endedMessage } from '../../../workflows/fanout/batch/finish.js';

const batch = (over: object) =>
  ({
    counts: { items: 100, completed: 100, byOutcome: { completed: 100 } },
    error: null,
    budget: { spentSeconds: 0 },
    left: [],
    leftMore: 0,
    ...over,
  }) as unknown as FanoutResult;

test('a batch tells all of its items in one message, with what they cost', () => {
  expect(endedMessage(batch({}))).toBe('100 of 100 completed');
  const counts = { items: 100, completed: 97, byOutcome: { completed: 97, prompt_failed: 2, rejected: 1 } };
  const error = { code: 'failed_fast', message: 'An item failed.' };
  const left = [{ kind: 'sandbox' }];
  expect(endedMessage(batch({ counts, error, budget: { spentSeconds: 18_600 }, left, leftMore: 2 }))).toBe(
    '97 of 100 completed, 2 prompt_failed, 1 rejected. An item failed. It used 310 machine-minutes. ' +
      '3 of what it started may still run and cost machine time',
  );
});
