/** Whose failure it is, and what a batch does about it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { FanoutItem } from '../../../src/protocol/fanout/fanout-input.js';
import { resumeFanout } from '../../../src/workflow-client/fanouts/resume-fanout.js';
import { startJob } from '../../../src/workflow-client/jobs/job-client.js';
import { listJobs } from '../../../src/workflow-client/list-executions.js';
import { createStand, jobInput, patient, type Stand, script, shortTiming } from '../workflow-harness.js';
import {
  archivedSandbox,
  batchOf,
  fanoutInput,
  forks,
  items,
  lines,
  promptedForks,
  run,
  source,
} from './fanout-harness.js';

let stand: Stand;
let sandboxId: string;
beforeAll(async () => {
  stand = await createStand();
  sandboxId = await archivedSandbox(stand);
});
afterAll(() => stand.close());

/** So that a machine in error fails the job at once. */
const timing = { ...shortTiming, errorGraceMs: 200 };
const brokenMachines = (times: number) => stand.fault({ kind: 'boot_error', times });
const batch = (policy: Parameters<typeof fanoutInput>[1] = {}) => fanoutInput(source(sandboxId), { timing, ...policy });

describe('an item of which the machine failed', () => {
  it('is tried again beyond --retries, as long as it has got no prompt', async () => {
    const input = batch({ policy: { retries: 0 } });
    await brokenMachines(2);
    const result = await run(stand, input, items(1));
    expect(result).toMatchObject({
      outcome: 'completed',
      counts: { completed: 1, failed: 0, retried: 2, byClass: {} },
    });
    expect(forks(stand, input)).toHaveLength(3);
    expect(promptedForks(stand, input)).toEqual(['i0-3']);
  });

  it('leaves the item its retries for failures of the agent', async () => {
    const input = batch({ policy: { retries: 1 } });
    await brokenMachines(2);
    const result = await run(
      stand,
      input,
      items(1, () => 'exit 3'),
    );
    expect(result.counts).toMatchObject({ failed: 1, retried: 3, byClass: { agent: 1 } });
    expect(promptedForks(stand, input)).toEqual(['i0-3', 'i0-4']);
  });

  it('is given up after three such tries, and does not end a batch with --fail-fast', async () => {
    const input = batch({ policy: { concurrency: 1, stopAt: { kind: 'fail_fast' } } });
    await brokenMachines(4);
    const result = await run(stand, input, items(2));
    expect(result).toMatchObject({
      outcome: 'partly_failed',
      counts: { completed: 1, failed: 1, retried: 3, byClass: { machine: 1 } },
    });
    const [failed, completed] = await lines(stand, result);
    expect(failed).toMatchObject({
      outcome: 'sandbox_failed',
      failureClass: 'machine',
      job: { failureClass: 'machine' },
    });
    expect(completed).toMatchObject({ outcome: 'completed', failureClass: null, job: { failureClass: null } });
  });
});

it('a failure of the agent or of a setting ends a batch with --fail-fast', async () => {
  const refused: FanoutItem = { id: 'refused', prompts: [{ prompt: 'hi', provider: 'nobody' }] };
  const policy = { concurrency: 1, stopAt: { kind: 'fail_fast' } } as const;
  const [byAgent, byProvider] = [batch({ policy }), batch({ policy })];
  const agent = await run(stand, byAgent, [...items(1, () => 'exit 3'), { ...refused, id: 'never' }]);
  expect(agent).toMatchObject({ outcome: 'failed_fast', counts: { failed: 1, byClass: { agent: 1 } } });
  const provider = await run(stand, byProvider, [refused, ...items(1)]);
  expect(provider).toMatchObject({ outcome: 'failed_fast', counts: { failed: 1 } });
  expect(provider.counts.byClass).toEqual({ [(await lines(stand, provider))[0]?.failureClass ?? '']: 1 });
  const memo = async () => (await batchOf(stand, byAgent).describe()).memo;
  expect(await memo()).toMatchObject({ failureClass: 'cancelled' });
  const goesOn = { taskQueue: stand.taskQueue, policy: { stopAt: { kind: 'go_on' } } } as const;
  await resumeFanout(stand.client, byAgent, goesOn);
  expect(await batchOf(stand, byAgent).result()).toMatchObject({ outcome: 'partly_failed' });
  expect((await memo())?.failureClass ?? null).toBeNull();
});

it('a job tells whose failure it was in its result and in lists', async () => {
  const own = 'classes';
  const ended = async (jobId: string, over: Parameters<typeof jobInput>[0]) => {
    const input = jobInput({ deployment: own, jobId, ...over });
    const { handle } = await startJob(stand.client, input, { taskQueue: stand.taskQueue });
    return (await handle.result()).failureClass;
  };
  await brokenMachines(1);
  expect(await ended('machine', { timing })).toBe('machine');
  expect(await ended('agent', { prompts: [{ prompt: script('exit 3') }] })).toBe('agent');
  expect(await ended('too-slow', { prompts: [{ prompt: script('sleep 600') }], deadlineMs: 2_000 })).toBe('agent');
  expect(await ended('setup', { commands: ['exit 3'] })).toBe('setup');
  expect(await ended('good', {})).toBeNull();
  const listed = async () =>
    (await listJobs(stand.client, { deployment: own })).map(({ jobId, failureClass }) => `${jobId}: ${failureClass}`);
  await expect
    .poll(async () => (await listed()).sort(), patient)
    .toEqual(['agent: agent', 'good: null', 'machine: machine', 'setup: setup', 'too-slow: agent']);
});
