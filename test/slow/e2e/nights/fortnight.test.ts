/**
 * Fourteen nights on one stack: real Temporal Schedules, 40 s apart, and a day of the service's clock after each night.
 * The worker is killed in every night, Temporal in one. In the third night, stops begin to fail: for ten minutes, for five
 * hours, and for ever. Tier: slow, 11 min, mostly waiting.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { scheduledRunId } from '../../../../src/addresses/schedule-addresses.js';
import { readConfig } from '../../../../src/config.js';
import type { CleanupReport } from '../../../../src/protocol/cleanup.js';
import { findTemporal } from '../../../../src/supervisor/find-temporal.js';
import { connectTemporal } from '../../../../src/temporal/connect.js';
import { type CliHome, createCliHome } from '../../../e2e/cli/program.js';
import {
  arm,
  booksOf,
  embeddedBooks,
  embeddedService,
  killPart,
  partPids,
  patient,
  shell,
} from '../../../e2e/stack/fixture.js';

const nights = 14;
const everyMs = 40_000;
/** The service's clock is moved only if no run is due soon: a day ends every sandbox that runs. */
const quietMs = 8_000;
/** As long as in the service, so that a day has as many attempts. */
const attemptEveryMs = 300_000;
const names = ['job', 'batch', 'clean', 'sweep'];

interface Listed {
  readonly id: string;
  readonly status: string;
  readonly outcome: string | null;
}

it('a fortnight of nights misses nothing and doubles nothing', { timeout: 2_400_000 }, async () => {
  const cli = createCliHome();
  onTestFinished(() => cli.close());
  writeFileSync(
    join(cli.home, 'local-service.json'),
    JSON.stringify({ faultsEnabled: true, timings: { stopRetryMs: attemptEveryMs } }),
  );
  writeFileSync(join(cli.home, 'items.txt'), 'say one\nsay two\nsay three\n');
  const rules = [{ rule: 'old jobs', match: { name: 'sf-*-job-*' }, keepLast: 3, action: 'delete-sandbox' }];

  await done(cli, 'up');
  const made = JSON.parse(await done(cli, 'run', 'say hello', '--id', 'source', '--json'));
  const times = ['--cron', `@every ${everyMs / 1_000}s`, '--overlap', 'buffer-all'];
  const working = shell('sleep 4; echo done');
  const file = (name: string, content: object) =>
    writeFileSync(join(cli.home, `${name}.yaml`), JSON.stringify(content));
  file('job', { prompt: working });
  await done(cli, 'schedule', 'add', 'job', 'job.yaml', ...times);
  file('batch', { items: 'items.txt', source: made.sandboxId, end: 'delete' });
  await done(cli, 'schedule', 'add', 'batch', 'batch.yaml', ...times);
  file('clean', { name: 'old', limits: { maxPercent: 100 }, rules });
  await done(cli, 'schedule', 'add', 'clean', 'clean.yaml', ...times);
  file('sweep', {
    name: 'stop-sweep',
    limits: { maxActions: 20, maxPercent: 100 },
    protect: ['keep-*'],
    escalate: '2s: resume-and-stop, 4s: notify, 6s: delete',
    escalateMayDelete: true,
    rules: [{ rule: 'failing stops', match: { stopFailingFor: '1m' }, action: 'escalate' }],
  });
  await done(cli, 'schedule', 'add', 'sweep', 'sweep.yaml', ...times);
  let failing: Failing | undefined;

  for (let night = 1; night <= nights; night += 1) {
    await expect.poll(async () => (await runsOf(cli, 'jobs', 'job')).length, slowly).toBeGreaterThanOrEqual(night);
    await expect.poll(() => partPids(cli, 'worker').length, patient).toBe(1);
    killPart(cli, 'worker');
    if (night === nights / 2) killPart(cli, 'temporal');
    await expect.poll(() => allEnded(cli), slowly).toBe(true);
    if (night === 3) failing = await stopsThatFail(cli);
    if (night < nights) await nextDay(cli);
  }
  for (const name of names) await done(cli, 'schedule', 'pause', name);
  await expect.poll(() => allEnded(cli), slowly).toBe(true);

  const books = await embeddedBooks(cli);
  if (!books) throw new Error(cli.said());
  const [jobs, batches] = [await runsOf(cli, 'jobs', 'job'), await runsOf(cli, 'fanout', 'batch')];
  expect(jobs.length).toBeGreaterThanOrEqual(nights);
  for (const [name, runs] of [
    ['job', jobs],
    ['batch', batches],
  ] as const) {
    expect(
      runs.filter(({ outcome }) => outcome !== 'completed'),
      name,
    ).toEqual([]);
    expect(runs.map(({ id }) => id).sort(), name).toEqual(await dueIds(cli, name));
    expect(JSON.parse(await done(cli, 'schedule', 'show', name, '--json')).schedule).toMatchObject({
      missed: 0,
      skipped: 0,
    });
  }
  for (const { id } of jobs) {
    const { sandboxes, prompts, stops } = booksOf(id, books);
    expect({ id, sandboxes: sandboxes.length, prompts: prompts.length, stops: stops.length }).toEqual({
      id,
      sandboxes: 1,
      prompts: 1,
      stops: 1,
    });
  }
  for (const { id } of batches) {
    const { sandboxes, prompts } = booksOf(id, books);
    expect({ id, sandboxes: sandboxes.length, prompts: prompts.length }).toEqual({ id, sandboxes: 3, prompts: 3 });
  }
  expect(
    books.sandboxes.filter(({ state }) => state === 'running' || state === 'ready').map(({ name }) => name),
  ).toEqual([]);
  for (const name of ['clean', 'sweep']) {
    const { schedule } = JSON.parse(await done(cli, 'schedule', 'show', name, '--json'));
    expect(schedule, name).toMatchObject({ missed: 0, skipped: 0 });
    expect(
      schedule.runs.map(({ outcome }: Listed) => outcome),
      name,
    ).toEqual(Array(10).fill('applied'));
  }
  const states: Record<string, string> = {};
  for (const [what, id] of Object.entries(failing ?? {})) states[what] = await stateOf(cli, id);
  expect(states).toEqual({ tenMinutes: 'archived', fiveHours: 'archived', forEver: 'deleted', kept: 'archiving' });
  // What is left is told by each sweep, and by the list of failing stops.
  const [last] = (await lastRuns(cli, 'sweep')).filter(({ outcome }) => outcome === 'applied');
  const { plan }: Pick<CleanupReport, 'plan'> = JSON.parse(
    (await cli.run(['cleanup', 'report', last?.id ?? '', '--all', '--json'])).stdout,
  );
  const left = plan?.entries.find(({ sandboxId }) => sandboxId === failing?.kept);
  expect(left).toMatchObject({ action: null, reason: 'protected' });
  expect(await done(cli, 'stops', 'list', '--failing')).toContain(failing?.kept);
});

interface Failing {
  readonly tenMinutes: string;
  readonly fiveHours: string;
  readonly forEver: string;
  readonly kept: string;
}

/** Sandboxes whose stops were requested without sandflow, so that nobody follows them. */
async function stopsThatFail(cli: CliHome): Promise<Failing> {
  const stopOf = async (name: string, failsForMs: number): Promise<string> => {
    const { sandbox } = JSON.parse(await done(cli, 'api', 'POST', '/sandboxes', '--field', `name=${name}`));
    await expect.poll(() => stateOf(cli, sandbox.id), slowly).toBe('ready');
    const times = Math.ceil(failsForMs / attemptEveryMs);
    await arm(embeddedService(cli), [{ kind: 'stop_fails', sandboxId: sandbox.id, times }]);
    await done(cli, 'api', 'POST', `/sandboxes/${sandbox.id}/stop`);
    return sandbox.id;
  };
  const hourMs = 3_600_000;
  return {
    tenMinutes: await stopOf('fails-ten-minutes', hourMs / 6),
    fiveHours: await stopOf('fails-five-hours', 5 * hourMs),
    forEver: await stopOf('fails-for-ever', 10_000 * hourMs),
    kept: await stopOf('keep-fails', 10_000 * hourMs),
  };
}

/** `deleted` for a sandbox that the service no longer has. */
async function stateOf(cli: CliHome, id: string): Promise<string> {
  const { exitCode, stdout } = await cli.run(['api', 'GET', `/sandboxes/${id}`]);
  return exitCode === 0 ? JSON.parse(stdout).sandbox.state : 'deleted';
}

async function lastRuns(cli: CliHome, name: string): Promise<Listed[]> {
  return JSON.parse(await done(cli, 'schedule', 'show', name, '--json')).schedule.runs;
}

/** A command costs more than a look at the books. */
const slowly = { timeout: 600_000, interval: 1_000 };

async function done(cli: CliHome, ...args: string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await cli.run(args);
  if (exitCode !== 0) throw new Error(`${args.join(' ')}: ${stdout}${stderr}`);
  return stdout;
}

async function runsOf(cli: CliHome, noun: 'jobs' | 'fanout', name: string): Promise<Listed[]> {
  // Temporal may just be down.
  const { stdout } = await cli.run([noun, 'list', '--schedule', name, '--limit', '1000', '--json']);
  const { jobs, batches } = JSON.parse(stdout || '{}');
  const rows: (Listed & { jobId?: string; batchId?: string })[] = jobs ?? batches ?? [];
  return rows.map(({ jobId, batchId, status, outcome }) => ({ id: jobId ?? batchId ?? '', status, outcome }));
}

/** True if nothing of any schedule runs. */
async function allEnded(cli: CliHome): Promise<boolean> {
  const { stdout } = await cli.run(['schedule', 'list', '--json']);
  const { schedules } = JSON.parse(stdout || '{}');
  return (
    schedules?.length === names.length &&
    schedules.every((one: { lastRun: Listed }) => one.lastRun?.outcome !== 'running')
  );
}

async function nextDay(cli: CliHome): Promise<void> {
  let untilMs = 0;
  const isQuiet = async () => {
    const { schedules } = JSON.parse(await done(cli, 'schedule', 'list', '--json'));
    untilMs = Math.min(...schedules.map((one: { nextAt: string[] }) => Date.parse(one.nextAt[0] ?? ''))) - quietMs;
    return schedules.every((one: { lastRun: Listed }) => one.lastRun.outcome !== 'running') && Date.now() < untilMs;
  };
  await expect.poll(isQuiet, slowly).toBe(true);
  // No command, which may take seconds to start on a busy machine.
  const { url, apiKey } = embeddedService(cli);
  const answer = await fetch(new URL('/_local/clock', url), {
    method: 'POST',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ advanceSeconds: 86_400 }),
  });
  expect(answer.status).toBe(200);
  expect(Date.now(), 'the clock was moved before the next run').toBeLessThan(untilMs + quietMs);
}

/** The ids of all runs that Temporal says were due since the schedule was added. */
async function dueIds(cli: CliHome, name: string): Promise<string[]> {
  const config = readConfig({ SANDFLOW_HOME: cli.home });
  const client = await connectTemporal(await findTemporal(config));
  onTestFinished(() => client.connection.close());
  const scheduleId = `schedule/${config.deployment}/${name}`;
  const { info } = await client.schedule.getHandle(scheduleId).describe();
  const seconds = (at: Date) => ({ seconds: Math.floor(at.getTime() / 1_000) as never });
  const last = info.recentActions.at(-1)?.scheduledAt ?? new Date();
  const { startTime } = await client.workflowService.listScheduleMatchingTimes({
    namespace: 'default',
    scheduleId,
    startTime: seconds(info.createdAt),
    endTime: seconds(new Date(last.getTime() + 1_000)),
  });
  return startTime.map((time) => scheduledRunId(name, new Date(Number(time.seconds) * 1_000))).sort();
}
