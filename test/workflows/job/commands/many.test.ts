/** `jobs cancel`, `rerun` and `resolve` of the jobs that filters choose. Gate; costs some 20 s of CPU. */
import { randomBytes } from 'node:crypto';
import { afterAll, describe, expect, inject, it } from 'vitest';
import { outcomeUnknown } from '../../../../activities/retry/classify.js';
import { resolveJob, startJob } from '../../../../src/workflow-client/jobs/job-client.js';
import { cli as runCli } from '../../../unit/cli/in-process.js';
import { shareChangedStand } from '../../changed-stand.js';
import { progressOf } from '../../job-progress.js';
import { heal } from '../../stop/stop-harness.js';
import { jobInput, script } from '../../workflow-harness.js';
import { resetToBeginning } from '../reset-job.js';

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
  const start = async (
    jobId: string,
    over: object = {},
    { taskQueue = stand.taskQueue, team = 'search', again = false } = {},
  ) => {
    const input = jobInput({ deployment, jobId, ...over });
    return (await startJob(stand.client, input, { taskQueue, labels: { team }, again })).handle;
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
  readonly error: { readonly code: string; readonly message: string } | null;
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

  it('leaves jobs alone that were started, or started again, after it has shown the others', async () => {
    const own = ownDeployment();
    const [first] = await startUnworked(own, 2);
    await own.results(['cancel', '--open', '--dry-run'], 2);
    const stdin = async () => {
      await first?.terminate();
      unworked.push(await own.start('idle-0', {}, { taskQueue: 'nobody', again: true }));
      unworked.push(await own.start('late', {}, { taskQueue: 'nobody' }));
      // A second look would find it.
      await own.results(['cancel', '--open', '--dry-run'], 3);
      return 'y\n';
    };
    const asked = await own.jobs(['cancel', '--open'], { isTTY: true, stdin });
    expect(asked).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('idle-0  changed\n') });
    expect(asked.stdout).toContain('idle-1  cancelling\n');
    expect(asked.stdout).not.toContain('late');
    for (const id of ['idle-0', 'late']) {
      expect(await isCancelled(stand.client.workflow.getHandle(`sf-${own.deployment}-${id}`)), id).toBe(false);
    }
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
  const dry = JSON.parse((await own.jobs([...args.slice(0, -1), '--dry-run', '--json'])).stdout).jobs as Row[];
  expect(dry.map(({ result }) => result)).toEqual(['already_started', 'already_started']);
  const repeated = await own.results(args, 2);
  expect(repeated.ended).toEqual({ bad: 'already_started', worse: 'already_started' });
  expect(repeated.rows.map(({ newJobId }) => newJobId)).toEqual(ids);
  for (const id of ids) {
    const handle = stand.client.workflow.getHandle(`sf-${own.deployment}-${id}`);
    expect(await handle.result()).toMatchObject({ outcome: 'completed' });
  }
  // Without --failed, what a rerun has started is no job to run again: else each repetition would double them.
  const all = ['rerun', '--label', 'team=search', '--yes'];
  const [ofWorse = '', ofBad = ''] = ids;
  const reruns = { [ofWorse]: 'skipped_rerun', [ofBad]: 'skipped_rerun' };
  const before = { bad: 'already_started', worse: 'already_started' };
  const last = await own.results(all, 5);
  expect(last.ended).toEqual({ ...before, ...reruns, good: 'started' });
  // The next test's fault is not for this one.
  const ofGood = last.rows.find(({ jobId }) => jobId === 'good')?.newJobId;
  await stand.client.workflow.getHandle(`sf-${own.deployment}-${ofGood}`).result();
});

it('jobs rerun --failed starts a rerun that has failed again, under an id that does not grow', async () => {
  const own = ownDeployment();
  await stand.fault({ kind: 'error', endpoint: 'createSandbox', status: 422, code: 'invalid_request', times: 2 });
  await (await own.start('bad')).result();
  const args = ['rerun', '--failed', '--label', 'team=search', '--yes'];
  const first = (await own.results(args, 1)).rows[0]?.newJobId ?? '';
  const rerun = stand.client.workflow.getHandle(`sf-${own.deployment}-${first}`);
  expect(await rerun.result()).toMatchObject({ outcome: 'rejected' });
  const { ended, rows } = await own.results(args, 2);
  expect(ended).toEqual({ bad: 'already_started', [first]: 'started' });
  const second = rows.find(({ jobId }) => jobId === first)?.newJobId ?? '';
  expect(second).toMatch(/^bad-r[0-9a-f]{8}$/);
  expect(second).not.toBe(first);
  const handle = stand.client.workflow.getHandle(`sf-${own.deployment}-${second}`);
  expect(await handle.result()).toMatchObject({ outcome: 'completed' });
});

it('jobs rerun knows a rerun by what started it, not by its id', async () => {
  const own = ownDeployment();
  await (await own.start('b-r20261129')).result();
  const args = ['rerun', '--label', 'team=search', '--yes'];
  const [row] = (await own.results(args, 1)).rows;
  expect(row).toMatchObject({ result: 'started', newJobId: expect.stringMatching(/^b-r20261129-r[0-9a-f]{8}$/) });
  const rerun = row?.newJobId ?? '';
  await stand.client.workflow.getHandle(`sf-${own.deployment}-${rerun}`).result();
  const ended = { 'b-r20261129': 'already_started', [rerun]: 'skipped_rerun' };
  expect(await own.results(args, 2)).toMatchObject({ exitCode: 0, ended });
});

it('jobs rerun starts a job again that was reset, and none that was started again after it was shown', async () => {
  const own = ownDeployment();
  const handle = await own.start('one');
  await handle.result();
  const args = ['rerun', '--label', 'team=search'];
  const [first] = (await own.results([...args, '--yes'], 1)).rows;
  await stand.client.workflow.getHandle(`sf-${own.deployment}-${first?.newJobId}`).result();
  const reset = await resetToBeginning(stand, handle);
  await reset.result();
  const due = async () => JSON.parse((await own.jobs([...args, '--dry-run', '--json'])).stdout).jobs as Row[];
  await expect.poll(async () => (await due()).map(({ result }) => result).toSorted()).toEqual(['due', 'skipped_rerun']);
  const stdin = async () => {
    await (await own.start('one', {}, { again: true })).result();
    return 'y\n';
  };
  const asked = await own.jobs(args, { isTTY: true, stdin });
  expect(asked).toMatchObject({ exitCode: 1, stdout: expect.stringContaining('one  changed\n') });
  expect(asked.stderr).toMatch(/ 2 jobs: (1 changed, 1 skipped rerun|1 skipped rerun, 1 changed)\.$/m);
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

it('jobs resolve shows the call that waits, and decides for no later one', async () => {
  const own = ownDeployment();
  const lost = { kind: 'error', endpoint: 'sendPrompt', status: 502, html: true } as const;
  await stand.fault(lost);
  const handle = await own.start('one');
  const blocked = async () => (await progressOf(handle)).blocked;
  await expect.poll(async () => (await blocked())?.step).toBe('prompt');
  const shown = await blocked();
  const args = ['resolve', '--label', 'team=search', '--abandon'];
  await own.results([...args, '--dry-run'], 1);
  expect((await own.jobs([...args, '--dry-run'])).stdout).toBe(`one  prompt: ${shown?.message}\n`);
  const stdin = async () => {
    await stand.fault(lost);
    await resolveJob(stand.client, { deployment: own.deployment, jobId: 'one' }, { action: 'resend' });
    await expect.poll(async () => ((await blocked())?.since ?? '') > (shown?.since ?? '')).toBe(true);
    return 'y\n';
  };
  const asked = await own.jobs(args, { isTTY: true, stdin });
  expect(asked).toMatchObject({ exitCode: 1, stdout: 'one  changed\n' });
  expect(asked.stderr).toContain(`one  prompt: ${shown?.message}\nResolve this job? [y/N]`);
  expect(await blocked(), 'the later call').toMatchObject({ step: 'prompt' });
  expect(await own.results([...args, '--yes'], 1)).toMatchObject({ exitCode: 0, ended: { one: 'resolved' } });
});

it('jobs resolve gives a job that does not answer 5 s, says so, and decides for the others', async () => {
  const own = ownDeployment();
  await stand.fault({ kind: 'error', endpoint: 'sendPrompt', status: 502, html: true });
  const waits = await own.start('waits');
  await expect.poll(async () => (await progressOf(waits)).blocked?.step).toBe('prompt');
  unworked.push(await own.start('silent', {}, { taskQueue: 'nobody' }));
  const { exitCode, ended, rows } = await own.results(['resolve', '--open', '--abandon', '--yes'], 2);
  expect({ exitCode, ended }).toEqual({ exitCode: 1, ended: { waits: 'resolved', silent: 'unread' } });
  expect(rows.find(({ jobId }) => jobId === 'silent')?.error?.message).toContain('timeout');
});
