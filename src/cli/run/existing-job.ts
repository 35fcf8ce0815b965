/** Handles `run --id` for an existing job: attaches if the input is the same, and refuses otherwise. */
import type { Client } from '@temporalio/client';
import { SandflowError } from '../../errors/sandflow-error.js';
import type { JobInput } from '../../protocol/job/job-input.js';
import { type DifferingJob, differingJob } from '../../workflow-client/jobs/differing-input.js';
import { describeJob, type JobAddress } from '../../workflow-client/jobs/job-client.js';
import type { Platform } from '../connect/platform.js';
import type { Reporter } from '../output/reporter.js';
import { optionNameOf } from '../settings/checked-input.js';
import type { RunOptions } from './options.js';

/** True if `run` with this id attaches to a job; false if it starts one. */
export async function isAttachedTo(
  platform: Pick<Platform, 'temporal' | 'patiently'>,
  job: JobAddress,
  { again }: Pick<RunOptions, 'again'>,
): Promise<boolean> {
  try {
    const { status } = await platform.patiently(() => describeJob(platform.temporal, job));
    return !again || status.name === 'RUNNING';
  } catch (error) {
    if (error instanceof SandflowError && error.code === 'job_not_found') return false;
    throw error;
  }
}

/** @returns whether that job has ended @throws SandflowError `job_differs`, unless `--reuse` asks for the earlier job */
export async function attachTo(
  temporal: Client,
  input: JobInput,
  { reuse }: Pick<RunOptions, 'reuse'>,
  reporter: Pick<Reporter, 'notice'>,
): Promise<{ readonly hasEnded: boolean }> {
  const { jobId } = input;
  const there = await differingJob(temporal, input);
  const differs = differenceText(there.fields);
  if (differs !== null && !reuse) throw new SandflowError('job_differs', refusalOf(jobId, there, differs));
  if (differs !== null) reporter.notice(`Job ${jobId} was started with other values: ${differs}.`);
  reporter.notice(
    there.isRunning
      ? `Job ${jobId} is already running; watching it.`
      : `Job ${jobId} already finished; showing its result. Use --again to run it again.`,
    'detail',
  );
  return { hasEnded: !there.isRunning };
}

function refusalOf(jobId: string, { isRunning }: DifferingJob, differs: string): string {
  const state = isRunning ? 'is running' : 'has finished';
  const again = isRunning ? '' : ', add --again to start a new job with this id';
  const reuse = isRunning ? 'add --reuse to watch that job' : 'add --reuse to print the result of that job';
  return `Job ${jobId} ${state}, and was started with other values: ${differs}. Nothing was started. Choose another --id${again}, or ${reuse}.`;
}

/** @returns null if nothing differs */
export function differenceText(fields: DifferingJob['fields']): string | null {
  if (fields === null) return 'Temporal no longer has them';
  const names = new Set(fields.map((field) => optionNameOf('run', field.split('.'))));
  return names.size === 0 ? null : [...names].join(', ');
}
