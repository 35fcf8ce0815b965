import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { checkItems } from '../../../../src/cli/fanout/checked-items.js';
import type { ItemWish } from '../../../../src/fanout/index.js';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'sandflow-checked-'));
  vi.stubEnv('TMPDIR', folder);
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await rm(folder, { recursive: true });
});

const wish = (id: string): ItemWish => ({
  id,
  place: { file: 'items.csv', line: 2 },
  prompts: [{ prompt: 'line one\nline two\u2028\r' }],
  put: [{ local: 'a', remote: 'b' }],
  labels: { a: '"' },
  columns: { a: 'x\u2029y', b: '' },
});
async function* wishes(...ids: string[]) {
  for (const id of ids) yield wish(id);
}

async function all(items: AsyncIterable<ItemWish>): Promise<ItemWish[]> {
  const found: ItemWish[] = [];
  for await (const item of items) found.push(item);
  return found;
}

const { signal } = new AbortController();

describe('the checked items of a batch', () => {
  it('are read no further after an interruption, also if stdin is silent, and leave nothing on the disk', async () => {
    const interrupted = new AbortController();
    const silent = async function* () {
      yield wish('a');
      interrupted.abort(new Error('interrupted'));
      await new Promise(() => undefined);
    };
    const check = async () => undefined;
    await expect(checkItems(silent(), { check, signal: interrupted.signal })).rejects.toThrow('interrupted');
    expect(await readdir(folder)).toEqual([]);
  });

  it('are read from their files once, and can then be read again and again', async () => {
    const seen: string[] = [];
    const checked = await checkItems(wishes('a', 'b'), {
      signal,
      check: async ({ id }) => {
        seen.push(id);
      },
    });
    for (const _ of [1, 2]) expect(await all(checked.items())).toEqual([wish('a'), wish('b')]);
    expect(seen).toEqual(['a', 'b']);
    await checked.close();
    expect(await readdir(folder)).toEqual([]);
  });

  it('leave nothing on the disk if one of them is wrong', async () => {
    const check = async ({ id }: ItemWish) => {
      if (id === 'b') throw new Error('b is wrong');
    };
    await expect(checkItems(wishes('a', 'b'), { check, signal })).rejects.toThrow('b is wrong');
    expect(await readdir(folder)).toEqual([]);
  });
});
