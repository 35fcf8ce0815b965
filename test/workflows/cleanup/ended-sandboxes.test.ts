/** Which sandbox is a job's, and whether it was kept, as cleanups see it after continued work and forks by hand. Gate, 8 s. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { jobWorkflowId } from '../../../src/addresses/addresses.js';
import { type EndedSandbox, endedKey } from '../../../src/protocol/ended-sandbox.js';
import { createStand, deployment, type Stand } from '../workflow-harness.js';
import { clean, forkByHand, orphanPolicy, runIn, runJob, stateOf, untilState } from './cleanup-harness.js';

let stand: Stand;
beforeAll(async () => {
  stand = await createStand();
});
afterAll(() => stand.close());

it('the last job that ended a sandbox decides whether it was kept: continued and kept, continued and stopped', async () => {
  const { sandboxId } = await runJob(stand);
  const plan = async () => (await clean(stand, orphanPolicy('delete-sandbox'), { mode: 'plan' })).of(sandboxId);
  expect(await plan()).toBe('delete-sandbox');
  const { sandboxId: same } = await runIn(stand, sandboxId, 'keep');
  expect(same).toBe(sandboxId);
  const { of, report } = await clean(stand, orphanPolicy('delete-sandbox'));
  expect(of(sandboxId)).toBe('kept_by_owner');
  const entry = report.plan?.entries.find((known) => known.sandboxId === sandboxId);
  expect(entry?.owner).toMatchObject({ status: 'kept', ended: { ended: { name: null, end: 'kept' } } });
  expect(await stateOf(stand, sandboxId)).toBe('ready');
  await runIn(stand, sandboxId, 'stop');
  expect((await clean(stand, orphanPolicy('delete-sandbox'))).of(sandboxId)).toBe('deleted');
});

it('a job that stopped the sandbox although it was to delete it changes nothing for cleanups', async () => {
  const { sandboxId } = await runJob(stand, { end: 'keep' });
  const source = { kind: 'existing', sandboxId } as const;
  const over = { source, end: 'delete', commands: ['mkdir folder'], collect: ['folder'] } as const;
  const { left, jobId } = await runJob(stand, over);
  expect(left).toMatchObject([{ why: expect.stringContaining('stopped and not deleted') }]);
  const { memo, closeTime } = await stand.client.workflow.getHandle(jobWorkflowId(deployment, jobId)).describe();
  const ended = memo?.[endedKey(sandboxId)] as EndedSandbox;
  expect(ended).toEqual({ name: null, end: 'left', endedAtMs: expect.any(Number) });
  expect(ended.endedAtMs).toBeLessThanOrEqual(closeTime?.getTime() ?? 0);
  expect((await clean(stand, orphanPolicy('delete-sandbox'))).of(sandboxId)).toBe('kept_by_owner');
});

it('a fork by hand without a name is not its job’s, whatever becomes of the sandbox of the job, and neither is a fork of it', async () => {
  const { sandboxId } = await runJob(stand);
  const fork = await forkByHand(stand, sandboxId);
  const ofFork = await forkByHand(stand, fork);
  const done = await clean(stand, orphanPolicy('delete-sandbox'));
  expect([sandboxId, fork, ofFork].map(done.of)).toEqual(['deleted', 'owner_unknown', 'owner_unknown']);
  const entry = done.report.plan?.entries.find((known) => known.sandboxId === fork);
  expect(entry?.why).toMatch(new RegExp(`is ${sandboxId}; this one may be a fork`));
  await stand.api.deleteSandbox(ofFork);
  await untilState(stand, ofFork, 'gone');
  expect((await clean(stand, orphanPolicy('delete-sandbox'))).of(fork), 'alone').toBe('owner_unknown');
  await stand.api.updateSandbox(fork, { name: 'by-hand-too' });
  expect((await clean(stand, orphanPolicy('stop'))).of(fork), 'under a name of its own').toBe('stopped');
});
