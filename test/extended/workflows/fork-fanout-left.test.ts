import { expect, it } from 'vitest';
import { prepareWorkflowId } from '../../../src/addresses/addresses.js';
import { ApiError, type SandboxClient } from '../../../src/client/index.js';
import type { FanoutInput } from '../../../src/protocol/fanout/fanout-input.js';
import { shareChangedStand } from '../../workflows/changed-stand.js';
import { ended, fanoutInput, forks, items, run, submit } from '../../workflows/fanout/fanout-harness.js';
import { believesNothing, script, shortTiming } from '../../workflows/workflow-harness.js';

const { stand, change } = shareChangedStand();

const isPrepared = (input: FanoutInput, id: string) =>
  forks(stand, input).some((fork) => fork.id === id && fork.name?.endsWith('-prep-1'));

const prepared = (policy?: { readonly deadlineMs: number }, command = 'sleep 300') =>
  fanoutInput(
    {
      kind: 'prepare',
      body: {},
      put: [],
      commands: [],
      prompts: [{ prompt: script(command) }],
      deadlineMs: 600_000,
      end: 'delete',
    },
    { policy, timing: { readLagMs: 1_000, cleanUpMs: 6_000 } },
  );

it('a batch whose preparing job was terminated names the sandbox that the job may have created', async () => {
  const input = prepared();
  await submit(stand, input, items(2));
  const job = stand.client.workflow.getHandle(prepareWorkflowId(input.deployment, input.batchId));
  await expect.poll(() => forks(stand, input).length).toBe(1);
  await job.terminate();
  const result = await ended(stand, input);
  const [made] = forks(stand, input);
  expect(result).toMatchObject({
    outcome: 'source_failed',
    error: { code: 'prepare_lost' },
    left: [{ kind: 'sandbox', sandboxId: null, sandboxName: made?.name }],
  });
});

it('a batch whose preparing job has an unknown outcome names its sandbox', async () => {
  await stand.fault({ kind: 'drop_response', endpoint: 'createSandbox', times: 1_000 });
  let deadlineMs = 5_000;
  let input = prepared({ deadlineMs });
  let result = await run(stand, input, items(2));
  // A busy machine may not have requested it before so short a deadline.
  while (forks(stand, input).length === 0) {
    deadlineMs *= 2;
    input = prepared({ deadlineMs });
    result = await run(stand, input, items(2));
  }
  const [made] = forks(stand, input);
  expect(made?.name).toMatch(/-prep-1$/);
  expect(result).toMatchObject({
    outcome: 'deadline_exceeded',
    left: [{ kind: 'sandbox', sandboxName: made?.name }],
    leftMore: 0,
  });
});

it('a batch whose prepared source could not be deleted names it', async () => {
  const input = { ...prepared(undefined, 'true'), timing: { ...shortTiming, cleanUpMs: 240_000 } };
  const operationId = 'operation-that-fails';
  Object.assign(change, {
    deleteSandbox: async (id, options) => {
      if (!isPrepared(input, id)) return stand.api.deleteSandbox(id, options);
      return { ok: true, type: 'sandbox.deleting', operationId };
    },
    getDeletionOperation: async (id, options) => {
      if (id !== operationId) return stand.api.getDeletionOperation(id, options);
      return { ok: true, type: 'deletion.status', operation: { id, status: 'failed', error: 'the disk is busy' } };
    },
  } satisfies Partial<SandboxClient>);
  const result = await run(stand, input, items(1));
  expect(result).toMatchObject({
    outcome: 'completed',
    error: { code: 'clean_up_unfinished', message: expect.stringContaining('the disk is busy') },
    left: [{ kind: 'sandbox', sandboxId: result.sourceSandboxId, why: expect.stringContaining('the disk is busy') }],
    leftMore: 0,
  });
});

it('one read that does not find a prepared source neither fails its batch nor lets the machine go', async () => {
  const input = { ...prepared(undefined, 'true'), timing: believesNothing };
  let lagging = 0;
  Object.assign(change, {
    getSandbox: async (id, options) => {
      const { sandbox } = await stand.api.getSandbox(id, options);
      // Every first read after a pause is from a replica that does not have the sandbox.
      const isLagging = isPrepared(input, id) && sandbox.state === 'archived' && ++lagging % 2 === 1;
      if (!isLagging) return stand.api.getSandbox(id, options);
      throw new ApiError('getSandbox: sandbox_not_found', {
        ...{ endpoint: 'getSandbox', status: 404, code: 'sandbox_not_found', typed: true, meaning: 'permanent' },
        ...{ requestId: 'req_1', retryAfterMs: null, details: null },
      });
    },
  } satisfies Partial<SandboxClient>);
  const result = await run(stand, input, items(1));
  expect(result).toMatchObject({ outcome: 'completed', left: [] });
  expect(lagging).toBeGreaterThan(1);
  expect(forks(stand, input).find(({ id }) => id === result.sourceSandboxId)?.gone).toBe('deleted');
});
