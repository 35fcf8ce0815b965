/** The order of the lists of jobs and batches. The server here sorts and pages as Temporal does. */
import { Client, type Connection } from '@temporalio/client';
import proto from '@temporalio/proto';
import { expect, it } from 'vitest';
import { listFanouts, listJobs } from '../../../src/workflow-client/list-executions.js';

interface Execution {
  readonly id: string;
  /** In seconds. */
  readonly start: number;
  /** In seconds; undefined while it runs. */
  readonly end?: number;
  /** Outcome in its search attributes, of one whose memo cannot be read. */
  readonly shown?: string;
}

const attributes = (outcome: string) => {
  const metadata = { encoding: Buffer.from('json/plain'), type: Buffer.from('Keyword') };
  return { indexedFields: { SandflowOutcome: { metadata, data: Buffer.from(JSON.stringify(outcome)) } } };
};

function serverWith(executions: readonly Execution[]) {
  const read: string[] = [];
  const endOf = ({ end = Number.POSITIVE_INFINITY }: Execution) => end;
  const sorted = executions.toSorted((a, b) => endOf(b) - endOf(a) || b.start - a.start);
  const listWorkflowExecutions = async ({
    query,
    pageSize,
    nextPageToken,
  }: proto.temporal.api.workflowservice.v1.IListWorkflowExecutionsRequest) => {
    const [, operator] = /ExecutionStatus (!?=) 'Running'/.exec(query ?? '') ?? [];
    const isAsked = ({ end }: Execution) => !operator || (operator === '=') === (end === undefined);
    const from = Number(Buffer.from(nextPageToken ?? []).toString() || 0);
    const to = from + Number(pageSize);
    const asked = sorted.filter(isAsked);
    const page = asked.slice(from, to);
    read.push(...page.map(({ id }) => id));
    return {
      executions: page.map(({ id, start, end, shown }) =>
        proto.temporal.api.workflow.v1.WorkflowExecutionInfo.fromObject({
          execution: { workflowId: `sf-d-${id}`, runId: `${id}-${start}` },
          type: { name: 'x' },
          status: end === undefined ? 1 : 2,
          startTime: { seconds: start },
          closeTime: end === undefined ? null : { seconds: end },
          ...(shown && {
            memo: { fields: { outcome: { data: Buffer.from('?') } } },
            searchAttributes: attributes(shown),
          }),
        }),
      ),
      nextPageToken: Buffer.from(to < asked.length ? String(to) : ''),
    };
  };
  const connection = { workflowService: { listWorkflowExecutions }, plugins: [] } as unknown as Connection;
  return { client: new Client({ connection }), read };
}

it('a job that started later comes first, although an earlier one ended later or still runs', async () => {
  const { client } = serverWith([
    { id: 'runs', start: 10 },
    { id: 'long', start: 20, end: 90 },
    { id: 'short', start: 30, end: 40 },
    { id: 'new', start: 50 },
  ]);
  const rows = await listJobs(client, { deployment: 'd' });
  expect(rows.map(({ jobId }) => jobId)).toEqual(['new', 'short', 'long', 'runs']);
});

it('the newest batches are found on later pages, which are read no further than they can hold one', async () => {
  const long = Array.from({ length: 7 }, (_, at) => ({ id: `long-${at}`, start: at, end: 900 - at }));
  const short = Array.from({ length: 90 }, (_, at) => ({ id: `short-${at}`, start: 799 - at, end: 800 - at }));
  const running = Array.from({ length: 90 }, (_, at) => ({ id: `running-${at}`, start: 500 - at }));
  const { client, read } = serverWith([
    ...long,
    ...short,
    ...running,
    { id: 'again', start: 600, end: 620 },
    { id: 'again', start: 795 },
  ]);
  const rows = await listFanouts(client, { deployment: 'd', limit: 3 });
  expect(rows.map(({ batchId, status }) => `${batchId} ${status}`)).toEqual([
    'short-0 completed',
    'short-1 completed',
    'short-2 completed',
  ]);
  expect(read.length, 'executions on the pages').toBeLessThan(30);
  const more = await listFanouts(client, { deployment: 'd', limit: 200 });
  expect(more.map(({ startedAt }) => startedAt)).toEqual(
    more
      .map(({ startedAt }) => startedAt)
      .toSorted()
      .reverse(),
  );
  expect(more.filter(({ batchId }) => batchId === 'again')).toMatchObject([{ status: 'running' }]);
  expect(more).toHaveLength(188);
});

it('one whose memo cannot be read may have a shortfall, so it has failed, whatever its search attributes say', async () => {
  const { client } = serverWith([{ id: 'locked', start: 10, end: 20, shown: 'completed' }]);
  const rows = await listJobs(client, { deployment: 'd', failed: true });
  expect(rows).toMatchObject([{ jobId: 'locked', outcome: null, unreadable: { code: 'unreadable' } }]);
});

it('a page begins behind a place, and refuses what is none', async () => {
  const { client } = serverWith(['a', 'b', 'c'].map((id) => ({ id, start: 10 })));
  const [first] = await listJobs(client, { deployment: 'd', limit: 1 });
  expect(first?.place).toBe('1970-01-01T00:00:10.000Z/c');
  const rest = await listJobs(client, { deployment: 'd', after: first?.place ?? '' });
  expect(rest.map(({ jobId }) => jobId)).toEqual(['b', 'a']);
  for (const after of ['c', '10/c', '1970-01-01/c', '1970-01-01T00:00:10.000Z', ''])
    await expect(listJobs(client, { deployment: 'd', after })).rejects.toMatchObject({ code: 'bad_argument' });
});
