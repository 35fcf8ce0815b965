import { expect, it } from 'vitest';
import { exitCodeOfEnd, exitCodes, isOfEnd } from '../../../src/cli/exit-codes.js';

it('each way in which a job ends has a code that says so, and no other code does', () => {
  const ended = { kind: 'ended', isDone: false } as const;
  const ends = [{ ...ended, isDone: true }, ended, { ...ended, isUnverified: true }, { ...ended, isOfOthers: true }];
  const codes = ends.map(exitCodeOfEnd);
  expect(codes).toEqual([0, 1, 5, 6]);
  const others = [exitCodeOfEnd({ kind: 'detached' }), exitCodeOfEnd({ kind: 'deadline' }), exitCodes.internal];
  expect(others.map(isOfEnd)).toEqual([false, false, false]);
  expect(codes.map(isOfEnd)).toEqual([true, true, true, true]);
});
