import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deploymentOfWorkflow, sandboxWatchId } from '../../../../src/addresses/addresses.js';
import { archived, clean, policyFor, ready, stateOf, untilState } from '../../../workflows/cleanup/cleanup-harness.js';
import { fanoutInput, items, run, source } from '../../../workflows/fanout/fanout-harness.js';
import { progressOf } from '../../../workflows/job-progress.js';
import { heal } from '../../../workflows/stop/stop-harness.js';
import { claimAs, leaseAs } from '../../../workflows/watch/lease-harness.js';
import { createStand, type Stand, script, shortTiming } from '../../../workflows/workflow-harness.js';

let stand: Stand;
/** True while deletions do not end. */
let isPending = false;
/** Done when a sandbox is read, while a cleanup holds its claim. */
let atTheLast: { readonly sandboxId: string; readonly act: () => Promise<unknown> } | undefined;
beforeAll(async () => {
  stand = await createStand({
    worker: { forksPerSecond: 1_000 },
    through: (client) => ({
      ...client,
      getDeletionOperation: async (operationId, options) => {
        const answer = await client.getDeletionOperation(operationId, options);
        if (!isPending) return answer;
        return { ...answer, operation: { id: operationId, status: 'pending' } };
      },
      getSandbox: async (sandboxId, options) => {
        const answer = await client.getSandbox(sandboxId, options);
        if (atTheLast?.sandboxId === sandboxId) {
          const { act } = atTheLast;
          atTheLast = undefined;
          await act();
        }
        return answer;
      },
    }),
  });
});
afterAll(() => stand.close());

const existing = (sandboxId: string) => ({ source: { kind: 'existing' as const, sandboxId }, end: 'keep' as const });
const watchStatus = async (sandboxId: string) =>
  (await stand.client.workflow.getHandle(sandboxWatchId(sandboxId)).describe()).status.name;

describe('a lease', () => {
  it('that is requested while a cleanup holds its claim waits, and finds the sandbox gone', async () => {
    const id = await archived(stand, 'claimed-1');
    let job: Awaited<ReturnType<Stand['start']>> | undefined;
    atTheLast = {
      sandboxId: id,
      act: async () => {
        const begun = await stand.start(existing(id));
        job = begun;
        await expect.poll(async () => (await progressOf(begun)).phase).toBe('waiting_for_sandbox');
        await new Promise((resolve) => setTimeout(resolve, 1_500));
      },
    };
    const done = await clean(stand, policyFor('claimed', 'delete-sandbox'));
    expect(done.of(id)).toBe('deleted');
    const result = await job?.result();
    expect(result).toMatchObject({ outcome: 'rejected', error: { code: 'sandbox_not_found' } });
    expect(result?.prompts.map(({ status }) => status)).toEqual(['not_sent']);
    const resumes = stand.service.books.sandboxes().filter((known) => known.id === id && known.state !== 'archived');
    expect(resumes.map(({ gone }) => gone)).toEqual([]);
  });

  it('keeps a batch from stopping its source while a job works in it by command', async () => {
    const id = await ready(stand, 'shared source');
    const job = await stand.start({ ...existing(id), commands: ['sleep 4; echo done > made'], prompts: [] });
    await expect.poll(() => watchStatus(id)).toBe('RUNNING');
    // The id is the same for every deployment, so the summary names the one that asked first.
    const watch = await stand.client.workflow.getHandle(sandboxWatchId(id)).describe();
    expect(await watch.staticSummary()).toBe(`watch ${id}, deployment ${deploymentOfWorkflow(job.workflowId)}`);
    await expect.poll(async () => (await progressOf(job)).phase).toBe('running_commands');
    const batch = await run(stand, fanoutInput(source(id)), items(1));
    expect(batch).toMatchObject({ outcome: 'source_failed', error: { code: 'source_in_use' } });
    expect(batch.error?.message).toContain(job.workflowId);
    expect(await stateOf(stand, id)).toBe('ready');
    expect(await job.result()).toMatchObject({ outcome: 'completed' });
  });

  it('outlasts its time while the job works, even if the service refuses to renew the auto-stop', async () => {
    const { sandbox } = await stand.api.createSandbox({ name: 'lent for long', ttlSeconds: 600 });
    const { id } = sandbox;
    await untilState(stand, id, 'ready');
    await stand.fault({ endpoint: 'updateSandbox', kind: 'error', status: 403, code: 'forbidden', times: 1_000 });
    const timing = { ...shortTiming, leaseLastsMs: 8_000, renewLeaseEveryMs: 1_000 };
    const job = await stand.start({ ...existing(id), timing, ttlSeconds: 3, prompts: [], commands: ['sleep 12'] });
    await expect.poll(async () => (await progressOf(job)).phase).toBe('running_commands');
    const beganMs = Date.now();
    for (;;) {
      const claim = await claimAs(stand, id, 'somebody', 1);
      if ((await progressOf(job)).phase !== 'running_commands') break;
      expect(claim).toMatchObject({ granted: false, leasedBy: [job.workflowId] });
      await new Promise((resolve) => setTimeout(resolve, 1_000));
    }
    expect(Date.now() - beganMs).toBeGreaterThan(timing.leaseLastsMs);
    const renewals = stand.service.books.calls().filter(({ endpoint }) => endpoint === 'updateSandbox');
    expect(renewals.filter(({ status }) => status === 403).length, 'refused').toBeGreaterThan(2);
    await heal(stand);
    await job.result();
  });

  it('of a job that continues as new more often than it renews does not lapse', async () => {
    const { sandbox } = await stand.api.createSandbox({ name: 'lent again and again', ttlSeconds: 600 });
    const { id } = sandbox;
    await untilState(stand, id, 'ready');
    // Only the beginning of a run renews the lease; the renewals of the auto-stop make the history long.
    const timing = { ...shortTiming, leaseLastsMs: 10_000, renewLeaseEveryMs: 60_000 };
    const prompts = [{ prompt: script('sleep 25') }];
    const job = await stand.start({ ...existing(id), timing, prompts, ttlSeconds: 1, maxHistoryEvents: 60 });
    await expect.poll(async () => (await progressOf(job)).phase).toBe('following');
    const beganMs = Date.now();
    while ((await progressOf(job)).phase === 'following') {
      const claim = await claimAs(stand, id, 'somebody', 1);
      if ((await progressOf(job)).phase !== 'following') break;
      expect(claim).toMatchObject({ granted: false, leasedBy: [job.workflowId] });
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
    expect(Date.now() - beganMs).toBeGreaterThan(timing.leaseLastsMs);
    expect(await job.result()).toMatchObject({ outcome: 'completed' });
    expect((await job.describe()).runId).not.toBe(job.firstExecutionRunId);
  });

  it('is refused while a deletion lasts, whose claim is renewed', async () => {
    isPending = true;
    const timing = { ...shortTiming, renewLeaseEveryMs: 1_000 };
    const job = await stand.start({ prompts: [{ prompt: script('true') }], end: 'delete', timing });
    const renewals = async () =>
      ((await job.fetchHistory()).events ?? []).filter(
        ({ activityTaskScheduledEventAttributes: scheduled }) => scheduled?.activityType?.name === 'claimSandbox',
      );
    await expect.poll(async () => (await renewals()).length).toBeGreaterThan(1);
    const { sandboxId } = await progressOf(job);
    expect(await leaseAs(stand, sandboxId ?? '', 'borrower')).toMatchObject({
      granted: false,
      claimedBy: [job.workflowId],
    });
    isPending = false;
    expect(await job.result()).toMatchObject({ outcome: 'completed', deletion: { status: 'completed' } });
  });

  it('of a job that deletes its sandbox leaves no watch open', async () => {
    const result = await (await stand.start({ prompts: [{ prompt: script('true') }], end: 'delete' })).result();
    expect(result).toMatchObject({ outcome: 'completed', deletion: { status: 'completed' } });
    await expect.poll(() => watchStatus(result.sandboxId ?? '')).toBe('COMPLETED');
  });
});
