import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { withEnding } from '../../../../activities/fanout/store.js';
import { executionOf, itemStep, itemWorkflowId } from '../../../../src/addresses/addresses.js';
import type { FanoutItemInput } from '../../../../src/protocol/fanout/fanout-input.js';
import type { ItemResult, ItemSummary } from '../../../../src/protocol/fanout/fanout-result.js';
import { readStoredJson } from '../../../../src/result-store/stored-json.js';
import { type fanoutItem, type JobInput, type JobOrigin, progressQuery } from '../../../../workflows/index.js';
import { progressOf } from '../../../workflows/job-progress.js';
import {
  createStand,
  deployment,
  jobInput,
  patient,
  type Stand,
  script,
  shortTiming,
  untilGo,
  withoutPolls,
} from '../../../workflows/workflow-harness.js';

let stand: Stand;
let sourceId: string;
beforeAll(async () => {
  stand = await createStand();
  const { sandbox } = await stand.api.createSandbox({ name: 'prepared' });
  sourceId = sandbox.id;
  await untilSourceIs('ready');
  await stand.api.writeFile(sourceId, { path: 'note', content: 'from the source\n', encoding: 'utf8' });
  await stand.api.stopSandbox(sourceId);
  await untilSourceIs('archived');
});
afterAll(() => stand.close());

/** `expect.poll` does not exist outside a test. */
const untilSourceIs = (state: string) =>
  vi.waitFor(async () => expect((await stand.api.getSandbox(sourceId)).sandbox.state).toBe(state), patient);

const keyOfBatch = () => `0198f000-0000-7000-8000-${randomBytes(6).toString('hex')}`;

interface ItemOver {
  readonly job?: Partial<JobInput>;
  readonly origin?: Partial<JobOrigin>;
  readonly chunkWorkflowId?: string;
}

const prefixOf = (batchId: string, key: string, index: number) =>
  `fanout/sf-${deployment}-${batchId}/${key}/items/${index}`;

function itemInput(batchId: string, index: number, { job, origin, chunkWorkflowId }: ItemOver = {}): FanoutItemInput {
  const key = origin?.key ?? keyOfBatch();
  const own = {
    key,
    execution: executionOf(key),
    batchId,
    step: itemStep(index),
    firstGeneration: 1,
    lookFirst: false,
    records: prefixOf(batchId, key, index),
  };
  return {
    job: jobInput({
      jobId: batchId,
      source: { kind: 'fork', sandboxId: sourceId },
      prompts: [{ prompt: script('cat note') }],
      ...job,
      origin: { ...own, ...origin },
    }),
    batchId,
    itemId: `item ${index}`,
    index,
    labels: { place: String(index) },
    type: 'large',
    queuedAt: new Date().toISOString(),
    resultPrefix: prefixOf(batchId, key, index),
    chunkWorkflowId: chunkWorkflowId ?? 'nobody',
  };
}

const start = (input: FanoutItemInput) =>
  stand.client.workflow.start<typeof fanoutItem>('fanoutItem', {
    workflowId: itemWorkflowId(deployment, input.batchId, input.index),
    taskQueue: stand.taskQueue,
    args: [input],
  });
/** The stored result, after the chunk has added how the item ended. */
async function resultOf({ resultRef, ending }: ItemSummary): Promise<ItemResult> {
  const stored = await readStoredJson<ItemResult>(stand.results, resultRef ?? '');
  return ending ? withEnding(stored, ending) : stored;
}
const forksOf = (batchId: string) =>
  stand.service.books.sandboxes().filter(({ name }) => name.startsWith(`sf-${deployment}-${batchId}-`));
const promptsOf = (batchId: string) => {
  const ids = forksOf(batchId).map(({ id }) => id);
  return stand.service.books.prompts().filter(({ sandboxId }) => ids.includes(sandboxId));
};
const phaseIs = (handle: Awaited<ReturnType<typeof start>>, phase: string) =>
  expect.poll(async () => (await progressOf(handle)).phase).toBe(phase);

describe('an item', () => {
  it('that waits until every file of its fork is on disk is woken by the event', async () => {
    const job = { waitFor: 'hydrated', timing: withoutPolls } as const;
    await stand.fault({ kind: 'hydration_stuck', ms: 3_000 });
    const summary = await (await start(itemInput('hydrated', 6, { job }))).result();
    expect(summary).toMatchObject({ outcome: 'completed', left: [] });
  });

  it('that failed says so in its result, and deletes its fork on request', async () => {
    const job = { prompts: [{ prompt: script('exit 4') }], end: 'delete' } as const;
    const summary = await (await start(itemInput('failed', 0, { job }))).result();
    expect(summary).toMatchObject({ outcome: 'prompt_failed', endedAsAsked: true, error: { code: 'prompt_failed' } });
    expect((await resultOf(summary)).job?.deletion?.status).toBe('completed');
  });

  it('with a cancelled fork continues as its next generation', async () => {
    await stand.fault({ kind: 'create_cancelled', times: 1 });
    const summary = await (await start(itemInput('nomachine', 1))).result();
    expect(summary).toMatchObject({ generation: 2, outcome: 'completed' });
    expect(summary.resultRef).toMatch(/items\/1\/2\.json$/);
  });

  it('keeps answers that exceed a payload beside its result', async () => {
    const prompts = Array.from({ length: 12 }, () => ({ prompt: script('head -c 60000 /dev/zero | tr "\\0" x') }));
    const summary = await (await start(itemInput('long', 0, { job: { prompts } }))).result();
    expect(summary.outcome).toBe('completed');
    const stored = await resultOf(summary);
    expect(stored.job?.prompts).toHaveLength(12);
    const whole = await stand.results.get(stored.job?.prompts[11]?.resultRef ?? '');
    expect(whole.toString('utf8').trim()).toHaveLength(60_000);
  });
});

describe('a second run of an item after the first was terminated', () => {
  it('names its stopped fork, which cannot be resumed, when the decision is to use another one', async () => {
    const key = keyOfBatch();
    const onUnknownOutcome = 'resend';
    const working = { prompts: [{ prompt: script('sleep 600') }], onUnknownOutcome } as const;
    const first = await start(itemInput('expired', 3, { job: working, origin: { key } }));
    await phaseIs(first, 'following');
    const stoppedId = forksOf('expired')[0]?.id;
    await stand.restartWorker(async () => {
      await first.terminate();
      await stand.api.stopSandbox(stoppedId ?? '');
      await expect.poll(() => forksOf('expired')[0]?.state).toBe('archived');
      await stand.fault({ kind: 'error', endpoint: 'resumeSandbox', status: 409, code: 'snapshot_data_expired' });
    });
    const job = { prompts: [{ prompt: script('echo again') }], onUnknownOutcome } as const;
    const second = await (await start(itemInput('expired', 3, { job, origin: { key, lookFirst: true } }))).result();
    expect(second).toMatchObject({ outcome: 'completed', generation: 2 });
    expect(second.left).toMatchObject([{ kind: 'sandbox', sandboxId: stoppedId }]);
  });

  it('whose fork was deleted since repeats nothing, and does not say that its prompt was never sent', async () => {
    const key = keyOfBatch();
    const job = { prompts: [{ prompt: script(untilGo) }], onUnknownOutcome: 'abandon' as const };
    const first = await start(itemInput('deleted', 3, { job, origin: { key } }));
    await phaseIs(first, 'following');
    const [fork] = forksOf('deleted');
    await stand.restartWorker(async () => {
      await first.terminate();
      await stand.api.deleteSandbox(fork?.id ?? '');
      await expect.poll(() => forksOf('deleted')[0]?.gone).toBe('deleted');
    });
    const second = await (await start(itemInput('deleted', 3, { job, origin: { key, lookFirst: true } }))).result();
    expect(second).toMatchObject({ outcome: 'outcome_unknown', generation: 1 });
    const { job: result } = await resultOf(second);
    expect(result?.prompts).toMatchObject([{ promptId: promptsOf('deleted')[0]?.id, status: 'queued' }]);
    expect([forksOf('deleted').length, promptsOf('deleted').length]).toEqual([1, 1]);
  });
});

describe('an item whose fork request gets no answer', () => {
  it('reports that it may have left a fork if it is cancelled and no answer arrives', async () => {
    await stand.fault({ kind: 'latency', endpoint: 'forkSandbox', ms: 30_000 });
    const handle = await start(itemInput('silent', 4, { job: { timing: { ...shortTiming, cleanUpMs: 1_000 } } }));
    const pending = async () => (await handle.describe()).raw.pendingActivities?.[0]?.lastStartedTime ?? null;
    await expect.poll(pending).not.toBeNull();
    await handle.cancel();
    const summary = await handle.result();
    expect(summary).toMatchObject({ outcome: 'cancelled', endedAsAsked: false, sandboxId: null });
    const sandboxName = expect.stringMatching(/^sf-test-silent-.*-i4-1$/);
    expect(summary.left).toMatchObject([{ kind: 'sandbox', sandboxId: null, sandboxName }]);
  });
});

describe('an item whose fork is throttled', () => {
  it('reports to its chunk less and less often, waits, and then has its whole time', async () => {
    const chunkWorkflowId = `chunk-${randomBytes(4).toString('hex')}`;
    // It has no worker, so its history keeps its signals.
    const chunk = await stand.client.workflow.start('nobody', {
      workflowId: chunkWorkflowId,
      taskQueue: chunkWorkflowId,
    });
    const refusal = { kind: 'error', endpoint: 'forkSandbox', status: 429, code: 'rate_limited' } as const;
    await stand.fault({ ...refusal, times: 3 });
    const input = itemInput('throttled', 2, { chunkWorkflowId });
    const item = await start(input);
    const summary = await item.result();
    expect(summary).toMatchObject({ outcome: 'completed', generation: 1 });
    const { forkedAt } = (await resultOf(summary)).times;
    const { deadlineAt } = await item.query(progressQuery, { ofClosedRun: item.firstExecutionRunId });
    expect(Date.parse(deadlineAt)).toBeGreaterThanOrEqual(Date.parse(forkedAt ?? '') + input.job.deadlineMs);
    expect(Date.parse(deadlineAt)).toBeLessThan(Date.now() + input.job.deadlineMs);
    const { events } = await chunk.fetchHistory();
    const signals = events?.flatMap((event) => event.workflowExecutionSignaledEventAttributes?.signalName ?? []);
    expect(signals, 'of the first refusal and the second').toEqual(['fanoutThrottled', 'fanoutThrottled']);
    await chunk.terminate();
  });

  it('continues as new when its history is long, and creates one fork', async () => {
    await stand.fault({ kind: 'error', endpoint: 'forkSandbox', status: 429, code: 'rate_limited', times: 2 });
    const handle = await start(itemInput('patient', 5, { job: { maxHistoryEvents: 12 } }));
    expect(await handle.result()).toMatchObject({ outcome: 'completed', generation: 1 });
    const { raw, runId } = await handle.describe();
    expect(raw.workflowExecutionInfo?.firstRunId).not.toBe(runId);
    expect([forksOf('patient').length, promptsOf('patient').length]).toEqual([1, 1]);
  });

  it('ends at once when it is cancelled, and has created nothing', async () => {
    await stand.fault({ kind: 'error', endpoint: 'forkSandbox', status: 429, code: 'limit_reached' });
    const handle = await start(itemInput('waiting', 2));
    await expect.poll(async () => (await progressOf(handle)).blocked?.message).toContain('limit_reached');
    await handle.cancel();
    expect(await handle.result()).toMatchObject({ outcome: 'cancelled', sandboxId: null, endedAsAsked: true });
    expect(forksOf('waiting')).toEqual([]);
  });
});

describe('the commands of a job', () => {
  it('end the job at the first failure, with its output', async () => {
    const commands = ['echo the reason >&2; exit 3', 'touch never'];
    const result = await (await stand.start({ commands, collect: ['never'] })).result();
    expect(result).toMatchObject({ outcome: 'sandbox_failed', error: { code: 'command_failed' } });
    expect(result.error?.message).toMatch(/exited with 3: the reason/);
    expect(result.prompts[0]?.status).toBe('not_sent');
    expect(result.stop?.status).toBe('completed');
  });
});
