/**
 * A night on a cluster: jobs, a batch of 200 and a cleanup that a schedule starts, while things happen to the cluster. What
 * must be true afterwards is read from the books of the service and from Temporal.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import { expect, vi } from 'vitest';
import { jobWorkflowId } from '../../../src/addresses/addresses.js';
import { readConfig } from '../../../src/config.js';
import type { JobInput } from '../../../src/protocol/job/job-input.js';
import type { JobResult } from '../../../src/protocol/job/job-result.js';
import { connectTemporal } from '../../../src/temporal/connect.js';
import { startJob } from '../../../src/workflow-client/jobs/job-client.js';
import { accepted, type BooksRead, booksOf, readBooks, reportOf, shell } from '../../e2e/stack/fixture.js';
import type { LocalService, PartsOfStack } from '../../e2e/stack/fixture-parts.js';
import { failedTasks } from '../../workflows/failed-tasks.js';

const items = 200;
/** Jobs that answer at once, that work until the last event has happened, and whose sandboxes the cleanup stops. */
const jobs = { quick: 30, long: 20, kept: 10 } as const;
type Kind = keyof typeof jobs;

const taskQueue = 'night';
const deployment = 'parts';
const slowly = { timeout: 900_000, interval: 1_000 };

const numbered = (kind: Kind) => Array.from({ length: jobs[kind] }, (_, at) => `${kind}-${at}`);
const answer = (text: string) => shell(`echo ${text}`);
const answerLater = (text: string) => shell(`while [ ! -e go ]; do sleep 0.5; done; echo ${text}`);

const input = (kind: Kind, jobId: string): JobInput => ({
  deployment,
  jobId,
  source: { kind: 'create', body: {} },
  waitFor: 'usable',
  put: [],
  prompts: [{ prompt: (kind === 'long' ? answerLater : answer)(jobId) }],
  conversations: 'one',
  collect: [],
  end: kind === 'kept' ? 'keep' : 'stop',
  deadlineMs: 3_600_000,
  ttlSeconds: 3_600,
  onUnknownOutcome: 'wait',
  maxGenerations: 3,
});

const policy = {
  name: 'nightly',
  limits: { maxPercent: 100 },
  rules: [{ rule: 'kept', match: { name: 'sf-*-kept-*', owned: 'kept' }, action: 'stop' }],
};

/** What happens, in words, and how it is done. */
export type Happening = readonly [what: string, happen: () => Promise<void>];

export interface NightOptions {
  readonly parts: PartsOfStack;
  readonly service: LocalService;
  /** What happens, in this order, each while some part of the batch is still to do. A job is started meanwhile. */
  readonly events: readonly Happening[];
  /** Whether commands follow a job and the batch through all events. */
  readonly isFollowed: boolean;
}

export async function playNight({ parts, service, events, isFollowed }: NightOptions): Promise<void> {
  const beganAt = Date.now();
  const say = async (what: string) => {
    const { sandboxes, prompts, stops } = accepted(await readBooks(service)) ?? {};
    const counts = `${sandboxes} sandboxes, ${prompts} prompts, ${stops} stops`;
    process.stderr.write(`cluster: ${Math.round((Date.now() - beganAt) / 1_000)} s: ${what}: ${counts}\n`);
  };
  const settings = () => parts.environment(service, taskQueue);
  const run = async (...args: readonly string[]): Promise<string> => {
    const { exitCode, stdout, stderr } = await parts.cli.run(args, settings());
    expect(exitCode, `${args.join(' ')}: ${stdout}${stderr}`).toBe(0);
    return stdout;
  };
  const write = (name: string, text: string) => writeFileSync(join(parts.cli.home, name), text);
  const untilBooks = (holds: (books: BooksRead) => boolean, what: string) =>
    vi.waitFor(async () => {
      const books = await readBooks(service);
      if (!holds(books)) throw new Error(`The books do not show ${what}: ${JSON.stringify(accepted(books))}`);
    }, slowly);
  const withTemporal = async <T>(use: (client: Client) => Promise<T>): Promise<T> => {
    const client = await connectTemporal(readConfig(settings()).temporal.connect);
    try {
      return await use(client);
    } finally {
      await client.connection.close();
    }
  };

  const source = JSON.parse(await run('run', 'say hello', '--id', 'source', '--json')).sandboxId;
  write('clean.yaml', JSON.stringify(policy));
  await run('schedule', 'add', 'nightly', 'clean.yaml', '--cron', '@every 30s', '--overlap', 'buffer-all');
  const kinds = Object.keys(jobs) as readonly Kind[];
  const submitted = kinds.flatMap((kind) => numbered(kind).map((jobId) => ({ kind, jobId })));
  await withTemporal((client) =>
    Promise.all(submitted.map(({ kind, jobId }) => startJob(client, input(kind, jobId), { taskQueue }))),
  );
  write('items.txt', Array.from({ length: items }, (_, at) => `say item ${at}\n`).join(''));
  await run(
    'fanout',
    'items.txt',
    '--source',
    source,
    '--id',
    'batch',
    '--concurrency',
    '40',
    '--end',
    'delete',
    '--detach',
  );
  const followed = isFollowed
    ? [
        ['jobs', 'watch', 'long-0', '--json'],
        ['fanout', 'watch', 'batch'],
      ].map((args) => parts.cli.start(args, settings()))
    : [];

  for (const [at, [what, happen]] of events.entries()) {
    const due = Math.floor((at * items * 0.9) / events.length);
    await untilBooks((books) => booksOf('batch', books).prompts.length >= due, `${due} prompts of the batch`);
    const started = run('run', answer(`late-${at}`), '--id', `late-${at}`, '--detach');
    // Both end before one of them fails the test.
    for (const one of await Promise.allSettled([happen(), started])) if (one.status === 'rejected') throw one.reason;
    await say(what);
  }
  const late = events.map((_, at) => `late-${at}`);

  const ofKind = (kind: Kind, books: BooksRead) => numbered(kind).map((jobId) => booksOf(jobId, books));
  const isRunning = ({ prompts }: BooksRead) => prompts[0]?.status === 'running';
  await untilBooks((books) => ofKind('long', books).every(isRunning), 'that all long jobs are at work');
  for (const { sandboxes } of ofKind('long', await readBooks(service))) await release(service, sandboxes[0]?.id ?? '');
  await run('fanout', 'watch', 'batch');
  const ids = ['source', ...submitted.map(({ jobId }) => jobId), ...late];
  const results = await withTemporal((client) =>
    Promise.all(
      ids.map((jobId) => client.workflow.getHandle(jobWorkflowId(deployment, jobId)).result() as Promise<JobResult>),
    ),
  );
  const isStopped = ({ sandboxes }: BooksRead) => sandboxes.every(({ state }) => state === 'archived');
  await untilBooks((books) => ofKind('kept', books).every(isStopped), 'the stops of what was kept');
  const shown = JSON.parse(await run('schedule', 'show', 'nightly', '--json')).schedule;
  await run('schedule', 'remove', 'nightly');

  // Nothing is lost.
  expect(results.map(({ outcome, prompts: [prompt] }, at) => `${outcome}: ${at > 0 && prompt?.result}`)).toEqual(
    ids.map((id, at) => `completed: ${at > 0 && `${id}\n`}`),
  );
  expect(shown).toMatchObject({ missed: 0, skipped: 0 });
  for (const { ended } of followed) {
    const { exitCode, stdout, stderr } = await ended;
    expect(exitCode, stdout + stderr).toBe(0);
  }
  if (followed[0]) expect(reportOf(await followed[0].ended)).toMatchObject({ outcome: 'completed' });
  // Nothing is doubled.
  const books = await readBooks(service);
  for (const id of ids) {
    expect({ id, ...accepted(booksOf(id, books)) }).toEqual({ id, sandboxes: 1, prompts: 1, stops: 1 });
  }
  const batch = booksOf('batch', books);
  expect(new Set(batch.prompts.map(({ text }) => text)).size).toBe(items);
  const { sandboxes, prompts } = accepted(batch) ?? {};
  expect({ sandboxes, prompts }).toEqual({ sandboxes: items, prompts: items });
  expect(accepted(books)).toMatchObject({ sandboxes: ids.length + items, prompts: ids.length + items });
  // Nothing is left.
  const stays = books.sandboxes.filter(({ gone }) => gone === null);
  expect(stays.filter(({ state }) => state !== 'archived').map(({ name, state }) => `${name}: ${state}`)).toEqual([]);
  expect(stays).toHaveLength(ids.length);
  await withTemporal(async (client) => {
    await vi.waitFor(async () => expect(await workflows(client, "ExecutionStatus = 'Running'")).toEqual([]), slowly);
    const odd = "ExecutionStatus NOT IN ('Completed', 'ContinuedAsNew', 'Running')";
    expect(await workflows(client, odd)).toEqual([]);
    for (const jobId of ids) {
      const handle = client.workflow.getHandle(jobWorkflowId(deployment, jobId));
      expect(await failedTasks(handle), jobId).toEqual([]);
    }
  });
  await say(
    `${ids.length} jobs, a batch of ${items} and a cleanup of ${jobs.kept} have ended, after ${events.length} events`,
  );
}

async function workflows(client: Client, query: string): Promise<string[]> {
  const found: string[] = [];
  for await (const { workflowId, status } of client.workflow.list({ query }))
    found.push(`${workflowId}: ${status.name}`);
  return found;
}

/** Lets the agent of a sandbox finish. */
async function release({ url, apiKey }: LocalService, sandboxId: string): Promise<void> {
  const answer = await fetch(`${url}/sandboxes/${sandboxId}/files`, {
    method: 'PUT',
    headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ path: 'go', content: '' }),
  });
  if (!answer.ok) throw new Error(`The file was refused with ${answer.status}.`);
}
