import { afterAll, beforeAll, expect, it } from 'vitest';
import { claimAs, releaseAs } from '../watch/lease-harness.js';
import { createStand, type Stand, script } from '../workflow-harness.js';

let stand: Stand;
beforeAll(async () => {
  stand = await createStand();
});
afterAll(() => stand.close());

it('a job sends nothing to a sandbox that somebody has claimed, and continues when the claim is released', async () => {
  const { sandbox } = await stand.api.createSandbox({ name: 'claimed' });
  const sandboxId = sandbox.id;
  await expect.poll(async () => (await stand.api.getSandbox(sandboxId)).sandbox.state).toBe('ready');
  expect(await claimAs(stand, sandboxId, 'somebody', 600_000)).toMatchObject({ granted: true });
  const source = { kind: 'existing' as const, sandboxId };
  const job = await stand.start({ source, end: 'keep', prompts: [{ prompt: script('true') }] });
  const seen = async () => {
    const { status, raw } = await job.describe();
    const failures = JSON.stringify([raw.pendingActivities, (await job.fetchHistory()).events]);
    return status.name !== 'RUNNING' || failures.includes('holds the sandbox');
  };
  await expect.poll(seen).toBe(true);
  expect(stand.service.books.prompts()).toEqual([]);
  await releaseAs(stand, sandboxId, 'somebody');
  expect(await job.result()).toMatchObject({ outcome: 'completed', prompts: [{ status: 'completed' }] });
});
