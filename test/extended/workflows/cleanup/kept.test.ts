import { afterAll, beforeAll, expect, it } from 'vitest';
import { clean, policyFor, stateOf } from '../../../workflows/cleanup/cleanup-harness.js';
import { fanoutInput, forks, items, run } from '../../../workflows/fanout/fanout-harness.js';
import { createStand, type Stand, script } from '../../../workflows/workflow-harness.js';

let stand: Stand;
beforeAll(async () => {
  stand = await createStand({ worker: { forksPerSecond: 1_000 } });
});
afterAll(() => stand.close());

const prompts = [{ prompt: script('true') }];
const namingKept = (prefix: string) => policyFor(prefix, 'stop').replace('match: {', 'match: {owned: kept, ');

it('a cleanup leaves alone what a job kept on purpose unless a rule names it', async () => {
  const jobId = 'keeper-1';
  const { sandboxId: first } = await (await stand.start({ jobId, prompts, end: 'keep' })).result();
  const id = first ?? '';
  // The same job, terminated: it has not kept its sandbox on purpose.
  const cut = await stand.start({ jobId: 'keeper-2', prompts: [{ prompt: script('sleep 600') }], end: 'keep' });
  const own = () => stand.service.books.sandboxes().find(({ name }) => name.includes('keeper-2'));
  await expect.poll(() => own()?.state).toBe('running');
  await cut.terminate();
  const policy = policyFor('keeper', 'stop').replace('sf-*-keeper-*', 'sf-*-keeper*');
  const done = await clean(stand, policy);
  expect(done.of(id)).toBe('kept_by_owner');
  expect(done.of(own()?.id ?? '')).toBe('stopped');
  expect(await stateOf(stand, id)).toBe('idle');
  const named = namingKept('keeper').replace('sf-*-keeper-*', 'sf-*-keeper*');
  expect((await clean(stand, named)).of(id)).toBe('stopped');
});

it('a cleanup leaves alone what an item of a batch kept on purpose', async () => {
  const { sandbox } = await stand.api.createSandbox({ name: 'source of kept ones' });
  await expect.poll(() => stateOf(stand, sandbox.id)).toBe('ready');
  const input = fanoutInput({ kind: 'sandbox', sandboxId: sandbox.id, allowStale: false }, { policy: { end: 'keep' } });
  expect(await run(stand, input, items(2))).toMatchObject({ outcome: 'completed' });
  const kept = forks(stand, input);
  expect(kept).toHaveLength(2);
  const policy = policyFor('batch', 'stop').replace('sf-*-batch-*', `sf-*-${input.batchId}-*`);
  const done = await clean(stand, policy);
  expect(kept.map(({ id }) => done.of(id))).toEqual(['kept_by_owner', 'kept_by_owner']);
});
