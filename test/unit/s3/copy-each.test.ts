/** Tier: unit. */
import { expect, it } from 'vitest';
import { SandflowError } from '../../../src/errors/sandflow-error.js';
import { copyEach } from '../../../src/s3/copy-each.js';

it('nothing more is copied after the first error of the bucket', async () => {
  const begun: number[] = [];
  const copy = async (one: number) => {
    begun.push(one);
    if (one === 0) throw new SandflowError('store_unreachable', 'no network');
    await new Promise((resolve) => setImmediate(resolve));
    return true;
  };
  const copies = copyEach([...Array(20).keys()], copy, { nameOf: String });
  await expect(copies).rejects.toThrow('no network');
  await new Promise((resolve) => setTimeout(resolve, 0));
  for (let turns = 0; turns < 20; turns += 1) await new Promise((resolve) => setImmediate(resolve));
  expect(begun).toEqual([0, 1, 2, 3]);
});
