import { expect, it } from 'vitest';
import { createSignalAllowance } from '../../../src/bridge/signal-allowance.js';

it('a workflow gets a limited number of events per minute from each sandbox and from all together', () => {
  let nowMs = 0;
  const allowance = createSignalAllowance(() => nowMs);
  const taken = (workflowId: string, sandboxId: string, times: number): number =>
    Array.from({ length: times }, () => allowance.takes(workflowId, sandboxId)).filter(Boolean).length;
  expect(taken('job', 'forged', 1_000)).toBe(60);
  expect(taken('job', 'own', 10)).toBe(10);
  expect(taken('other', 'forged', 10)).toBe(10);
  for (let index = 0; index < 20; index += 1) taken('job', `forged-${index}`, 60);
  expect(taken('job', 'one more', 60)).toBe(0);
  nowMs = 60_000;
  expect(taken('job', 'own', 60)).toBe(60);
});

it('drops the least recently used entries, and all of them on request', () => {
  const allowance = createSignalAllowance(() => 0);
  const fill = () => Array.from({ length: 100 }, () => allowance.takes('job', 'forged')).at(-1);
  expect(fill()).toBe(false);
  for (let index = 0; index < 11_000; index += 1) allowance.takes(`job-${index}`, 'bx');
  expect(allowance.takes('job', 'forged')).toBe(true);
  expect(fill()).toBe(false);
  allowance.reset();
  expect(allowance.takes('job', 'forged')).toBe(true);
});
