/** A resume with another prompt, or of chosen items. Tier: temporal, about 60 s. */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import type { ItemResult } from '../../../../src/protocol/fanout/fanout-result.js';
import { cancelFanout, describeFanout, fanoutProgress } from '../../../../src/workflow-client/fanouts/fanout-client.js';
import { planResume } from '../../../../src/workflow-client/fanouts/plan-resume.js';
import { resumeFanout } from '../../../../src/workflow-client/fanouts/resume-fanout.js';
import { cli as runCli } from '../../../unit/cli/in-process.js';
import { temporaryDirectory } from '../../../unit/cli/temporary-directory.js';
import {
  address,
  archivedSandbox,
  batchOf,
  chunkOf,
  ended,
  fanoutInput,
  items,
  lines,
  promptedForks,
  run,
  source,
  submit,
} from '../../../workflows/fanout/fanout-harness.js';
import { createStand, deployment, type Stand, script } from '../../../workflows/workflow-harness.js';

let stand: Stand;
let sandboxId: string;
beforeAll(async () => {
  stand = await createStand();
  sandboxId = await archivedSandbox(stand);
});
afterAll(() => stand.close());

const fanout = (cwd: string, ...args: string[]) =>
  runCli(['fanout', ...args], {
    cwd,
    env: {
      TEMPORAL_ADDRESS: inject('temporalAddress'),
      SANDBOX_API_URL: stand.service.url ?? '',
      SANDBOX_API_KEY: 'test-key',
      SANDFLOW_DEPLOYMENT: deployment,
      SANDFLOW_TASK_QUEUE: stand.taskQueue,
      SANDFLOW_RESULTS: stand.resultsDirectory,
    },
  });

async function savedResults(cwd: string, batchId: string): Promise<ItemResult[]> {
  const text = await readFile(join(cwd, `fanout-${batchId}`, 'results.jsonl'), 'utf8');
  return text
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as ItemResult);
}

const triesOf = (results: readonly ItemResult[]) =>
  results.map(({ itemId, generation, outcome, earlier = [] }) => [
    itemId,
    ...earlier.map((attempt) => `${attempt.generation} ${attempt.outcome}`),
    `${generation} ${outcome}`,
  ]);

it('runs failed items with a corrected prompt, and chosen ones again, in one batch with one report', async () => {
  const cwd = await temporaryDirectory();
  const { batchId } = address();
  await writeFile(join(cwd, 'items.csv'), 'id,code\none,0\ntwo,3\nthree,0\n');
  await writeFile(join(cwd, 'first.md'), script('echo first of {{id}}; exit {{code}}'));
  await writeFile(join(cwd, 'better.md'), script('echo better for {{id}}'));
  const prompted = () => promptedForks(stand, { batchId }).sort();
  const started = await fanout(cwd, 'items.csv', '--prompt', '@first.md', '--source', sandboxId, '--id', batchId);
  expect(started).toMatchObject({ exitCode: 1 });
  expect(prompted()).toEqual(['i0-1', 'i1-1', 'i2-1']);

  const planned = await fanout(cwd, 'resume', batchId, '--prompt', '@better.md', '--dry-run');
  expect(planned).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(`1 item of ${batchId} would run`) });
  expect(planned.stdout).toMatch(/two {2}prompt_failed {2}Please run this.*better for two/);
  expect((await describeFanout(stand.client, { deployment, batchId })).status.name).toBe('COMPLETED');
  expect(prompted()).toHaveLength(3);

  expect(await fanout(cwd, 'resume', batchId, '--prompt', '@better.md')).toMatchObject({ exitCode: 0 });
  expect(prompted()).toEqual(['i0-1', 'i1-1', 'i1-2', 'i2-1']);
  const results = await savedResults(cwd, batchId);
  expect(triesOf(results)).toEqual([
    ['one', '1 completed'],
    ['two', '1 prompt_failed', '2 completed'],
    ['three', '1 completed'],
  ]);
  const two = results[1];
  expect(two?.job?.prompts[0]?.result).toContain('better for two');
  expect(two?.earlier?.[0]).toMatchObject({
    prompt: expect.stringContaining('exit 3'),
    error: expect.stringContaining('3'),
    sandboxId: expect.stringMatching(/^bx_/),
  });
  expect(two?.earlier?.[0]?.machineSeconds).toBeGreaterThan(0);
  const report = await readFile(join(cwd, `fanout-${batchId}`, 'report.html'), 'utf8');
  expect(report).toContain('echo first of two; exit 3');
  expect(report).toContain('echo better for two');

  expect(await fanout(cwd, 'resume', batchId, '--only', 'one')).toMatchObject({ exitCode: 0 });
  const afterNamed = ['i0-1', 'i0-2', 'i1-1', 'i1-2', 'i2-1'];
  expect(prompted()).toEqual(afterNamed);
  const twice = await fanout(cwd, 'resume', batchId, '--only', 'one');
  expect(twice).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('Nothing to run') });
  const unknown = await fanout(cwd, 'resume', batchId, '--only', 'tow');
  expect(unknown).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('nearest ids are two') });
  const poor = await fanout(cwd, 'resume', batchId, '--only', 'two', '--budget', '1m');
  expect(poor).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('--budget 1 m covers no item') });
  const other = await fanout(cwd, 'resume', batchId, '--only', 'one', '--provider', 'no-such-harness', '--dry-run');
  expect(other).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('has no provider no-such-harness') });
  const enough = await fanout(cwd, 'resume', batchId, '--first', '3', '--prompt', '@better.md');
  expect(enough).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('so no item would run') });
  const same = await fanout(cwd, 'resume', batchId, '--only', 'one,three', '--prompt', script('true'));
  expect(same).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('every item the same prompt') });
  expect(prompted()).toEqual(afterNamed);
});

it('a plain resume of a batch that has reached its --first says that no item would run, and a larger one runs', async () => {
  const cwd = await temporaryDirectory();
  const input = fanoutInput(source(sandboxId), { policy: { concurrency: 1, stopAt: { kind: 'successes', count: 1 } } });
  const { batchId } = input;
  expect(await run(stand, input, items(2))).toMatchObject({ counts: { completed: 1 } });
  const plain = await fanout(cwd, 'resume', batchId);
  expect(plain).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('so no item would run') });
  expect(await fanout(cwd, 'resume', batchId, '--first', '2')).toMatchObject({ exitCode: 0 });
  expect(promptedForks(stand, input).sort()).toEqual(['i0-1', 'i1-1']);
  const done = await fanout(cwd, 'resume', batchId);
  expect(done).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('Nothing left to run') });
});

describe('a resume with a changed prompt', () => {
  const change = (commands: (id: string) => string) => (item: { readonly id: string }) => ({
    ...item,
    prompts: [{ prompt: script(commands(item.id)) }],
  });

  it('keeps the change for the next resume, if it was cancelled before the item had its turn', async () => {
    const input = fanoutInput(source(sandboxId), { policy: { concurrency: 1 } });
    const first = await run(stand, input, items(2));
    expect(first).toMatchObject({ outcome: 'completed' });
    const options = { results: stand.results, only: ['item-0', 'item-1'] };
    const plan = await planResume(stand.client, input, {
      ...options,
      change: change((id) => (id === 'item-0' ? 'sleep 600' : 'echo changed')),
    });
    await resumeFanout(stand.client, input, { taskQueue: stand.taskQueue, results: stand.results, plan });
    await expect.poll(() => promptedForks(stand, input)).toContain('i0-2');
    await expect(planResume(stand.client, input, options)).rejects.toMatchObject({ code: 'fanout_runs' });
    await cancelFanout(stand.client, input);
    expect(await ended(stand, input)).toMatchObject({ outcome: 'cancelled' });
    const rest = await planResume(stand.client, input, { results: stand.results, only: ['item-1'] });
    await resumeFanout(stand.client, input, { taskQueue: stand.taskQueue, results: stand.results, plan: rest });
    const last = await lines(stand, await ended(stand, input));
    expect(triesOf(last)).toEqual([
      ['item-0', '1 completed', '2 cancelled'],
      ['item-1', '1 completed', '2 completed'],
    ]);
    expect(last[1]?.job?.prompts[0]?.result).toContain('changed');
  });

  it('runs an item that completed once, however often the same command is given', async () => {
    const input = fanoutInput(source(sandboxId));
    await run(stand, input, items(2));
    for (let time = 0; time < 3; time += 1) {
      const plan = await planResume(stand.client, input, {
        ...{ results: stand.results, only: ['item-0', 'item-1'] },
        change: change((id) => (id === 'item-0' ? 'true' : 'exit 1')),
      });
      await resumeFanout(stand.client, input, { taskQueue: stand.taskQueue, results: stand.results, plan });
      await ended(stand, input);
    }
    expect(promptedForks(stand, input).sort()).toEqual(['i0-1', 'i0-2', 'i1-1', 'i1-2', 'i1-3', 'i1-4']);
  });

  it('is refused while an attempt of the earlier prompt is open, which a resume without changes ends', async () => {
    const input = fanoutInput(source(sandboxId));
    await submit(
      stand,
      input,
      items(1, () => 'sleep 20; echo earlier'),
    );
    await expect.poll(() => promptedForks(stand, input)).toEqual(['i0-1']);
    await batchOf(stand, input).terminate();
    const plan = () =>
      planResume(stand.client, input, { results: stand.results, change: change(() => 'echo changed') });
    await expect(plan()).rejects.toMatchObject({ code: 'fanout_runs' });
    await chunkOf(stand, input, 0).terminate();
    await stand.client.workflow.getHandle(`sf-${deployment}-${input.batchId}/i0`).terminate();
    await expect.poll(() => plan().catch(({ message }) => message)).toContain('its last attempt did not end');
    await resumeFanout(stand.client, input, { taskQueue: stand.taskQueue });
    expect(await ended(stand, input)).toMatchObject({ outcome: 'completed' });
    expect(promptedForks(stand, input)).toEqual(['i0-1']);
    expect((await fanoutProgress(stand.client, input)).counts).toMatchObject({ completed: 1 });
  });
});
