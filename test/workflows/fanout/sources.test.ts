/** Gate: a batch whose items name several sources. Costs 12 CPU seconds. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { FanoutSource } from '../../../src/protocol/fanout/fanout-input.js';
import { cancelFanout, fanoutProgress } from '../../../src/workflow-client/fanouts/fanout-client.js';
import { resumeFanout } from '../../../src/workflow-client/fanouts/resume-fanout.js';
import type { FanoutInput, FanoutResult } from '../../../workflows/index.js';
import { createStand, letGo, type Stand, script, untilGo } from '../workflow-harness.js';
import { addFanoutChunk, sealFanout, startFanout } from './by-chunks.js';
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
  source,
  usableSandbox,
} from './fanout-harness.js';
import { holding } from './source-harness.js';

let stand: Stand;
beforeAll(async () => {
  stand = await createStand({ worker: { forksPerSecond: 1_000 } });
});
afterAll(() => stand.close());

const prepare = (command: string, over: Partial<Extract<FanoutSource, { kind: 'prepare' }>> = {}): FanoutSource => {
  const none = { body: {}, put: [], prompts: [] };
  return { kind: 'prepare', ...none, commands: [command], deadlineMs: 60_000, end: 'delete', ...over };
};

/** A batch without a source of its own. Each of these has a chunk of as many items, which show what they started from. */
async function submitted(sources: readonly FanoutSource[], over: Parameters<typeof fanoutInput>[1], perChunk = 1) {
  const input = fanoutInput(undefined, over);
  await startFanout(stand.client, input, { taskQueue: stand.taskQueue });
  const all = items(sources.length * perChunk, () => 'cat seed');
  for (const [chunk, own] of sources.entries()) {
    const firstIndex = chunk * perChunk;
    const chunkItems = all.slice(firstIndex, firstIndex + perChunk);
    await addFanoutChunk(stand.client, input, { chunk, firstIndex, items: chunkItems, source: own });
  }
  await sealFanout(stand.client, input, { chunks: sources.length, items: all.length });
  return input;
}

/** The last parts of the names of the batch's sandboxes, such as `p2-1`, where `-p2-1` is its deletion. In order. */
function comingsAndGoings(input: FanoutInput): string[] {
  const parts = new Map(forks(stand, input).map(({ id, name }) => [id, name.split('-').slice(-2).join('-')]));
  const made = new Set<string>();
  return stand.service.books.calls().flatMap(({ endpoint, sandboxId, status }) => {
    const part = parts.get(sandboxId ?? '');
    if (part === undefined || (status ?? 500) >= 300) return [];
    if (endpoint === 'deleteSandbox') return [`-${part}`];
    if (made.has(part)) return [];
    made.add(part);
    return [part];
  });
}

/** The most sandboxes that were prepared and not yet deleted. */
function mostPrepared(input: FanoutInput): number {
  let [now, most] = [0, 0];
  for (const one of comingsAndGoings(input)) {
    if (/^p/.test(one)) now += 1;
    if (/^-p/.test(one)) now -= 1;
    most = Math.max(most, now);
  }
  return most;
}

const shown = async (result: FanoutResult) =>
  (await lines(stand, result)).map(({ outcome, job }) => job?.prompts[0]?.result?.trim() ?? outcome);

it('obtains each source once, one after the other as asked, and ends it with its last item', async () => {
  const sandboxId = await archivedSandbox(stand);
  await holding(stand, 'one-of-several');
  const prepared = prepare('echo prepared > seed');
  const sources = [
    source(sandboxId),
    prepared,
    { kind: 'snapshot', from: 'one-of-several', body: {} } as const,
    prepared,
    prepare('echo other > seed'),
  ];
  const input = await submitted(sources, { policy: { sourcesAtOnce: 1 } }, 2);
  const result = await ended(stand, input);
  expect(result).toMatchObject({
    outcome: 'completed',
    error: null,
    sources: { waiting: 0, preparing: 0, ready: 0, ended: 4, failed: 0 },
  });
  const [first, second, third, ...rest] = await shown(result);
  expect([first, second]).toEqual([expect.stringContaining('from the source'), first]);
  expect([third, ...rest].map((text) => /prepared|other|from the source/.exec(text ?? '')?.[0])).toEqual([
    ...['prepared', 'prepared', 'from the source', 'from the source', 'prepared', 'prepared', 'other', 'other'],
  ]);
  const events = comingsAndGoings(input);
  expect(events.filter((one) => one.includes('p'))).toEqual(['p1-1', '-p1-1', 'p4-1', '-p4-1']);
  const at = (event: string) => events.indexOf(event);
  // The source of items 2, 3, 6 and 7.
  for (const item of ['i0', 'i1']) expect(at(`-${item}-1`)).toBeLessThan(at('p1-1'));
  for (const item of ['i2', 'i3', 'i6', 'i7']) expect(at(`-${item}-1`)).toBeLessThan(at('-p1-1'));
  for (const item of ['i4', 'i5']) expect(at('-p1-1')).toBeLessThan(at(`${item}-1`));
  for (const item of ['i4', 'i5']) expect(at(`-${item}-1`)).toBeLessThan(at('p4-1'));
});

it('ends only the items of a source that fails, and a resume tries it again', async () => {
  const busy = await usableSandbox(stand);
  await stand.api.sendPrompt(busy, { prompt: script(untilGo) });
  const prepared = prepare('echo well > seed');
  const later = { kind: 'snapshot', from: 'named-later', body: {} } as const;
  const sources = [source(busy), prepared, prepared, later, prepare('exit 4', { end: 'stop' })];
  const input = await submitted(sources, { policy: { breaker: 1 } });
  const result = await ended(stand, input);
  expect(result).toMatchObject({
    outcome: 'partly_failed',
    error: { message: expect.stringMatching(/^The source of item [145] failed: /) },
    counts: { completed: 2, failed: 1, queued: 0, byOutcome: { not_started: 2, rejected: 1 } },
    sources: { ended: 1, failed: 3 },
  });
  expect(result.held).toBeUndefined();
  expect(leftForks(stand, input)).toEqual([]);
  await letGo(stand, busy);
  await expect.poll(async () => (await stand.api.getSandbox(busy)).sandbox.state).not.toBe('running');
  await holding(stand, 'named-later');
  await resumeFanout(stand.client, input, { taskQueue: stand.taskQueue, retryFailed: true });
  expect(await ended(stand, input)).toMatchObject({
    outcome: 'partly_failed',
    error: { code: 'command_failed', message: expect.stringContaining('The source of item 5 failed') },
    counts: { completed: 4, byOutcome: { not_started: 1 } },
  });
  expect(comingsAndGoings(input).filter((one) => /^p/.test(one)).sort()).toEqual(['p1-1', 'p4-1', 'p4-4']);
  expect(leftForks(stand, input)).toEqual([]);
});

it('leaves nothing of its sources when it is cancelled, also while they are prepared', async () => {
  const input = await submitted(
    ['a', 'b', 'c'].map((name) => prepare(`${untilGo}; echo ${name} > seed`)),
    { policy: { sourcesAtOnce: 2 } },
  );
  const prepared = () => forks(stand, input).map(({ name, state }) => `${name.split('-').at(-2)} ${state}`);
  await expect.poll(() => prepared().sort()).toEqual(['p0 ready', 'p1 ready']);
  await letGo(stand, forks(stand, input).find(({ name }) => name.includes('-p0-'))?.id);
  await expect.poll(() => fanoutProgress(stand.client, input)).toMatchObject({ counts: { completed: 1 } });
  await cancelFanout(stand.client, input);
  const result = await ended(stand, input);
  expect(result).toMatchObject({ outcome: 'cancelled', left: [], counts: { completed: 1 } });
  expect(mostPrepared(input)).toBe(2);
  expect(forks(stand, input).filter(({ gone }) => gone === null)).toEqual([]);
});

it('continues as new between them, and prepares each once', async () => {
  const sources = [0, 1, 2, 3, 4].map((name) => prepare(`echo number ${name} > seed`));
  const input = await submitted(sources, { pace: { maxHistoryEvents: 30 }, policy: { sourcesAtOnce: 2 } });
  const { firstRunId } = (await batchOf(stand, input).describe()).raw.workflowExecutionInfo ?? {};
  const result = await ended(stand, input);
  expect(result).toMatchObject({ outcome: 'completed', counts: { completed: 5 }, sources: { ended: 5 } });
  expect((await batchOf(stand, input).describe()).runId).not.toBe(firstRunId);
  const names = (await shown(result)).map((text) => /number \d/.exec(text)?.[0]);
  expect(names).toEqual([0, 1, 2, 3, 4].map((name) => `number ${name}`));
  expect(mostPrepared(input)).toBeLessThanOrEqual(2);
  const made = comingsAndGoings(input).filter((one) => /^p/.test(one));
  expect(made.sort()).toEqual(['p0-1', 'p1-1', 'p2-1', 'p3-1', 'p4-1']);
  expect(promptedForks(stand, input)).toHaveLength(5);
  expect(leftForks(stand, input)).toEqual([]);
});
