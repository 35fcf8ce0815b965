/** What a job counts whose worker is replaced, and whose prompt is followed by the follower. Gate; costs some 2 CPU seconds. */
import { Runtime } from '@temporalio/worker';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createStand, letGo, script, untilGo, withoutPolls } from '../workflow-harness.js';

interface Counted {
  readonly name: string;
  readonly value: number;
  readonly labels: Readonly<Record<string, unknown>>;
}

/** Records what the workers of this process count from now on. */
function recordMetrics(): Counted[] {
  const counted: Counted[] = [];
  const { metricMeter } = Runtime.instance();
  const record = (name: string) => (value: number, labels?: Counted['labels']) => {
    counted.push({ name, value, labels: labels ?? {} });
  };
  const as = (kind: string, way: string) =>
    ((name: string) => ({ name, kind, valueType: 'float', [way]: record(name), withTags: () => undefined })) as never;
  const spies = [
    vi.spyOn(metricMeter, 'createCounter').mockImplementation(as('counter', 'add')),
    vi.spyOn(metricMeter, 'createGauge').mockImplementation(as('gauge', 'set')),
    vi.spyOn(metricMeter, 'createHistogram').mockImplementation(as('histogram', 'record')),
  ];
  onTestFinished(() => {
    for (const spy of spies) spy.mockRestore();
  });
  return counted;
}

it('a job counts each thing once although another worker replays it, and its follower shows what it watches', async () => {
  const counted = recordMetrics();
  const named = (name: string) => counted.filter((one) => one.name === name);
  const stand = await createStand({ worker: { follow: { minIntervalMs: 100, briefFollowMs: 100, youngFollowMs: 1 } } });
  onTestFinished(() => stand.close());
  const job = await stand.start({ prompts: [{ prompt: script(untilGo) }], timing: withoutPolls });
  await expect.poll(() => named('sandflow_followed_prompts').at(-1)?.value).toBe(1);
  await stand.restartWorker();
  await expect.poll(() => named('sandflow_followed_prompts').map(({ value }) => value)).toEqual([1, 0, 1]);
  await letGo(stand, stand.service.books.prompts()[0]?.sandboxId);
  expect(await job.result()).toMatchObject({ outcome: 'completed' });
  await expect
    .poll(() => named('sandflow_work_ended'))
    .toMatchObject([{ value: 1, labels: { kind: 'job', outcome: 'completed', failure: 'none' } }]);
  const phases = ['creating', 'waiting_for_sandbox', 'prompting', 'following', 'stopping', 'waiting_for_archive'];
  expect(named('sandflow_phase_seconds').map(({ labels }) => labels.phase)).toEqual(phases);
  expect(named('sandflow_machine_seconds').map(({ labels }) => labels.part)).toEqual(['reserved', 'spent']);
  expect(named('sandflow_wake_lag_seconds').map(({ labels }) => labels.source)).toEqual([
    'webhook',
    'follower',
    'webhook',
  ]);
  expect(named('sandflow_event_waits_ended').map(({ labels }) => labels.by)).toEqual(['webhook', 'webhook']);
  await expect.poll(() => named('sandflow_followed_prompts').at(-1)?.value).toBe(0);
});
