import { afterAll, beforeAll, describe, it } from 'vitest';
import { cancelFanout, fanoutProgress } from '../../../../src/workflow-client/fanouts/fanout-client.js';
import { resumeFanout } from '../../../../src/workflow-client/fanouts/resume-fanout.js';
import type { FanoutInput } from '../../../../workflows/index.js';
import {
  archivedSandbox,
  batchOf,
  ended,
  fanoutInput,
  forks,
  items,
  leftForks,
  lines,
  promptedForks,
  run,
  source,
  submitInChunks,
  usableSandbox,
} from '../../../workflows/fanout/fanout-harness.js';
import { claimAs } from '../../../workflows/watch/lease-harness.js';
import { createStand, letGo, type Stand, script, untilGo } from '../../../workflows/workflow-harness.js';

let stand: Stand;
beforeAll(async () => {
  stand = await createStand({ worker: { forksPerSecond: 1_000 } });
});
afterAll(() => stand.close());

const prepare = (over: Partial<Extract<FanoutInput['source'], { kind: 'prepare' }>> = {}) =>
  ({
    kind: 'prepare',
    body: {},
    put: [{ path: 'put', content: { base64: Buffer.from('put before').toString('base64') } }],
    commands: ['cat put > made; echo and made >> made'],
    prompts: [{ prompt: script('echo and prompted >> made') }],
    deadlineMs: 60_000,
    end: 'delete',
    ...over,
  }) as const;
const stopsOf = (sandboxId: string) => stand.service.books.stops({ sandboxId });
const stateOf = async (sandboxId: string) => (await stand.api.getSandbox(sandboxId)).sandbox.state;

describe.concurrent('the source of a batch', () => {
  it('that is usable is stopped first, so that all forks start from its state', async ({ expect }) => {
    const sandboxId = await usableSandbox(stand);
    await stand.api.runCommand(sandboxId, { command: 'echo worked in >> seed' });
    const input = fanoutInput(source(sandboxId));
    const result = await run(
      stand,
      input,
      items(2, () => 'cat seed'),
    );
    expect(result).toMatchObject({ outcome: 'completed', sourceSandboxId: sandboxId });
    expect(stopsOf(sandboxId)).toHaveLength(1);
    for (const { job } of await lines(stand, result)) expect(job?.prompts[0]?.result).toContain('worked in');
    const watch = stand.client.workflow.getHandle(`sandbox-watch/${sandboxId}`);
    await expect.poll(async () => (await watch.describe()).status.name).toBe('COMPLETED');
  });

  it('is leased as long as the batch runs, so that nobody deletes it', async ({ expect }) => {
    const sandboxId = await archivedSandbox(stand);
    const input = await submitInChunks(
      stand,
      fanoutInput(source(sandboxId)),
      items(1, () => 'sleep 60'),
      1,
    );
    await expect.poll(() => promptedForks(stand, input)).toHaveLength(1);
    const claim = () => claimAs(stand, sandboxId, 'somebody');
    expect(await claim()).toEqual({ granted: false, claimedBy: [], leasedBy: [batchOf(stand, input).workflowId] });
    await cancelFanout(stand.client, input);
    await ended(stand, input);
    await expect.poll(claim).toMatchObject({ granted: true });
  });

  it('with a working agent is left alone unless a stale source is allowed', async ({ expect }) => {
    const sandboxId = await usableSandbox(stand);
    await stand.api.sendPrompt(sandboxId, { prompt: script(untilGo) });
    const refused = await run(stand, fanoutInput(source(sandboxId)), items(1));
    expect(refused).toMatchObject({ outcome: 'source_failed', error: { code: 'source_in_use' } });
    expect(refused.error?.message).toContain('--allow-stale');
    expect(refused.counts).toMatchObject({ items: 1, byOutcome: { not_started: 1 } });
    const allowed = fanoutInput({ kind: 'sandbox', sandboxId, allowStale: true });
    expect(await run(stand, allowed, items(1))).toMatchObject({ outcome: 'completed' });
    expect(await stateOf(sandboxId)).toBe('running');
    expect(stopsOf(sandboxId)).toEqual([]);
  });

  it('with missing files is refused, and not stopped', async ({ expect }) => {
    const slow = await createStand({ service: { timings: { hydrationMs: 3_600_000 } } });
    try {
      const { sandbox } = await slow.api.forkSandbox(await archivedSandbox(slow), { name: 'a copy' });
      await expect.poll(async () => (await slow.api.getSandbox(sandbox.id)).sandbox.state).toBe('ready');
      const result = await run(slow, fanoutInput(source(sandbox.id)), items(1));
      expect(result).toMatchObject({ outcome: 'source_failed', error: { code: 'source_not_hydrated' } });
      expect(slow.service.books.stops({ sandboxId: sandbox.id })).toEqual([]);
    } finally {
      await slow.close();
    }
  });

  it('that does not exist, or keeps no snapshots, ends the batch with the reason', async ({ expect }) => {
    const missing = await run(stand, fanoutInput(source('bx_22222222')), items(1));
    expect(missing).toMatchObject({ outcome: 'source_failed', error: { code: 'sandbox_not_found' } });
    const forgetful = await usableSandbox(stand, { snapshots: false });
    const result = await run(stand, fanoutInput(source(forgetful)), items(1));
    expect(result).toMatchObject({ outcome: 'source_failed', error: { code: 'source_keeps_nothing' } });
    expect(await stateOf(forgetful)).toBe('ready');
  });

  it('that is prepared is set up, stopped, forked, and deleted at the end', async ({ expect }) => {
    const input = fanoutInput(prepare());
    const result = await run(
      stand,
      input,
      items(2, () => 'cat made'),
    );
    expect(result).toMatchObject({ outcome: 'completed', counts: { completed: 2 } });
    for (const { job } of await lines(stand, result)) {
      expect(job?.prompts[0]?.result).toContain('put before');
      expect(job?.prompts[0]?.result).toContain('and prompted');
    }
    const prepared = forks(stand, input).find(({ id }) => id === result.sourceSandboxId);
    expect(prepared?.name).toMatch(/-prep-1$/);
    expect(prepared?.gone).toBe('deleted');
    expect(forks(stand, input)).toHaveLength(3);
  });

  // At the first message, the job that prepares the source is only just being started.
  it.for([{ maxHistoryEvents: 20 }, { maxMessages: 1 }])(
    'that is being prepared when the batch continues as new is prepared once, and its items wait: %j',
    async (pace, { expect }) => {
      const input = fanoutInput(prepare({ commands: [`${untilGo}; date > made`], prompts: [] }), { pace });
      await submitInChunks(
        stand,
        input,
        items(6, () => 'cat made'),
        2,
      );
      await expect
        .poll(() => fanoutProgress(stand.client, input))
        .toMatchObject({ phase: 'preparing', counts: { queued: 6 } });
      const prepared = () => forks(stand, input).find(({ name }) => name.includes('-prep-'));
      await expect.poll(() => prepared()?.state).toBe('ready');
      await letGo(stand, prepared()?.id);
      const { firstRunId } = (await batchOf(stand, input).describe()).raw.workflowExecutionInfo ?? {};
      const result = await ended(stand, input);
      expect(result).toMatchObject({ outcome: 'completed', counts: { completed: 6 } });
      expect((await batchOf(stand, input).describe()).runId).not.toBe(firstRunId);
      expect(forks(stand, input).filter(({ name }) => name.includes('-prep-'))).toHaveLength(1);
    },
  );

  it('that is being prepared when the batch is cancelled is ended as configured, and prepared again on resume', async ({
    expect,
  }) => {
    const input = fanoutInput(prepare({ commands: ['mkdir once || true'], prompts: [{ prompt: script('sleep 4') }] }));
    await submitInChunks(stand, input, items(2), 2);
    await expect.poll(() => promptedForks(stand, input)).toEqual(['prep-1']);
    await cancelFanout(stand.client, input);
    expect(await ended(stand, input)).toMatchObject({
      outcome: 'cancelled',
      counts: { byOutcome: { not_started: 2 } },
    });
    expect(forks(stand, input).map(({ gone }) => gone)).toEqual(['deleted']);
    await resumeFanout(stand.client, input, { taskQueue: stand.taskQueue });
    expect(await ended(stand, input)).toMatchObject({ outcome: 'completed', counts: { completed: 2 } });
    expect(promptedForks(stand, input).sort()).toEqual(['i0-1', 'i1-1', 'prep-1', 'prep-4']);
    expect(leftForks(stand, input)).toEqual([]);
  });

  it('whose preparation fails ends the batch, and is ended as configured', async ({ expect }) => {
    const input = fanoutInput(prepare({ commands: ['echo no such luck >&2; exit 4'], end: 'stop' }));
    const result = await run(stand, input, items(2));
    expect(result).toMatchObject({ outcome: 'source_failed', error: { code: 'command_failed' } });
    expect(result.error?.message).toContain('no such luck');
    expect(forks(stand, input).map(({ state, gone }) => ({ state, gone }))).toEqual([
      { state: 'archived', gone: null },
    ]);
  });

  it('may be a named snapshot, and an unknown name ends the batch at its first item', async ({ expect }) => {
    const sandboxId = await archivedSandbox(stand);
    await stand.api.updateSandbox(sandboxId, { snapshotName: 'named' });
    const named = fanoutInput({ kind: 'snapshot', from: 'named', body: { type: 'small' } });
    const result = await run(
      stand,
      named,
      items(2, () => 'cat seed'),
    );
    expect(result).toMatchObject({ outcome: 'completed', sourceSandboxId: null });
    expect(forks(stand, named).map(({ type }) => type)).toEqual(['small', 'small']);
    const [first] = await lines(stand, result);
    expect(first?.job?.prompts[0]?.result).toContain('from the source');
    const unknown = fanoutInput({ kind: 'snapshot', from: 'unknown', body: {} }, { policy: { concurrency: 2 } });
    const failed = await run(stand, unknown, items(40));
    expect(failed).toMatchObject({ outcome: 'source_failed', error: { code: 'not_found' } });
    expect(failed.counts.byOutcome.not_started).toBeGreaterThan(30);
  });
});
