/** `jobs cancel`, `rerun` and `resolve` of the jobs that filters choose. Gate; costs some 10 s of CPU. */
import { randomBytes } from 'node:crypto';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { outcomeUnknown } from '../../../../activities/retry/classify.js';
import { startJob } from '../../../../src/workflow-client/jobs/job-client.js';
import { cli as runCli } from '../../../unit/cli/in-process.js';
import { shareChangedStand } from '../../changed-stand.js';
import { progressOf } from '../../job-progress.js';
import { heal } from '../../stop/stop-harness.js';
import { jobInput, script } from '../../workflow-harness.js';

const { stand, change } = shareChangedStand();

/** Each test has a deployment of its own, so that it sees its own jobs only. */
function ownDeployment() {
  const deployment = `d${randomBytes(5).toString('hex')}`;
  const jobs = (args: readonly string[], options: Parameters<typeof runCli>[1] = {}) =>
    runCli(['jobs', ...args], {
      ...options,
      env: {
        TEMPORAL_ADDRESS: inject('temporalAddress'),
        SANDBOX_API_URL: stand.service.url ?? '',
        SANDBOX_API_KEY: 'test-key',
        SANDFLOW_DEPLOYMENT: deployment,
        SANDFLOW_TASK_QUEUE: stand.taskQueue,
        SANDFLOW_RESULTS: stand.resultsDirectory,
      },
    });
  const start = async (jobId: string, over: object = {}, { taskQueue = stand.taskQueue, team = 'search' } = {}) => {
    const input = jobInput({ deployment, jobId, ...over });
    return (await startJob(stand.client, input, { taskQueue, labels: { team } })).handle;
  };
  /** What the command says of each job. Waits until the lists of Temporal, which lag, have as many. */
  const results = async (args: readonly string[], count: number) => {
    let rows: readonly Row[] = [];
    const dry = args.filter((arg) => arg !== '--yes');
    await expect
      .poll(async () => JSON.parse((await jobs([...dry, '--dry-run', '--json'])).stdout).jobs.length)
      .toBe(count);
    const { stdout, exitCode } = await jobs([...args, '--json']);
    rows = JSON.parse(stdout).jobs;
    return { exitCode, ended: Object.fromEntries(rows.map(({ jobId, result }) => [jobId, result])), rows };
  };
  return { deployment, jobs, start, results };
}
interface Row {
  readonly jobId: string;
  readonly result: string;
  readonly newJobId: string | null;
  readonly error: { readonly code: string } | null;
}

const unworked: { terminate(): Promise<unknown> }[] = [];
afterAll(() => Promise.all(unworked.map((one) => one.terminate().catch(() => undefined))));
/** Jobs that no worker runs cost nothing. */
async function startUnworked({ start }: ReturnType<typeof ownDeployment>, count: number) {
  const ids = Array.from({ length: count }, (_, index) => `idle-${index}`);
  const handles = await Promise.all(ids.map((id) => start(id, {}, { taskQueue: 'nobody' })));
  unworked.push(...handles);
  return handles;
}
const isCancelled = async (handle: { describe(): Promise<{ raw: object }> }) =>
  ((await handle.describe()).raw as { workflowExtendedInfo?: { cancelRequested?: boolean } }).workflowExtendedInfo
    ?.cancelRequested === true;

describe('jobs cancel --label', () => {
  it('cancels the jobs that run and have the label; repeated, it does not make them skip their files', async () => {
    const own = ownDeployment();
    const forever = { prompts: [{ prompt: script('sleep 600') }] };
    const handles = [await own.start('one', forever), await own.start('two', forever)];
    const other = await own.start('other', forever, { team: 'mail' });
    await (await own.start('over')).result();
    for (const job of [...handles, other])
      await expect.poll(async () => (await progressOf(job)).phase).toBe('following');
    await stand.fault({ kind: 'stop_fails', times: 1_000 });
    const args = ['cancel', '--label', 'team=search', '--yes'];

    const { stdout } = await own.jobs(['cancel', '--label', 'team=search', '--dry-run']);
    expect(stdout.split('\n').toSorted()).toEqual([
      '',
      'one  running  Please run this.',
      'two  running  Please run this.',
    ]);
    const unasked = await own.jobs(['cancel', '--label', 'team=search']);
    expect(unasked).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('cancel these 2 jobs. Confirm with --yes.'),
    });
    expect(await Promise.all(handles.map(isCancelled)), 'changed without consent').toEqual([false, false]);

    expect(await own.results(args, 2)).toMatchObject({ exitCode: 0, ended: { one: 'cancelling', two: 'cancelling' } });
    const again = { one: 'already_cancelling', two: 'already_cancelling' };
    expect(await own.results(args, 2)).toMatchObject({ exitCode: 0, ended: again });
    expect(await isCancelled(other)).toBe(false);
    await heal(stand);
    for (const handle of handles) {
      expect(await handle.result()).toMatchObject({ outcome: 'cancelled' });
      const { events } = await handle.fetchHistory();
      expect(
        events?.filter((event) => event.workflowExecutionSignaledEventAttributes?.signalName === 'skipCollecting'),
      ).toEqual([]);
    }
    await other.terminate();
    await expect.poll(async () => (await own.jobs(args)).stderr).toBe('0 jobs.\n');
    expect((await own.jobs(args)).exitCode).toBe(0);
  });

  it('asks on a terminal, shows the first 20 jobs, and says of a job that it has ended meanwhile', async () => {
    const own = ownDeployment();
    const [first] = await startUnworked(own, 23);
    await own.results(['cancel', '--open', '--dry-run'], 23);
    const no = await own.jobs(['cancel', '--open'], { isTTY: true, stdin: 'n\n' });
    expect(no).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('… and 3 more\nCancel these 23 jobs? [y/N]'),
    });
    expect(no.stderr).toContain('Nothing was changed.');
    expect(no.stderr.match(/idle-\d+ {2}running/g)).toHaveLength(20);
    const stdin = async () => {
      await first?.terminate();
      return 'y\n';
    };
    const yes = await own.jobs(['cancel', '--open'], { isTTY: true, stdin });
    expect(yes).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('idle-0  already ended\n') });
    expect(yes.stderr).toMatch(/ 23 jobs: (22 cancelling, 1 already ended|1 already ended, 22 cancelling)\.$/m);
  });

  it('ended by Ctrl-C says what it did, and the same command does the rest', async () => {
    const own = ownDeployment();
    const handles = await startUnworked(own, 40);
    await own.results(['cancel', '--open', '--dry-run'], 40);
    const interrupt = new AbortController();
    const { exitCode, stdout, stderr } = await own.jobs(['cancel', '--open', '--yes'], {
      interrupted: interrupt.signal,
      onStdout: () => interrupt.abort('SIGINT'),
    });
    expect(exitCode).toBe(130);
    const done = stdout.match(/ {2}cancelling$/gm)?.length ?? 0;
    expect(done, 'one, and those on the way then').toBeLessThanOrEqual(9);
    expect(stderr).toContain(`40 jobs: ${done} cancelling, ${40 - done} untouched.\nRepeat the command`);
    const cancelled = (await Promise.all(handles.map(isCancelled))).filter(Boolean);
    expect(cancelled, 'as many as were told').toHaveLength(done);
    const rest = await own.jobs(['cancel', '--open', '--yes']);
    expect(rest.stderr.match(/\d+ (already )?cancelling/g)?.toSorted()).toEqual(
      [`${40 - done} cancelling`, `${done} already cancelling`].toSorted(),
    );
  });
});

it('jobs rerun --failed starts each failed job once, however often it is repeated', async () => {
  const own = ownDeployment();
  await stand.fault({ kind: 'error', endpoint: 'createSandbox', status: 422, code: 'invalid_request', times: 2 });
  const failed = [await own.start('bad'), await own.start('worse')];
  for (const handle of failed) expect(await handle.result()).toMatchObject({ outcome: 'rejected' });
  await (await own.start('good')).result();
  const args = ['rerun', '--failed', '--since', '1d', '--label', 'team=search', '--yes'];
  const { exitCode, rows, ended } = await own.results(args, 2);
  expect({ exitCode, ended }).toEqual({ exitCode: 0, ended: { bad: 'started', worse: 'started' } });
  const ids = rows.map(({ newJobId }) => newJobId ?? '');
  expect(ids).toEqual([expect.stringMatching(/^worse-r[0-9a-f]{8}$/), expect.stringMatching(/^bad-r[0-9a-f]{8}$/)]);
  const repeated = await own.results(args, 2);
  expect(repeated.ended).toEqual({ bad: 'already_started', worse: 'already_started' });
  expect(repeated.rows.map(({ newJobId }) => newJobId)).toEqual(ids);
  for (const id of ids) {
    const handle = stand.client.workflow.getHandle(`sf-${own.deployment}-${id}`);
    expect(await handle.result()).toMatchObject({ outcome: 'completed' });
  }
  // Without --failed, what a rerun has started is no job to run again: else each repetition would double them.
  const all = ['rerun', '--label', 'team=search', '--yes'];
  expect((await own.results(all, 3)).ended).toEqual({
    bad: 'already_started',
    worse: 'already_started',
    good: 'started',
  });
});

it('jobs resolve decides for the jobs that wait, and one that refuses does not stop the others', async () => {
  const own = ownDeployment();
  change.createSandbox = () => {
    throw outcomeUnknown('The answer was lost.', { endpoint: 'createSandbox' });
  };
  const atCreate = await own.start('at-create');
  await expect.poll(async () => (await progressOf(atCreate)).blocked?.step).toBe('create');
  delete change.createSandbox;
  await stand.fault({ kind: 'error', endpoint: 'sendPrompt', status: 502, html: true });
  const atPrompt = await own.start('at-prompt');
  await expect.poll(async () => (await progressOf(atPrompt)).blocked?.step).toBe('prompt');
  const busy = await own.start('busy', { prompts: [{ prompt: script('sleep 600') }] });
  const sent = await own.results(['resolve', '--open', '--sent', '--yes'], 2);
  expect(sent).toMatchObject({ exitCode: 1, ended: { 'at-create': 'failed', 'at-prompt': 'resolved' } });
  expect(sent.rows.find(({ jobId }) => jobId === 'at-create')?.error).toMatchObject({ code: 'refused' });
  const rest = await own.results(['resolve', '--since', '1h', '--abandon', '--yes'], 1);
  expect(rest).toMatchObject({ exitCode: 0, ended: { 'at-create': 'resolved' } });
  expect(await atCreate.result()).toMatchObject({ outcome: 'outcome_unknown' });
  await busy.terminate();
});
