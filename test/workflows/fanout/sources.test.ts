/** Gate: a batch whose items name several sources. Costs 12 CPU seconds. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { resumeFanout } from '../../../src/workflow-client/fanouts/resume-fanout.js';
import { createStand, letGo, type Stand, script, untilGo } from '../workflow-harness.js';
import { archivedSandbox, ended, leftForks, source, usableSandbox } from './fanout-harness.js';
import { holding } from './source-harness.js';
import { comingsAndGoings, prepare, shown, submitted } from './sources-harness.js';

let stand: Stand;
beforeAll(async () => {
  stand = await createStand({ worker: { forksPerSecond: 1_000 } });
});
afterAll(() => stand.close());

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
  const input = await submitted(stand, sources, { policy: { sourcesAtOnce: 1 } }, 2);
  const result = await ended(stand, input);
  expect(result).toMatchObject({
    outcome: 'completed',
    error: null,
    sources: { waiting: 0, preparing: 0, ready: 0, ended: 4, failed: 0 },
  });
  const [first, second, third, ...rest] = await shown(stand, result);
  expect([first, second]).toEqual([expect.stringContaining('from the source'), first]);
  expect([third, ...rest].map((text) => /prepared|other|from the source/.exec(text ?? '')?.[0])).toEqual([
    ...['prepared', 'prepared', 'from the source', 'from the source', 'prepared', 'prepared', 'other', 'other'],
  ]);
  const events = comingsAndGoings(stand, input);
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
  const input = await submitted(stand, sources, { policy: { breaker: 1 } });
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
  expect(
    comingsAndGoings(stand, input)
      .filter((one) => /^p/.test(one))
      .sort(),
  ).toEqual(['p1-1', 'p4-1', 'p4-4']);
  expect(leftForks(stand, input)).toEqual([]);
});
