/** `sandflow schedule` against the whole product. Tier: temporal, about 15 s. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest';
import { createResultStore } from '../../../src/result-store/index.js';
import { cli as runCli } from '../../unit/cli/in-process.js';
import { everyNight } from '../../unit/house/snippets/schedule-job.js';
import { archived, policyFor, stateOf } from '../cleanup/cleanup-harness.js';
import { archivedSandbox } from '../fanout/fanout-harness.js';
import { createStand, type Stand, script } from '../workflow-harness.js';

let stand: Stand;
let home: string;
beforeAll(async () => {
  home = await mkdtemp(join(tmpdir(), 'sandflow-schedule-'));
  stand = await createStand({ worker: { results: createResultStore(join(home, 'results')) } });
});
afterAll(async () => {
  await stand.close();
  await rm(home, { recursive: true });
});

/** All test files of a run share the server, so the deployment is of this file. */
const settings = () => ({
  SANDBOX_API_URL: stand.service.url,
  SANDBOX_API_KEY: 'test-key',
  TEMPORAL_ADDRESS: inject('temporalAddress'),
  SANDFLOW_TASK_QUEUE: stand.taskQueue,
  SANDFLOW_DEPLOYMENT: stand.taskQueue.replaceAll('-', '').slice(0, 12),
  SANDFLOW_HOME: home,
  SANDFLOW_RESULTS: join(home, 'results'),
});

const run = (...args: string[]) => runCli(args, { cwd: home, env: settings() });

async function done(...args: string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await run(...args);
  if (exitCode !== 0) throw new Error(`${args.join(' ')}: ${stderr}`);
  return stdout;
}

const write = (name: string, text: string) => writeFile(join(home, name), text);
/** A job that does nothing. */
const hello = () => write('hello.yaml', 'prompt: say hello\n');
const shown = async (name: string) => JSON.parse(await done('schedule', 'show', name, '--json')).schedule;
const startNow = async (name: string) => (await done('schedule', 'run-now', name)).trim();

describe('a schedule of the command line', () => {
  it('runs the prompt as its file was when the schedule was added, and shows that', async () => {
    await write('task.md', script('echo the first text > out.md'));
    const cron = ['--cron', '30 2 * * 1-5', '--zone', 'Europe/Vienna'];
    const slack = 'slack:https://127.0.0.1:1/services/T0123456789abcdefgh';
    await write('job.yaml', `prompt: "@task.md"\nget: out.md\nlabels: {team: search}\nnotify: ${slack}\n`);
    const added = await done('schedule', 'add', 'nightly', 'job.yaml', ...cron);
    expect(added).toMatch(/^nightly added; next run \d{4}-\d\d-\d\d 02:30 Europe\/Vienna \(0[01]:30 UTC\)\n$/);
    await write('task.md', script('echo another text > out.md'));

    const text = await done('schedule', 'show', 'nightly');
    expect(text).toContain('command   sandflow run job.yaml');
    expect(text).toMatch(/^cron +30 2 \* \* 1-5 in Europe\/Vienna$/m);
    expect(text).toMatch(/^get +out\.md$/m);
    expect(text).not.toContain('T0123456789abcdefgh');
    expect(JSON.stringify(await shown('nightly'))).not.toContain('T0123456789abcdefgh');
    expect((await shown('nightly')).work.input.notify).toMatchObject({ url: 'https://127.0.0.1:1' });

    const id = await startNow('nightly');
    await done('jobs', 'watch', id, '--get', 'out.md:saved.md');
    expect(await done('jobs', 'show', id, '--json')).toContain('the first text');
    await expect
      .poll(() => done('jobs', 'list', '--schedule', 'nightly'))
      .toMatch(new RegExp(`^${id} +completed`, 'm'));
    expect(await done('jobs', 'list', '--schedule', 'other', '--json')).toContain('"jobs":[]');
    await expect.poll(() => done('schedule', 'list')).toMatch(new RegExp(`^nightly +on .*${id} completed`, 'm'));
  });

  it('is refused a second time unless it is replaced, and stays paused then', async () => {
    await hello();
    const add = (...more: string[]) => run('schedule', 'add', 'twice', 'hello.yaml', '--cron', '@daily', ...more);
    expect(await add()).toMatchObject({ exitCode: 0 });
    expect(await add()).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('already a schedule "twice"') });
    expect(await done('schedule', 'pause', 'twice')).toBe('twice paused\n');
    expect(await add('--replace')).toMatchObject({ stdout: expect.stringMatching(/^twice is unchanged/) });
    expect(await add('--replace', '--jitter', '5m')).toMatchObject({
      stdout: expect.stringMatching(/^twice replaced/),
    });
    expect(await shown('twice')).toMatchObject({ paused: true, jitterMs: 300_000, overlap: 'skip' });
    expect(await done('schedule', 'resume', 'twice')).toBe('twice resumed\n');
    expect(await done('schedule', 'remove', 'twice')).toBe('twice removed\n');
    expect(await run('schedule', 'show', 'twice')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('There is no schedule "twice"'),
    });
  });

  it('names an expression that cannot be used, also one that only Temporal knows', async () => {
    await hello();
    const add = (cron: string) => run('schedule', 'add', 'wrong', 'hello.yaml', '--cron', cron);
    expect(await add('every night')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('--cron has 2 fields, but must have 5'),
    });
    expect(await add('@every 0s')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('The schedule "wrong" cannot be used: Temporal refuses it: '),
    });
    for (const cron of [
      '60 0 * * *',
      '0 22-2 * * *',
      '0 0 L * *',
      '0 0 * 1,,2 *',
      '0 0 * * 1/0',
      '@reboot',
      '@every 90',
    ]) {
      expect(await add(cron)).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('Temporal refuses it: ') });
    }
    expect(await add('0 0 31 2 *')).toMatchObject({ exitCode: 0, stdout: 'wrong added; it never runs\n' });
    await done('schedule', 'remove', 'wrong');
  });

  it('neither keeps nor shows a part of a token in a long URL', async () => {
    const long = `https://127.0.0.1:1/${'path/'.repeat(31)}?sig=Zk3yQp9Lw2Xv7Bt1Nc5Md8Rf4Hs6Jg0KaUeIoPq`;
    await write('mail.yaml', `prompt: say hello\nnotify: teams:${long}\n`);
    await done('schedule', 'add', 'mail', 'mail.yaml', '--cron', '@yearly');
    expect(JSON.stringify(await shown('mail'))).not.toContain('Zk3');
  });

  it('runs a batch with the items that were stored', async () => {
    const source = await archivedSandbox(stand);
    await write('items.txt', 'say one\nsay two\n');
    await write('batch.yaml', `items: items.txt\nsource: ${source}\nend: delete\n`);
    await done('schedule', 'add', 'batch', 'batch.yaml', '--cron', '@weekly');
    await rm(join(home, 'items.txt'));
    const id = await startNow('batch');
    expect(JSON.parse(await done('fanout', 'watch', id, '--json'))).toMatchObject({ outcome: 'completed' });
    await expect
      .poll(() => done('fanout', 'list', '--schedule', 'batch'))
      .toMatch(new RegExp(`^${id} +completed`, 'm'));
  });

  it('runs a cleanup when the first window of its policy opens, and says if another time is outside', async () => {
    await write('policy.yaml', policyFor('nights', 'delete-sandbox', 'windows: [{between: "01:00 and 05:00"}]'));
    expect(await done('schedule', 'add', 'nights', 'policy.yaml')).toMatch(/^nights added; next run .* 01:00/);
    const late = await run('schedule', 'add', 'late', 'policy.yaml', '--cron', '0 6 * * *', '--zone', 'UTC');
    expect(late.stderr).toMatch(/No window of the policy is open at .*The cleanup then does nothing/);

    const old = await archived(stand, 'open-old');
    await write('open.yaml', policyFor('open', 'delete-sandbox'));
    await done('schedule', 'add', 'open', 'open.yaml');
    const id = await startNow('open');
    await expect.poll(() => stateOf(stand, old)).toBe('gone');
    await expect
      .poll(async () => (await run('cleanup', 'report', id)).stdout)
      .toMatch(new RegExp(`${old} .* deleted\n`));
  });

  it('refuses a zone whose capital letters are wrong, as Temporal does', async () => {
    const spec = { cronExpressions: ['0 0 * * *'], timezone: 'europe/vienna' };
    const action = { type: 'startWorkflow', workflowType: 'none', taskQueue: 'none', args: [] } as const;
    const made = stand.client.schedule.create({ scheduleId: 'wrong-zone', spec, action });
    await expect(made).rejects.toThrow();
    await hello();
    expect(
      await run('schedule', 'add', 'zoned', 'hello.yaml', '--cron', '@daily', '--zone', 'europe/vienna'),
    ).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('with its capital letters, like Europe/Vienna'),
    });
  });

  it.each([
    ['a label', 'labels: {schedule: x}', /the label "schedule"/],
    ['a source', 'sandbox: bx_2345abcd', /bx_2345abcd/],
  ])('is not added with %s that cannot be used', async (_, job, why) => {
    await write('unusable.yaml', `prompt: say hello\n${job}\n`);
    const added = await run('schedule', 'add', 'unusable', 'unusable.yaml', '--cron', '@daily');
    expect(added).toMatchObject({ exitCode: 2, stderr: expect.stringMatching(why) });
    expect(await run('schedule', 'show', 'unusable')).toMatchObject({ exitCode: 2 });
  });
});

it('the example of the library adds a schedule that the command line runs', async () => {
  for (const [name, value] of Object.entries(settings())) vi.stubEnv(name, value);
  expect(await everyNight('example', 'Say hello.')).toBe(true);
  expect(await everyNight('example', 'Say hello.')).toBe(false);
  const id = await startNow('example');
  await done('jobs', 'watch', id);
});
