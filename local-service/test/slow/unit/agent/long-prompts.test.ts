import { describe, expect, it } from 'vitest';
import { fencedBlocks } from '../../../../src/agent/shell-blocks.js';

describe('the shell blocks of a prompt', () => {
  it.each([
    ['marks', (length: number) => '`'.repeat(length)],
    ['spaces', (length: number) => ' '.repeat(length)],
    ['marks after a space', (length: number) => ` ${'~'.repeat(length)} x`],
    ['marks in a block', (length: number) => `~~~\n${'~'.repeat(length)} x`],
    ['spaces in a block', (length: number) => `~~~\n${' '.repeat(length)}\n~~~${' '.repeat(length)}x`],
    ['lines that open a block', (length: number) => '~~~ `\n'.repeat(length / 5)],
  ])('are found in a long prompt of %s in linear time', (_name, promptOf) => {
    const time = (length: number) => {
      const prompt = promptOf(length);
      const before = process.cpuUsage();
      fencedBlocks(prompt);
      const { user, system } = process.cpuUsage(before);
      return user + system;
    };
    const best = (length: number) => Math.min(...Array.from({ length: 3 }, () => time(length)));
    // Ten for linear work, a hundred for quadratic work.
    expect(best(200_000)).toBeLessThan(40 * Math.max(best(20_000), 1_000));
  });
});
