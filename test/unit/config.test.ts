import { describe, expect, it } from 'vitest';
import { readConfig } from '../../src/config.js';

const read = (forksPerSecond?: string) =>
  readConfig({ HOME: '/home/nobody', SANDFLOW_FORKS_PER_SECOND: forksPerSecond }).forksPerSecond;

describe('the rate of forks', () => {
  it('is 20 a second unless it is set, also to less than one', () => {
    expect([read(), read(''), read('0.5')]).toEqual([20, 20, 0.5]);
  });

  it.each(['0', '-1', 'many', 'Infinity'])('cannot be %s', (text) => {
    expect(() => read(text)).toThrow(/SANDFLOW_FORKS_PER_SECOND must be a number above 0/);
  });
});
