/** Deadlines that come after a step of a job, however long a busy machine needs for it. */

import type { JobResult } from '../../workflows/index.js';
import { progressOf } from './job-progress.js';
import type { Stand } from './workflow-harness.js';

type Job = Awaited<ReturnType<Stand['start']>>;

/**
 * Runs jobs, each with four times the deadline of the one before, until one reaches a step before its deadline.
 * @param reached true once the job has reached the step
 * @returns that job, when it has ended
 */
export async function atDeadline(
  firstMs: number,
  { start, reached }: { start(deadlineMs: number): Promise<Job>; reached(job: Job): Promise<boolean> | boolean },
): Promise<{ readonly job: Job; readonly result: JobResult }> {
  for (let deadlineMs = firstMs; ; deadlineMs *= 4) {
    const job = await start(deadlineMs);
    let hasEnded = false;
    const ending = job.result().finally(() => {
      hasEnded = true;
    });
    ending.catch(() => undefined);
    let isReached = false;
    while (!isReached && !hasEnded) {
      isReached = (await isTrue(() => reached(job))) && (await isTrue(() => isAtWork(job)));
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
    const result = await ending;
    if (isReached) return { job, result };
  }
}

/** What cannot be asked yet, or no longer, is not true. */
const isTrue = async (ask: () => Promise<boolean> | boolean) => {
  try {
    return await ask();
  } catch {
    return false;
  }
};

/** True if the job has begun no clean-up. */
async function isAtWork(job: Job): Promise<boolean> {
  const { phase } = await progressOf(job);
  return !['interrupting', 'collecting_files', 'stopping', 'waiting_for_archive', 'deleting', 'ended'].includes(phase);
}
