/**
 * Runs prompts durably in a sandbox: obtains it, prepares it, prompts, follows, collects files, and ends as asked.
 *
 *     obtain ─► prepare ─► prompt ⇄ follow ─► collect ─► stop | delete | keep ─► result
 *        └──────────┴──── cancel, deadline, failure ─────────┘
 *
 * It always ends in a named outcome, as its result, and cleans up in a scope that a cancel does not cut.
 */
import { allHandlersFinished, CancellationScope, condition, continueAsNew } from '@temporalio/workflow';
import type { JobResult } from './job.js';
import { carryJob, type JobExecution } from './steps/job-carry.js';
import { handleMessages } from './steps/job-messages.js';
import { JobRun } from './steps/job-run.js';
import { endingReads } from './steps/leavable.js';
import { goesOn, runJob } from './steps/run-job.js';
import { tell } from './steps/tell.js';

/** A job: one or more prompts in one sandbox. See `JobInput` for what it takes and `JobResult` for what it gives. */
export function createThenPrompt(input: JobExecution): Promise<JobResult> {
  return endingReads(() => runCreateThenPrompt(input));
}

async function runCreateThenPrompt({ carried, ...input }: JobExecution): Promise<JobResult> {
  const run = new JobRun(input, carried);
  handleMessages(run);
  const result = await runJob(run);
  if (result === goesOn) {
    await condition(allHandlersFinished);
    return continueAsNew<typeof createThenPrompt>({ ...input, carried: carryJob(run) });
  }
  const { outcome, error } = result;
  await CancellationScope.nonCancellable(() => tell(run, 'ended', outcome, error?.message ?? null));
  return result;
}
