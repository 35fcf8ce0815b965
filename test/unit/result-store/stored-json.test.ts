import { expect, it } from 'vitest';
import { createResultStore } from '../../../src/result-store/index.js';
import { readStoredJson, storedJson } from '../../../src/result-store/stored-json.js';
import { temporaryDirectory } from '../cli/temporary-directory.js';

it('an object is read as it was stored, and one of another version or without one is refused by its reference', async () => {
  const store = createResultStore(await temporaryDirectory());
  const { ref } = await store.put('a', storedJson({ index: 7 }));
  expect(await readStoredJson(store, ref)).toEqual({ index: 7 });
  for (const [stored, found] of [
    ['{"version":2,"index":7}', 'has version 2'],
    ['{"index":7}', 'has no version'],
    ['{"version":1,"index"', 'has no version'],
    ['', 'has no version'],
    ['null', 'has no version'],
    ['"text"', 'has no version'],
  ] as const) {
    await store.put('a', Buffer.from(stored));
    await expect(readStoredJson(store, ref)).rejects.toMatchObject({
      code: 'result_of_other_version',
      message: expect.stringContaining(`${ref} of the result store ${found}`),
    });
  }
});
