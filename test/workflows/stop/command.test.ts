/** `sandflow stop` and `sandflow stops` against the whole product. */
import { afterAll, afterEach, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { sandboxStopId } from '../../../src/addresses/addresses.js';
import { stopProgress } from '../../../src/workflow-client/stops/read-stops.js';
import { type InProcessOptions, cli as runCli } from '../../unit/cli/in-process.js';
import { stopForGood } from '../../unit/house/snippets/stop-sandbox.js';
import { progressOf } from '../job-progress.js';
import { createStand, deployment, patient, type Stand, script } from '../workflow-harness.js';
import { callsOf, steps } from './escalation-harness.js';
import { ask, heal, outcomeOf, readySandbox } from './stop-harness.js';

let stand: Stand;
beforeAll(async () => {
  stand = await createStand();
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await heal(stand);
});
afterAll(() => stand.close());

const cli = (args: readonly string[], options: InProcessOptions = {}) =>
  runCli(args, {
    ...options,
    env: {
      SANDBOX_API_URL: stand.service.url,
      SANDBOX_API_KEY: 'test-key',
      TEMPORAL_ADDRESS: inject('temporalAddress'),
      SANDFLOW_TASK_QUEUE: stand.taskQueue,
      ...options.env,
    },
  });
const failing = () => stand.fault({ kind: 'stop_fails', times: 1_000 });
const stateOf = async (sandboxId: string) => (await stand.api.getSandbox(sandboxId)).sandbox.state;

describe('sandflow stop', () => {
  it('returns when the service has accepted each stop, and the stops continue', async () => {
    const ids = await Promise.all([readySandbox(stand), readySandbox(stand)]);
    const { exitCode, stdout } = await cli(['stop', ...ids]);
    expect(exitCode).toBe(0);
    expect(stdout.trimEnd().split('\n').sort()).toEqual(
      [...ids].sort().map((id) => `${id}  stop ${stand.service.books.stops({ sandboxId: id })[0]?.id} accepted`),
    );
    for (const id of ids) await expect.poll(() => stateOf(id)).toBe('archived');
    // The id is the same for every deployment, so the summary names the one that asked first.
    const workflow = stand.client.workflow.getHandle(sandboxStopId(ids[0] ?? ''));
    expect(await (await workflow.describe()).staticSummary()).toBe(`stop ${ids[0]}, deployment default`);
  });

  it('is refused without --yes for a sandbox in which a job works, own or given, and names the job', async () => {
    const prompts = [{ prompt: script('until [ -e go ]; do sleep 0.1; done') }];
    const own = await stand.start({ jobId: 'own-work', prompts });
    const given = await readySandbox(stand);
    await stand.start({ jobId: 'given-work', prompts, source: { kind: 'existing', sandboxId: given } });
    const idOf = async () => (await progressOf(own)).sandboxId ?? '';
    await vi.waitFor(async () => expect((await progressOf(own)).phase).toBe('following'), patient);
    await vi.waitFor(async () => expect((await stand.api.getSandbox(given)).sandbox.state).toBe('running'), patient);
    const env = { SANDFLOW_DEPLOYMENT: deployment };
    for (const [sandboxId, jobId] of [[await idOf(), 'own-work'] as const, [given, 'given-work'] as const]) {
      const refused = await cli(['stop', sandboxId], { env });
      expect(refused.exitCode).toBe(2);
      expect(refused.stderr).toContain(`${jobId} works in ${sandboxId}. To end it and keep its files`);
      expect(refused.stderr).toContain('Confirm with --yes.');
      expect(await stateOf(sandboxId)).toBe('running');
      expect(await cli(['stop', sandboxId, '--yes'], { env })).toMatchObject({ exitCode: 0 });
      // A stop that has begun is only followed, whoever still works there.
      expect(await cli(['stop', sandboxId, '--wait'], { env })).toMatchObject({ exitCode: 0 });
    }
  });

  it('waits for all sandboxes of --all and --name, prints one line each, and says what was kept', async () => {
    const saved = await readySandbox(stand, { name: 'batch-1' });
    const unsaved = await readySandbox(stand, { name: 'batch-2', snapshots: false });
    const other = await readySandbox(stand, { name: 'mine' });
    const { exitCode, stdout } = await cli(['stop', '--all', '--name', 'batch-*', '--yes', '--wait']);
    expect(exitCode).toBe(0);
    expect(stdout.trimEnd().split('\n').sort()).toEqual(
      [`${saved}  archived, work saved`, `${unsaved}  archived, nothing saved`].sort(),
    );
    expect(await stateOf(other)).toBe('ready');
    const again = await cli(['stop', saved, '--wait']);
    expect(again).toMatchObject({ exitCode: 0, stdout: `${saved}  already_archived, work saved\n` });
  });

  it('exits with 1 if one of them does not end archived, and does not delay the others', async () => {
    const good = await readySandbox(stand);
    // A 404 is believed after 90 s, and not before.
    const { exitCode, stdout } = await cli([
      'stop',
      'bx_2a2a2a2a',
      good,
      '--no-check',
      '--wait',
      '--json',
      '--deadline',
      '40s',
    ]);
    expect(exitCode).toBe(1);
    expect(JSON.parse(stdout)).toMatchObject({
      stops: [
        { sandboxId: 'bx_2a2a2a2a', outcome: 'still_failing', error: { code: 'stop_not_accepted' } },
        { sandboxId: good, outcome: 'archived', kept: 'saved' },
      ],
      error: null,
    });
  });

  it('--all under a working agent ends its job as sandbox_failed, and not as a failed prompt', async () => {
    const job = await stand.start({ prompts: [{ prompt: script('sleep 600') }] });
    const working = () => stand.service.books.prompts().find(({ status }) => status === 'running');
    await expect.poll(working).toBeDefined();
    expect((await cli(['stop', '--all', '--name', 'sf-*', '--yes', '--wait'])).exitCode).toBe(0);
    expect(await job.result()).toMatchObject({ outcome: 'sandbox_failed', stop: { status: 'completed' }, left: [] });
  });

  it('reports what it saw of a stop that still fails at its deadline', async () => {
    const sandboxId = await readySandbox(stand);
    await failing();
    const ask = (seconds: number) => cli(['stop', sandboxId, '--wait', '--deadline', `${seconds}s`]);
    let asked = await ask(2);
    // A busy machine may not have read the stop before so short a deadline.
    for (let seconds = 4; !asked.stdout.includes('seen since'); seconds *= 2) asked = await ask(seconds);
    const { exitCode, stdout, stderr } = asked;
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/^bx_\w+ {2}still_failing: .*failed attempts? seen since .*snapshot/);
    expect(stderr).toContain('stop stop_');
  });

  it('detaches at Ctrl-C, and returns to the stop without a second request', async () => {
    const sandboxId = await readySandbox(stand);
    await failing();
    const ctrlC = new AbortController();
    const onStderr = (text: string) => text.includes('accepted') && ctrlC.abort('SIGINT');
    const left = await cli(['stop', sandboxId, '--wait'], { interrupted: ctrlC.signal, onStderr });
    expect(left).toMatchObject({ exitCode: 130, stdout: '' });
    const [, comeBack = ''] = /^Wait for (?:it|them) again with: sandflow (.*)$/m.exec(left.stderr) ?? [];
    expect(comeBack).toMatch(new RegExp(`^stop ${sandboxId} --wait --request \\w+$`));
    await heal(stand);
    const taken = await cli(comeBack.split(' '));
    expect(taken).toMatchObject({ exitCode: 0, stdout: `${sandboxId}  archived, work saved\n` });
    const calls = stand.service.books.calls({ sandboxId }).filter(({ endpoint }) => endpoint === 'stopSandbox');
    expect(calls).toHaveLength(1);
  });
});

describe('sandflow stops', () => {
  it('lists failing stops with who waits, and explains one', async () => {
    const watched = await readySandbox(stand, { name: 'watched' });
    const alone = await readySandbox(stand, { name: 'alone' });
    await failing();
    await stand.api.stopSandbox(alone);
    const requested = await ask(stand, { sandboxId: watched });
    const list = async (...args: string[]) => {
      const { stdout } = await cli(['stops', 'list', '--json', ...args]);
      const { stops } = JSON.parse(stdout) as { stops: { sandboxId: string; waiting: number; error: string }[] };
      return stops.filter(({ sandboxId }) => sandboxId === watched || sandboxId === alone);
    };
    await expect
      .poll(async () => (await list('--failing')).map(({ sandboxId, waiting }) => [sandboxId, waiting]))
      .toEqual([
        [alone, 0],
        [watched, 1],
      ]);
    expect((await list())[0]?.error).toContain('did not finish its snapshot');
    expect(await list('--older-than', '1h')).toEqual([]);
    expect((await cli(['stops', 'list', '--failing'])).stdout).toMatch(/alone +failing +.* +0 +.*snapshot/);

    await expect.poll(async () => (await stopProgress(stand.client, requested)).failed).not.toBeNull();
    const explained = await cli(['stops', 'explain', watched]);
    expect(explained.exitCode).toBe(0);
    expect(explained.stdout).toMatch(/is not archived: the last attempt of its stop stop_\w+, requested .* failed\./);
    expect(explained.stdout).toMatch(/failed attempts? since/);
    expect(explained.stdout).toContain(`Request ${requested.requestId} waits until`);
    expect(explained.stdout).toContain('Next: The service retries on its own');
    await heal(stand);
    expect((await outcomeOf(stand, requested)).outcome).toBe('archived');
    const after = JSON.parse((await cli(['stops', 'explain', watched, '--json'])).stdout);
    expect(after).toMatchObject({ state: 'completed', kept: 'saved', stop: { status: 'completed' }, error: null });
    expect((await list()).map(({ sandboxId }) => sandboxId)).not.toContain(watched);
  });

  it('escalates a stop although a job waits for its end, and the job names the stop, then works', async () => {
    const sandboxId = await readySandbox(stand);
    await failing();
    const requested = await ask(stand, { sandboxId, escalate: steps('4s: resume-and-stop') });
    const job = await stand.start({ source: { kind: 'existing', sandboxId }, end: 'keep' });
    const { jobId } = await progressOf(job);
    const shown = async () => (await cli(['jobs', 'show', jobId], { env: { SANDFLOW_DEPLOYMENT: deployment } })).stdout;
    await expect.poll(shown).toContain(`its stop ${requested.accepted.stopId} is failing, and is tried again: `);
    await expect.poll(() => callsOf(stand, sandboxId, 'resumeSandbox').length).toBe(1);
    await heal(stand);
    expect(await outcomeOf(stand, requested)).toMatchObject({ outcome: 'archived', escalation: [{ state: 'done' }] });
    expect(await job.result()).toMatchObject({ outcome: 'completed', prompts: [{ status: 'completed' }], left: [] });
  });

  it('explains that a sandbox does not exist, and that one was never stopped', async () => {
    const sandboxId = await readySandbox(stand);
    const explain = async (id: string) => {
      const { exitCode, stdout } = await cli(['stops', 'explain', id, '--json']);
      return { exitCode, ...JSON.parse(stdout) };
    };
    // An id that does not exist is 2, as for every command.
    const unknown = { exitCode: 2, state: 'no_sandbox', requests: null, error: { code: 'sandbox_not_found' } };
    expect(await explain('bx_3b3b3b3b')).toMatchObject(unknown);
    expect(await explain(sandboxId)).toMatchObject({ exitCode: 0, state: 'never_stopped', stop: null, error: null });
  });
});

it('the example of the library returns whether the work is saved', async () => {
  vi.stubEnv('TEMPORAL_ADDRESS', inject('temporalAddress'));
  vi.stubEnv('SANDFLOW_TASK_QUEUE', stand.taskQueue);
  const saved = await readySandbox(stand);
  const unsaved = await readySandbox(stand, { snapshots: false });
  expect(await Promise.all([stopForGood(saved, 'a'), stopForGood(unsaved, 'a')])).toEqual([true, false]);
});
