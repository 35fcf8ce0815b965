/** What a chunk that starts again reads of an item. */
import { expect, it } from 'vitest';
import type { ItemResult } from '../../../src/protocol/fanout/fanout-result.js';
import { readKnownItem } from '../../../src/result-store/fanout-objects.js';
import { createResultStore } from '../../../src/result-store/index.js';
import { storedJson } from '../../../src/result-store/stored-json.js';
import { itemResult } from '../cli/fanout/samples.js';
import { promptResult } from '../cli/output/sample-job.js';
import { temporaryDirectory } from '../cli/temporary-directory.js';

const place = { deployment: 'd', batchId: 'b', batchKey: 'key' };

async function known(change: Partial<ItemResult>, status = 'not_sent') {
  const store = createResultStore(await temporaryDirectory());
  const result = itemResult(0, change, { prompts: [{ ...promptResult(), status }] });
  await store.put('fanout/sf-d-b/key/items/0/1.json', storedJson(result));
  return readKnownItem(store, place, 0);
}

it('passes on whose failure it was and whether it got a prompt, also to what ends its fork', async () => {
  const times = { ...itemResult(0).times, endedAt: null };
  for (const failureClass of ['agent', 'machine'] as const) {
    const told = { failureClass, wasPrompted: failureClass === 'agent' };
    const status = told.wasPrompted ? 'failed' : 'not_sent';
    const item = await known({ outcome: 'sandbox_failed', failureClass, times }, status);
    expect(item).toMatchObject({ ...told, toEnd: told });
  }
});

it('believes the result that an earlier run may have sent a prompt', async () => {
  expect(await known({ wasPrompted: true })).toMatchObject({ wasPrompted: true });
  expect(await known({})).toMatchObject({ wasPrompted: false });
});
