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
}

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
      executions: page.map(({ id, start, end }) =>
        proto.temporal.api.workflow.v1.WorkflowExecutionInfo.fromObject({
          execution: { workflowId: `sf-d-${id}`, runId: `${id}-${start}` },
          type: { name: 'x' },
          status: end === undefined ? 1 : 2,
          startTime: { seconds: start },
          closeTime: end === undefined ? null : { seconds: end },
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
