/**
 * What commands say of a job that something holds. Extended: `test/unit/cli/output/job-hold.test.ts` has the sentences,
 * and `test/workflows/job/commands/command.test.ts` the promise. It costs 20 CPU seconds.
 */
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { createItemLooks } from '../../../../src/cli/fanout/progress/item-looks.js';
import { diskFull } from '../../../../src/errors/disk-full.js';
import type { ResultStore } from '../../../../src/result-store/index.js';
import { cli as runCli } from '../../../unit/cli/in-process.js';
import {
  archivedSandbox,
  ended,
  fanoutInput,
  items,
  source,
  submit,
} from '../../../workflows/fanout/fanout-harness.js';
import { createIntercept } from '../../../workflows/intercept.js';
import { progressOf } from '../../../workflows/job-progress.js';
import { heal, readySandbox } from '../../../workflows/stop/stop-harness.js';
import { createStand, deployment, type Stand, script, shortTiming } from '../../../workflows/workflow-harness.js';

const intercept = createIntercept();
/** True while the disk of the result store has no room for collected files. */
let isFull = false;
const onFullDisk = (store: ResultStore): ResultStore => ({
  ...store,
  put: (key, ...rest) =>
    isFull && key.includes('/files/') ? Promise.reject(diskFull('/results', null)) : store.put(key, ...rest),
});

let stand: Stand;
beforeAll(async () => {
  stand = await createStand({ through: intercept.through, results: onFullDisk, worker: { forksPerSecond: 1_000 } });
});
afterEach(async () => {
  intercept.clear();
  isFull = false;
  stand.service.clock.release();
  await heal(stand);
});
afterAll(() => stand.close());

const command = (args: readonly string[], onStderr?: (text: string) => void) =>
  runCli(args, {
    onStderr,
    env: {
      TEMPORAL_ADDRESS: inject('temporalAddress'),
      SANDBOX_API_URL: stand.service.url ?? '',
      SANDBOX_API_KEY: 'test-key',
      SANDFLOW_DEPLOYMENT: deployment,
      SANDFLOW_TASK_QUEUE: stand.taskQueue,
      SANDFLOW_RESULTS: stand.resultsDirectory,
    },
  });
const jobs = (args: readonly string[], onStderr?: (text: string) => void) => command(['jobs', ...args], onStderr);
const shown = async (jobId: string) => (await jobs(['show', jobId])).stdout;
const next = async (jobId: string) => /next: .*/.exec((await jobs(['show', jobId])).stderr)?.[0];
/** The clean-up does not end while a test looks at it. */
const timing = { ...shortTiming, cleanUpMs: 3_600_000 };

/** Holds every create until it is let go. */
function holdCreates() {
  let letGo = () => {};
  const held = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  let calls = 0;
  intercept.on('createSandbox', async (call) => {
    calls += 1;
    await held;
    return call();
  });
  return { calls: () => calls, letGo };
}

describe('a cancel that waits for the answer to a create', () => {
  const waits = /cancelling: waiting for the answer to the create of its sandbox, until \S+Z at the latest/;

  it('is what jobs show and jobs cancel --wait say, and no second cancel is offered', async () => {
    const create = holdCreates();
    const handle = await stand.start({ timing });
    await expect.poll(create.calls).toBe(1);
    const { jobId } = await progressOf(handle);
    expect(await shown(jobId)).toMatch(/^creating the sandbox/);
    expect(await next(jobId)).toContain(`sandflow jobs cancel ${jobId}`);
    let told = '';
    const cancel = jobs(['cancel', jobId, '--wait'], (text) => {
      told = text;
    });
    await expect.poll(() => told).toMatch(waits);
    expect(await shown(jobId)).toMatch(waits);
    expect(await next(jobId)).toBe(`next: sandflow jobs logs ${jobId} -f · sandflow jobs watch ${jobId}`);
    create.letGo();
    expect(await cancel).toMatchObject({
      exitCode: 0,
      stderr: expect.stringContaining(`Job ${jobId} ended: cancelled.`),
    });
    expect(await handle.result()).toMatchObject({ outcome: 'cancelled', left: [] });
  });
});

it('a stop that fails at the end of a job is what jobs show says, with the command that explains it', async () => {
  await stand.fault({ kind: 'stop_fails', times: 100_000 });
  const handle = await stand.start({ timing });
  const { jobId } = await progressOf(handle);
  await expect
    .poll(() => shown(jobId))
    .toMatch(/^waiting until the sandbox is archived · bx_\w+ · its stop \S+ is failing, and is tried again: \S/);
  const { sandboxId } = await progressOf(handle);
  expect(await next(jobId)).toBe(
    `next: sandflow jobs logs ${jobId} -f · sandflow jobs watch ${jobId} · sandflow stops explain ${sandboxId}`,
  );
  await heal(stand);
  expect(await handle.result()).toMatchObject({ outcome: 'completed', stop: { status: 'completed' } });
});

it('a machine that is being archived before a job can resume it is what jobs show says', async () => {
  const sandboxId = await readySandbox(stand);
  stand.service.clock.hold();
  const { stop } = await stand.api.stopSandbox(sandboxId);
  const handle = await stand.start({ source: { kind: 'existing', sandboxId }, end: 'keep' });
  const { jobId } = await progressOf(handle);
  await expect
    .poll(() => shown(jobId))
    .toContain(`waiting until the sandbox is archived, to resume it · ${sandboxId} · its stop ${stop?.id} is pending`);
  stand.service.clock.release();
  expect(await handle.result()).toMatchObject({ outcome: 'completed' });
});

it('a result store that is full is what jobs show says, and the row of an item', async () => {
  const sandboxId = await archivedSandbox(stand);
  isFull = true;
  const handle = await stand.start({ collect: ['out'], prompts: [{ prompt: script('echo x > out') }] });
  const { jobId } = await progressOf(handle);
  await expect.poll(() => shown(jobId)).toMatch(/^collectFile has not succeeded yet .*The disk is full: \/results/m);
  const [first] = items(1, () => 'echo x > out');
  const input = fanoutInput(source(sandboxId));
  await submit(stand, input, first ? [{ ...first, collect: ['out'] }] : []);
  const looks = createItemLooks({ temporal: stand.client, service: stand.api }, input);
  const row = { phase: 'collecting files', text: expect.stringContaining('The disk is full: /results') };
  const { signal } = new AbortController();
  const rows = async () => {
    await looks.look(5, signal);
    return (await looks.list(signal)).rows;
  };
  await expect.poll(rows).toMatchObject([row]);
  isFull = false;
  expect(await handle.result()).toMatchObject({ outcome: 'completed', files: [{ error: null }] });
  expect(await ended(stand, input)).toMatchObject({ outcome: 'completed' });
});

it('a follow that cannot read its prompt is what jobs show says, with the error of the attempt that failed', async () => {
  await stand.fault({ kind: 'error', endpoint: 'getPrompt', status: 503, code: 'http_500', times: 100_000 });
  const handle = await stand.start({});
  const { jobId } = await progressOf(handle);
  await expect
    .poll(() => shown(jobId))
    .toMatch(/^\w*[fF]ollowPrompt has not succeeded yet and is repeated; last attempt: .*http_500/m);
  await heal(stand);
  expect(await handle.result()).toMatchObject({ outcome: 'completed' });
});

it('a service that refuses every read while an agent works is what jobs show says, and since when the agent works', async () => {
  const handle = await stand.start({ prompts: [{ prompt: script('sleep 600') }] });
  await expect.poll(async () => (await progressOf(handle)).phase).toBe('following');
  for (const endpoint of ['listSandboxes', 'getSandbox', 'getPrompt'] as const) {
    // As from a proxy during maintenance.
    await stand.fault({ kind: 'error', endpoint, status: 503, html: true, retryAfterSeconds: 600, times: 100_000 });
  }
  const { jobId } = await progressOf(handle);
  await expect
    .poll(() => shown(jobId))
    .toMatch(
      /^the agent is working · bx_\w+ · for \d.*^\w*[fF]ollowPrompt has not succeeded yet .*The answer was 503/ms,
    );
  await handle.cancel();
  await heal(stand);
  expect(await handle.result()).toMatchObject({ outcome: 'cancelled' });
});

it('the end of a job that kept its sandbox says when the sandbox stops itself, and how to stop it', async () => {
  const { stderr } = await command(['run', script('echo kept'), '--end', 'keep', '--ttl', '2h', '--id', 'keeps']);
  const said =
    /^ {2}The sandbox stops itself in (1 h 59 m|2 h) if no agent works in it; stop it: sandflow stop bx_\w{8}$/m;
  expect(stderr).toMatch(said);
  expect((await jobs(['show', 'keeps'])).stderr).toMatch(said);
});

it('a job that starts with several prompts says how many: a pattern may have named more files than was thought', async () => {
  const { stderr } = await command(['run', script('echo 1'), script('echo 2'), '--id', 'pair']);
  expect(stderr).toMatch(/^Job pair started with 2 prompts\./m);
  expect((await command(['run', script('echo 1'), '--id', 'single'])).stderr).toMatch(/^Job single started\./m);
});
