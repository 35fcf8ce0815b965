/** Finds out how the input of an existing job differs from a new one with the same id. */
import type { Client } from '@temporalio/client';
import type { JobExecution, JobInput } from '../../protocol/job/job-input.js';
import { firstInput } from '../first-input.js';
import { contentDigest, inputDigest } from '../input-digest.js';
import { askedJob, describeJob } from './job-client.js';
import { parseJobInput } from './job-input.js';

export interface DifferingJob {
  /** True if the existing job has not ended. */
  readonly isRunning: boolean;
  /**
   * Paths of the fields that differ, such as `prompts.0.prompt` or `source.body.type`. Empty if both inputs are the
   * same. Null if they differ, but Temporal no longer has the earlier input.
   */
  readonly fields: readonly string[] | null;
}

/**
 * Compares `input` with the input of the job that exists under its id. A text and a reference to the same text are
 * equal. Needs no worker.
 * @throws SandflowError `job_not_found`, `not_a_job`
 */
export async function differingJob(client: Client, input: JobInput): Promise<DifferingJob> {
  const there = await describeJob(client, input);
  const isRunning = there.status.name === 'RUNNING';
  if (there.memo?.inputDigest === undefined || there.memo.inputDigest === inputDigest(input)) {
    return { isRunning, fields: [] };
  }
  const earlier = await firstInput<JobExecution>(client, askedJob(input), there);
  return { isRunning, fields: earlier ? differingFields(completed(earlier), input) : null };
}

function completed({ carried: _, ...input }: JobExecution): JobInput {
  try {
    return parseJobInput(input);
  } catch {
    // An older version accepted what this one refuses.
    return input;
  }
}

/** Paths of the fields of two inputs that differ, without job id and deployment. */
export function differingFields(a: JobInput, b: JobInput): string[] {
  const same = { jobId: '', deployment: '' };
  return differing({ ...a, ...same }, { ...b, ...same }, '');
}

function differing(a: unknown, b: unknown, path: string): string[] {
  if (contentDigest(a ?? null) === contentDigest(b ?? null)) return [];
  if (!isBranch(a) || !isBranch(b)) return [path];
  const keys = [...new Set([...Object.keys(a), ...Object.keys(b)])];
  return keys.flatMap((key) => differing(a[key], b[key], path === '' ? key : `${path}.${key}`));
}

/** A text or a file in the result store is a value, like the text itself. */
function isBranch(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !('ref' in value) && !('base64' in value);
}
