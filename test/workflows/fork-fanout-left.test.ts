import { afterAll, beforeAll, expect, it } from 'vitest';
import { prepareWorkflowId } from '../../src/contract/addresses.js';
import { ended, fanoutInput, forks, items, run, submit } from './fanout/fanout-harness.js';
import { createStand, type Stand, script } from './workflow-harness.js';

let stand: Stand;
beforeAll(async () => {
  stand = await createStand();
});
afterAll(() => stand.close());

const prepared = (policy?: { readonly deadlineMs: number }) =>
  fanoutInput(
    {
      kind: 'prepare',
      body: {},
      put: [],
      commands: [],
      prompts: [{ prompt: script('sleep 300') }],
      deadlineMs: 60_000,
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
  const input = prepared({ deadlineMs: 5_000 });
  await stand.fault({ kind: 'drop_response', endpoint: 'createSandbox', times: 1_000 });
  const result = await run(stand, input, items(2));
  const [made] = forks(stand, input);
  expect(made?.name).toMatch(/-prep-1$/);
  expect(result).toMatchObject({
    outcome: 'deadline_exceeded',
    left: [{ kind: 'sandbox', sandboxName: made?.name }],
    leftMore: 0,
  });
});
