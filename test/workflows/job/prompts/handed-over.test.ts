/** Long prompts, which no activity follows. Gate; costs some 5 CPU seconds. */
import { describe, expect, it } from 'vitest';
import { promptFollowerId } from '../../../../src/addresses/addresses.js';
import { leftRunningSignal } from '../../../../src/protocol/messages.js';
import { shareChangedStand } from '../../changed-stand.js';
import { progressOf } from '../../job-progress.js';
import { readySandbox } from '../../stop/stop-harness.js';
import { letGo, patient, type Stand, script, shortTiming, untilGo } from '../../workflow-harness.js';

type Job = Awaited<ReturnType<Stand['start']>>;

const { stand } = shareChangedStand({
  worker: { follow: { minIntervalMs: 100, briefFollowMs: 1, youngFollowMs: 1 } },
});

const prompts = [{ prompt: script(`${untilGo}; echo done`) }];
const follower = () => stand.client.workflow.getHandle(promptFollowerId(stand.taskQueue));
/** With its round, which tells by itself. */
async function endFollower(): Promise<void> {
  await follower().terminate();
  await stand.restartWorker();
}
const sandboxOf = async (job: Job) => (await progressOf(job)).sandboxId ?? '';
const pendingOf = async (job: Job) => {
  const { pendingActivities } = (await job.describe()).raw;
  return (pendingActivities ?? []).map(({ activityType }) => activityType?.name);
};

/** Starts a job, and waits until no activity follows its prompt. */
async function handedOver(over: Parameters<Stand['start']>[0] = {}): Promise<Job> {
  const job = await stand.start({ prompts, ...over });
  const looks = async () =>
    ((await job.fetchHistory()).events ?? []).filter(
      ({ activityTaskScheduledEventAttributes: scheduled }) => scheduled?.activityType?.name === 'followPrompt',
    ).length;
  await expect.poll(looks).toBeGreaterThan(0);
  await expect.poll(() => pendingOf(job)).toEqual([]);
  return job;
}

describe('a prompt that lasts for long', () => {
  it('is followed by no activity, and ends its job when the follower tells of it', async () => {
    const job = await handedOver();
    expect((await follower().describe()).status.name).toBe('RUNNING');
    await letGo(stand, await sandboxOf(job));
    const result = await job.result();
    expect(result).toMatchObject({ outcome: 'completed', prompts: [{ status: 'completed' }] });
    expect(result.prompts[0]?.result).toContain('done');
    const status = async () => (await follower().describe()).status.name;
    await expect.poll(status).toBe('COMPLETED');
  });

  it('ends its job although all workers were away when it ended', async () => {
    const job = await handedOver();
    const sandboxId = await sandboxOf(job);
    await stand.restartWorker(async () => {
      await letGo(stand, sandboxId);
      const state = async () => (await stand.api.getSandbox(sandboxId)).sandbox.state;
      await expect.poll(state).toBe('idle');
    });
    expect(await job.result()).toMatchObject({ outcome: 'completed' });
    expect(stand.service.books.prompts({ sandboxId })).toHaveLength(1);
  });

  it('ends its job without a follower: the job reads by itself', async () => {
    const job = await handedOver({ timing: { ...shortTiming, promptPollMaxMs: 2_000 } });
    await endFollower();
    await letGo(stand, await sandboxOf(job));
    expect(await job.result()).toMatchObject({ outcome: 'completed' });
  });

  it('ends its job without a follower when a renewal of the auto-stop shows that it has ended', async () => {
    const job = await handedOver({ ttlSeconds: 4 });
    await endFollower();
    await letGo(stand, await sandboxOf(job));
    expect(await job.result()).toMatchObject({ outcome: 'completed' });
  });

  it('ends its job without a follower when a renewal of the auto-stop is refused', async () => {
    // The auto-stop must not come before the steps below, however busy the machine is.
    const job = await handedOver({ ttlSeconds: 16, end: 'keep' });
    await endFollower();
    await stand.fault({ kind: 'error', endpoint: 'updateSandbox', status: 403, code: 'forbidden', times: 100 });
    await letGo(stand, await sandboxOf(job));
    expect(await job.result()).toMatchObject({ outcome: 'completed' });
    // Otherwise the auto-stop has ended the wait.
    expect((await stand.api.getSandbox(await sandboxOf(job))).sandbox.state).toBe('idle');
  });

  it('goes on after a hint that is wrong, and is sent once', async () => {
    const job = await handedOver();
    const sandboxId = await sandboxOf(job);
    const reads = () => stand.service.books.calls().filter(({ endpoint }) => endpoint === 'getSandbox').length;
    const before = reads();
    await job.signal(leftRunningSignal, { sandboxId });
    await expect.poll(reads).toBeGreaterThan(before);
    await expect.poll(() => pendingOf(job)).toEqual([]);
    expect((await progressOf(job)).phase).toBe('following');
    await letGo(stand, sandboxId);
    expect(await job.result()).toMatchObject({ outcome: 'completed' });
    expect(stand.service.books.prompts({ sandboxId })).toHaveLength(1);
  });

  it('is interrupted when its job is cancelled', async () => {
    const job = await handedOver();
    const sandboxId = await sandboxOf(job);
    await job.cancel();
    expect(await job.result()).toMatchObject({ outcome: 'cancelled', prompts: [{ status: 'interrupted' }], left: [] });
    expect(stand.service.books.prompts({ sandboxId })).toMatchObject([{ status: 'interrupted' }]);
  });

  it('fails its job when somebody stops the sandbox', async () => {
    const job = await handedOver();
    await stand.api.stopSandbox(await sandboxOf(job));
    expect(await job.result()).toMatchObject({ outcome: 'sandbox_failed' });
  });

  it('stays handed over when its job continues as new', async () => {
    const job = await handedOver({ maxHistoryEvents: 45, ttlSeconds: 4 });
    const latest = stand.client.workflow.getHandle(job.workflowId);
    await expect.poll(async () => (await latest.describe()).runId, patient).not.toBe(job.firstExecutionRunId);
    await letGo(stand, await sandboxOf(job));
    expect(await job.result()).toMatchObject({ outcome: 'completed' });
    expect(stand.service.books.prompts({ sandboxId: (await job.result()).sandboxId ?? '' })).toHaveLength(1);
  });

  it('is followed by an activity with rare heartbeats if others use the sandbox', async () => {
    const sandboxId = await readySandbox(stand);
    const job = await stand.start({ prompts, source: { kind: 'existing', sandboxId }, end: 'keep' });
    const beats = async () =>
      ((await job.fetchHistory()).events ?? []).flatMap(({ activityTaskScheduledEventAttributes: scheduled }) =>
        scheduled?.activityType?.name === 'followPrompt' ? [Number(scheduled.heartbeatTimeout?.seconds)] : [],
      );
    await expect.poll(beats).toEqual([40, 300]);
    await letGo(stand, sandboxId);
    expect(await job.result()).toMatchObject({ outcome: 'completed' });
  });
});
