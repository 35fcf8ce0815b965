import type { Client } from '@temporalio/client';
import { expect, it } from 'vitest';
import { batchExists } from '../../../../src/cli/fanout/with-batch.js';
import { isAttachedTo } from '../../../../src/cli/run/existing-job.js';
import { SandflowError } from '../../../../src/errors/sandflow-error.js';

/** A connection to Temporal whose calls end like this. */
const platform = (end: () => unknown) => ({
  temporal: {} as Client,
  patiently: async <T>() => end() as T,
});
const status = (name: string) => platform(() => ({ status: { name } }));
const failing = (code: 'job_not_found' | 'fanout_not_found' | 'not_a_job' | 'temporal_unreachable') =>
  platform(() => {
    throw new SandflowError(code, code);
  });
const job = { deployment: 'd', jobId: 'j' };
const batch = { deployment: 'd', batchId: 'b' };

it('a repeated id attaches to a job that runs, and to one that has ended unless --again is given', async () => {
  expect(await isAttachedTo(status('RUNNING'), job, {})).toBe(true);
  expect(await isAttachedTo(status('RUNNING'), job, { again: true })).toBe(true);
  expect(await isAttachedTo(status('COMPLETED'), job, {})).toBe(true);
  expect(await isAttachedTo(status('COMPLETED'), job, { again: true })).toBe(false);
  expect(await isAttachedTo(failing('job_not_found'), job, {})).toBe(false);
  await expect(isAttachedTo(failing('not_a_job'), job, {})).rejects.toMatchObject({ code: 'not_a_job' });
});

it('a repeated id attaches to a batch that runs or has ended', async () => {
  expect(await batchExists(status('RUNNING'), batch)).toBe(true);
  expect(await batchExists(status('COMPLETED'), batch)).toBe(true);
  expect(await batchExists(failing('fanout_not_found'), batch)).toBe(false);
  const away = batchExists(failing('temporal_unreachable'), batch);
  await expect(away).rejects.toMatchObject({ code: 'temporal_unreachable' });
});
