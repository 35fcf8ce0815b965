import { expect, it } from 'vitest';
import { requireDifferent } from '../../../../src/cli/fanout/resume-batch.js';
import type { FanoutSource } from '../../../../src/protocol/fanout/fanout-input.js';

it('one prompt for all items of a resume is refused, but not for items with sources of their own', () => {
  const planned = (id: string, source?: FanoutSource) =>
    ({ item: { id, prompts: [{ prompt: 'Fix it.' }] }, before: 'prompt_failed', ...(source && { source }) }) as const;
  const snapshot = (from: string): FanoutSource => ({ kind: 'snapshot', from, body: {} });
  expect(() => requireDifferent([planned('a'), planned('b')])).toThrow('gives every item the same prompt');
  expect(() => requireDifferent([planned('a', snapshot('x')), planned('b', snapshot('x'))])).toThrow('the same prompt');
  requireDifferent([planned('a', snapshot('x')), planned('b', snapshot('y'))]);
  requireDifferent([planned('a'), planned('b', snapshot('y'))]);
});
