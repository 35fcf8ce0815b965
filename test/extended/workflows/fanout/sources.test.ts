/** A batch whose items name several sources is cancelled, terminated and resumed, held, or continues as new. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { cancelFanout, fanoutProgress } from '../../../../src/workflow-client/fanouts/fanout-client.js';
import { resumeFanout } from '../../../../src/workflow-client/fanouts/resume-fanout.js';
import {
  archivedSandbox,
  batchOf,
  chunkOf,
  ended,
  forks,
  leftForks,
  promptedForks,
  source,
} from '../../../workflows/fanout/fanout-harness.js';
import { heldBatch } from '../../../workflows/fanout/held-batches.js';
import {
  comingsAndGoings,
  mostPrepared,
  prepare,
  shown,
  submitted,
} from '../../../workflows/fanout/sources-harness.js';
import { createStand, deployment, letGo, type Stand, untilGo } from '../../../workflows/workflow-harness.js';

let stand: Stand;
beforeAll(async () => {
  stand = await createStand({ worker: { forksPerSecond: 1_000 } });
});
afterAll(() => stand.close());

it('leaves nothing of its sources when it is cancelled, also while they are prepared', async () => {
  const input = await submitted(
    stand,
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
  expect(mostPrepared(stand, input)).toBe(2);
  expect(forks(stand, input).filter(({ gone }) => gone === null)).toEqual([]);
});

it('continues as new between them, and prepares each once', async () => {
  const sources = [0, 1, 2, 3, 4].map((name) => prepare(`echo number ${name} > seed`));
  const input = await submitted(stand, sources, { pace: { maxHistoryEvents: 30 }, policy: { sourcesAtOnce: 2 } });
  const { firstRunId } = (await batchOf(stand, input).describe()).raw.workflowExecutionInfo ?? {};
  const result = await ended(stand, input);
  expect(result).toMatchObject({ outcome: 'completed', counts: { completed: 5 }, sources: { ended: 5 } });
  expect((await batchOf(stand, input).describe()).runId).not.toBe(firstRunId);
  const names = (await shown(stand, result)).map((text) => /number \d/.exec(text)?.[0]);
  expect(names).toEqual([0, 1, 2, 3, 4].map((name) => `number ${name}`));
  expect(mostPrepared(stand, input)).toBeLessThanOrEqual(2);
  const made = comingsAndGoings(stand, input).filter((one) => /^p/.test(one));
  expect(made.sort()).toEqual(['p0-1', 'p1-1', 'p2-1', 'p3-1', 'p4-1']);
  expect(promptedForks(stand, input)).toHaveLength(5);
  expect(leftForks(stand, input)).toEqual([]);
});

const resume = (batch: { readonly batchId: string }) =>
  resumeFanout(stand.client, { deployment, ...batch }, { taskQueue: stand.taskQueue });
const notGone = (batch: { readonly batchId: string }) => forks(stand, batch).filter(({ gone }) => gone === null);
const inState = (batch: { readonly batchId: string }, part: string) =>
  forks(stand, batch).find(({ name }) => name.endsWith(`-${part}`))?.state;

it('that is resumed ends without sources that are lost, and obtains none that no chunk needs', async () => {
  const [main, own] = [await archivedSandbox(stand), await archivedSandbox(stand)];
  const over = { source: source(main), policy: { concurrency: 1 } };
  const input = await submitted(stand, [undefined, source(own)], over, 2, (at) => (at < 2 ? 'true' : untilGo));
  await expect.poll(() => inState(input, 'i2-1')).toBe('running');
  await batchOf(stand, input).terminate();
  for (const lost of [main, own]) await stand.api.deleteSandbox(lost);
  await resume(input);
  expect(await ended(stand, input)).toMatchObject({
    outcome: 'partly_failed',
    error: { code: 'sandbox_not_found', message: expect.stringContaining('The source of item 3 failed') },
    counts: { completed: 2, running: 0, queued: 0, byOutcome: { cancelled: 1, not_started: 1 } },
  });
});

it('that is cancelled before it obtains its sources again ends those that an earlier execution prepares', async () => {
  const slow = prepare(untilGo);
  const input = await submitted(stand, [undefined, slow], { source: slow });
  await expect.poll(() => [inState(input, 'prep-1'), inState(input, 'p1-1')]).toEqual(['ready', 'ready']);
  await batchOf(stand, input).terminate();
  await resume(input);
  await cancelFanout(stand.client, input);
  expect(await ended(stand, input)).toMatchObject({ outcome: 'cancelled', left: [], counts: { completed: 0 } });
  expect(notGone(input)).toEqual([]);
});

it('that was terminated deletes what was prepared when it is resumed, also if no item is left to run', async () => {
  const input = await submitted(stand, [undefined, prepare('true')], { source: prepare('true') }, 1, () => untilGo);
  await expect.poll(() => [inState(input, 'i0-1'), inState(input, 'i1-1')]).toEqual(['running', 'running']);
  await batchOf(stand, input).terminate();
  for (const { id, name } of forks(stand, input)) if (/-i\d-1$/.test(name)) await letGo(stand, id);
  for (const chunk of [0, 1]) await chunkOf(stand, input, chunk).result();
  expect(notGone(input).map(({ name }) => name.split('-').at(-2))).toEqual(['prep', 'p1']);
  await resume(input);
  expect(await ended(stand, input)).toMatchObject({ outcome: 'completed', counts: { completed: 2 }, left: [] });
  expect(notGone(input)).toEqual([]);
});

it('is held if the sources of all its canaries fail, and goes on when asked', async () => {
  const input = await submitted(stand, [prepare('exit 4'), prepare('echo well > seed')], { policy: { canary: 1 } });
  expect(await heldBatch(stand, input)).toMatchObject({
    held: { by: 'canary', outcome: 'not_started', code: 'command_failed', count: 1 },
    counts: { queued: 1, byOutcome: { not_started: 1 } },
  });
  await resume(input);
  expect(await ended(stand, input)).toMatchObject({ outcome: 'partly_failed', counts: { completed: 1 } });
  expect(notGone(input)).toEqual([]);
});
