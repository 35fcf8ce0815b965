/** What `jobs show` prints of a job while no worker answers. Tier: unit. */
import { expect, test } from 'vitest';
import { knownOf } from '../../../../src/cli/run/show-job.js';

const job = { deployment: 'd', jobId: 'fix-1' };
const links = { workflowId: 'sandflow:d:fix-1', uiUrl: null };
const startTime = new Date('2026-11-29T08:00:00Z');
const raw = (pendingActivities: unknown[]) => ({ pendingActivities, workflowExecutionInfo: { firstRunId: '1' } });

test('a job without a worker is shown as Temporal knows it: its start, its links and its calls', () => {
  const pending = [
    { activityType: { name: 'deleteSandbox' }, attempt: 3, lastFailure: { message: 'HTTP 500' } },
    { activityType: { name: 'getSandbox' }, attempt: 1 },
  ];
  const described = { raw: raw(pending), startTime, memo: undefined } as unknown as Parameters<typeof knownOf>[0];
  expect(knownOf(described, job, links)).toEqual([
    'It runs, but no worker answers. What Temporal knows:',
    '  started 2026-11-29T08:00:00.000Z',
    '  workflow sandflow:d:fix-1',
    '  deleteSandbox has not succeeded yet and is repeated; last attempt: HTTP 500',
  ]);
});
