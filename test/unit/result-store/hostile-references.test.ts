/** References of an input that a stranger wrote: whoever writes to Temporal names any object. */
import { mkdtemp, rm, truncate } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readStored } from '../../../activities/store/texts.js';
import { createResultStore, type ResultStore } from '../../../src/result-store/index.js';

let directory: string;
let results: ResultStore;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sandflow-results-'));
  results = createResultStore(directory);
  await results.put('inputs/a', Buffer.from('a text'));
});
afterEach(() => rm(directory, { recursive: true }));

it('an activity does not read an object that would fill the memory of its worker', async () => {
  await truncate(join(directory, 'inputs', 'a'), 65 * 1024 * 1024);
  await expect(readStored(results, 'file-store:inputs/a')).rejects.toMatchObject({
    type: 'result_too_large',
    nonRetryable: true,
  });
});
