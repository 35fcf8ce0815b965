import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it } from 'vitest';
import { cli as runCli } from '../../../unit/cli/in-process.js';
import { temporaryDirectory } from '../../../unit/cli/temporary-directory.js';
import { progressOf } from '../../job-progress.js';
import { heal } from '../../stop/stop-harness.js';
import { createStand, deployment, type Stand, script, shortTiming, withoutPolls } from '../../workflow-harness.js';

let stand: Stand;
beforeAll(async () => {
  stand = await createStand();
});
afterAll(() => stand.close());

const cli = (args: readonly string[]) => command(['jobs', ...args]);
const command = (args: readonly string[], cwd?: string, env: Readonly<Record<string, string>> = {}) =>
  runCli(args, {
    cwd,
    env: {
      TEMPORAL_ADDRESS: inject('temporalAddress'),
      SANDBOX_API_URL: stand.service.url ?? '',
      SANDBOX_API_KEY: 'test-key',
      SANDFLOW_DEPLOYMENT: deployment,
      SANDFLOW_TASK_QUEUE: stand.taskQueue,
      SANDFLOW_RESULTS: stand.resultsDirectory,
      ...env,
    },
  });

describe('jobs show', () => {
  it('names the sandbox that may exist while a create gets no valid answer', async () => {
    await stand.fault({ kind: 'error', endpoint: 'createSandbox', status: 503, code: 'http_500', times: 1_000 });
    const handle = await stand.start({});
    const { jobId } = await progressOf(handle);
    await expect
      .poll(async () => (await cli(['show', jobId])).stdout)
      .toMatch(/^createSandbox has not succeeded yet and is repeated; last attempt: .*http_500/m);
    const { stdout } = await cli(['show', jobId]);
    const pattern = /sandflow sandboxes --name "(.*)-\*"/.exec(stdout)?.[1];
    expect(pattern).toBeDefined();
    await heal(stand);
    const { sandboxName } = await handle.result();
    expect(sandboxName?.startsWith(`${pattern}-`), `${sandboxName} fits ${pattern}`).toBe(true);
  });

  it('of a job on another task queue than the configured one, which has no worker, says which setting names it', async () => {
    const { jobId } = await (await stand.start({})).result();
    const { exitCode, stderr } = await command(['jobs', 'show', jobId], undefined, { SANDFLOW_TASK_QUEUE: 'unserved' });
    expect(exitCode).toBe(0);
    expect(stderr).toMatch(
      /^No worker polls unserved \(workflow\),.*: jobs of this task queue wait .* in SANDFLOW_TASK_QUEUE/m,
    );
    expect((await cli(['show', jobId])).stderr).not.toContain('No worker polls');
  });
});

describe('jobs cancel', () => {
  it('sent twice makes the job skip collecting files, and reports it', async () => {
    const handle = await stand.start({ prompts: [{ prompt: script('sleep 600') }] });
    await expect.poll(async () => (await progressOf(handle)).phase).toBe('following');
    // The job does not end before the second cancel.
    await stand.fault({ kind: 'stop_fails', times: 1_000 });
    const { jobId } = await progressOf(handle);
    const first = await cli(['cancel', jobId]);
    expect(first).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('cancel again to skip that') });
    const second = await cli(['cancel', jobId, '--json']);
    expect(second).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('it now skips collecting files') });
    expect(JSON.parse(second.stdout)).toMatchObject({ jobId, again: true, error: null });
    await heal(stand);
    expect(await handle.result()).toMatchObject({ outcome: 'cancelled' });
    const { events } = await handle.fetchHistory();
    const signals = (events ?? []).flatMap(({ workflowExecutionSignaledEventAttributes: signal }) =>
      signal ? [signal.signalName] : [],
    );
    expect(signals).toContain('skipCollecting');
  });

  it('of a job that has ended is no error: it reports how the job ended', async () => {
    const handle = await stand.start({});
    const { jobId } = await handle.result();
    expect(await cli(['cancel', jobId, '--wait', '--json'])).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('"outcome":"completed"'),
      stderr: expect.stringContaining(`Job ${jobId} had already ended: completed.`),
    });
    const lost = await stand.start({ prompts: [{ prompt: script('sleep 600') }] });
    const { jobId: lostId } = await progressOf(lost);
    await lost.terminate();
    expect(await cli(['cancel', lostId])).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('was terminated outside sandflow'),
    });
  });
});

describe('jobs rerun --detach', () => {
  it('ends as run --detach does: the id on stdout, and how to go on', async () => {
    const { jobId } = await (await stand.start({})).result();
    const { exitCode, stdout, stderr } = await cli(['rerun', jobId, '--detach', '--id', 'rerun-detached']);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: 'rerun-detached\n' });
    expect(stderr).toContain('next: sandflow jobs logs rerun-detached -f');
    expect(await stand.client.workflow.getHandle(`sf-${deployment}-rerun-detached`).result()).toMatchObject({
      outcome: 'completed',
    });
  });
});

it('run and doctor say that no webhook ended a wait although a bridge is registered, and not after a repair', async () => {
  const SANDFLOW_DEPLOYMENT = 'polled';
  const checkOf = async (name: string) => {
    const { stdout } = await command(['doctor', '--json'], undefined, { SANDFLOW_DEPLOYMENT });
    return JSON.parse(stdout).checks.find((check: { readonly name: string }) => check.name === name);
  };
  const watched = async (timing = shortTiming) => {
    const { jobId } = await (await stand.start({ deployment: SANDFLOW_DEPLOYMENT, timing })).result();
    return (await command(['jobs', 'watch', jobId], undefined, { SANDFLOW_DEPLOYMENT })).stderr;
  };
  await stand.fault({ kind: 'webhook_drop', times: 100 });
  const told = '2 waits ended by polling and none by a webhook, although a bridge is registered.';
  expect(await watched()).toContain(`${told} It took longer. To find out why: sandflow doctor`);
  // Temporal's lists lag.
  const listed = () => checkOf('wakes');
  await expect.poll(listed).toMatchObject({ status: 'warning', message: expect.stringContaining(told) });
  await heal(stand);
  expect(await watched(withoutPolls)).not.toContain('ended by polling');
  await expect.poll(listed).toMatchObject({ status: 'ok' });
});

describe('continue', () => {
  it('goes on in the sandbox and conversation of a job, with its provider, model and effort, once per id', async () => {
    const step = { provider: 'codex', model: 'codex-local', reasoningEffort: 'high' } as const;
    const handle = await stand.start({ prompts: [{ prompt: script('echo one > kept'), ...step }] });
    const { jobId, sandboxId, prompts } = await handle.result();
    const args = ['continue', jobId, script('cat kept'), '--id', 'goes-on'];
    const first = await command(args);
    expect(first).toMatchObject({ exitCode: 0, stdout: 'one\n' });
    expect(first.stderr).not.toContain('echo one');
    const followUp = stand.client.workflow.getHandle(`sf-${deployment}-goes-on`);
    const result = await followUp.result();
    expect(result).toMatchObject({ sandboxId, prompts: [{ conversationId: prompts[0]?.conversationId }] });
    const sent = await stand.api.getPrompt(sandboxId ?? '', result.prompts[0].promptId);
    expect(sent.prompt).toMatchObject(step);
    expect((await stand.api.getSandbox(sandboxId ?? '')).sandbox.state).toBe('archived');
    expect(await command(args)).toMatchObject({ exitCode: 0, stdout: 'one\n' });
    const plain = ['--sandbox', sandboxId ?? '', '--conversation', prompts[0]?.conversationId ?? ''];
    const { stderr } = await command(['run', script('echo three'), ...plain]);
    expect(stderr).toContain('Provider, model and effort are those of its options, or the defaults');
    expect(stderr).not.toMatch(/echo one|cat kept/);
    const other = await command(['continue', jobId, 'Say hello', '--id', 'goes-on']);
    expect(other).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('prompts.0.prompt') });
  });

  it('says why a job cannot be continued', async () => {
    const running = await stand.start({ prompts: [{ prompt: script('sleep 600') }] });
    const { jobId: runningId } = await progressOf(running);
    const refused = async (jobId: string) => {
      const { exitCode, stderr } = await command(['continue', jobId, 'Say hello']);
      expect(exitCode).toBe(2);
      return stderr;
    };
    expect(await refused(runningId)).toContain(`sandflow jobs prompt ${runningId}`);
    await running.terminate();
    expect(await refused(runningId)).toContain('was ended in Temporal and has no result');
    const gone = await (await stand.start({ end: 'delete' })).result();
    expect(await refused(gone.jobId)).toContain(`deleted its sandbox ${gone.sandboxId}`);
    const two = [{ prompt: 'one' }, { prompt: 'two' }];
    const several = await (await stand.start({ prompts: two, conversations: 'each' })).result();
    expect(await refused(several.jobId)).toContain(`--sandbox ${several.sandboxId} --conversation `);
    const none = await (await stand.start({ prompts: [], commands: ['true'] })).result();
    expect(await refused(none.jobId)).toContain('began no conversation');
    const workflowId = `sf-${deployment}-a-batch`;
    const batch = await stand.client.workflow.start('forkFanout', { workflowId, taskQueue: 'nobody', args: [] });
    expect(await refused('a-batch')).toContain('"a-batch" is a batch, not a job. To follow up on one of its items:');
    await batch.terminate();
    expect(await refused('never-was')).toContain('There is no job "never-was"');
    const ended = await cli(['prompt', several.jobId, 'Say hello']);
    expect(ended).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(`sandflow continue ${several.jobId}`) });
  });
});

it('a new job does not replace the file of another one, and the same id saves its file again', async () => {
  const cwd = await temporaryDirectory();
  const run = (id: string) => command(['run', script(`echo ${id} > out.txt`), '--id', id, '--get', 'out.txt'], cwd);
  expect((await run('saves')).exitCode).toBe(0);
  expect(await run('saves')).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('out.txt →') });
  const other = await run('replaces');
  expect(other).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('out.txt exists already') });
  expect(await readFile(join(cwd, 'out.txt'), 'utf8')).toBe('saves\n');
  expect((await cli(['show', 'replaces'])).stderr).toContain('There is no job "replaces"');
});

it('run, jobs show and doctor name a held clock of the local service, and its release lets the job go on', async () => {
  stand.service.clock.hold();
  const started = await command(['run', script('echo through'), '--id', 'held', '--detach']);
  expect(started).toMatchObject({ exitCode: 0, stderr: expect.stringContaining('`sandflow local clock --release`') });
  expect((await cli(['show', 'held'])).stderr).toContain('The clock of the local service is held at');
  const doctor = await command(['doctor', '--json']);
  const { checks } = JSON.parse(doctor.stdout) as { checks: readonly { name: string }[] };
  expect(checks.filter(({ name }) => name === 'clock')).toMatchObject([{ status: 'failed' }]);
  expect((await command(['local', 'clock', '--release'])).exitCode).toBe(0);
  expect(await cli(['watch', 'held'])).toMatchObject({ exitCode: 0, stdout: 'through\n' });
  expect((await cli(['show', 'held'])).stderr).not.toContain('is held at');
});
