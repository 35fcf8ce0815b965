/** A command for many jobs, with 1,000 of them. Extended; costs some 20 s of CPU. */
import { randomBytes } from 'node:crypto';
import { Client, Connection } from '@temporalio/client';
import { afterAll, expect, inject, it } from 'vitest';
import { createConcurrencyLimit } from '../../../src/cli/connect/concurrency-limit.js';
import { startJob } from '../../../src/workflow-client/jobs/job-client.js';
import { cli } from '../../unit/cli/in-process.js';
import { jobInput } from '../../workflows/workflow-harness.js';

const deployment = `t${randomBytes(5).toString('hex')}`;
const connection = Connection.lazy({ address: inject('temporalAddress') });
const client = new Client({ connection });
const gate = createConcurrencyLimit(20);
const ids = Array.from({ length: 1_000 }, (_, index) => `job-${index}`);
const started: { terminate(): Promise<unknown> }[] = [];
afterAll(async () => {
  await Promise.all(started.map((one) => gate(() => one.terminate())));
  await connection.close();
});

it('jobs cancel --label of 1,000 jobs cancels each, and repeated says so of each', async () => {
  // No worker runs them.
  const start = (jobId: string) =>
    startJob(client, jobInput({ deployment, jobId }), { taskQueue: 'nobody', labels: { team: 'search' } });
  await Promise.all(ids.map((id) => gate(async () => started.push((await start(id)).handle))));
  const run = (...more: string[]) =>
    cli(['jobs', 'cancel', '--label', 'team=search', '--json', ...more], {
      env: {
        TEMPORAL_ADDRESS: inject('temporalAddress'),
        SANDBOX_API_URL: 'http://127.0.0.1:9/v1',
        SANDBOX_API_KEY: 'test-key',
        SANDFLOW_DEPLOYMENT: deployment,
      },
    });
  const count = async (result: string, more: string) => {
    const { stdout } = await run(more);
    return JSON.parse(stdout).jobs.filter((one: { readonly result: string }) => one.result === result).length;
  };
  await expect.poll(() => count('due', '--dry-run')).toBe(1_000);
  expect(await count('cancelling', '--yes')).toBe(1_000);
  expect(await count('already_cancelling', '--yes')).toBe(1_000);
});
