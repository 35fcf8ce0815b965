/**
 * Runs prompts durably in a sandbox. Obtains and prepares the sandbox, and sends and follows the prompts. Then collects
 * files, and ends the sandbox as the input says.
 *
 *     obtain ─► prepare ─► prompt ⇄ follow ─► collect ─► stop | delete | keep ─► result
 *        └──────────┴──── cancel, deadline, failure ─────────┘
 *
 * The workflow always returns a named outcome, and its cleanup runs in a scope that cannot be cancelled.
 */
import { allHandlersFinished, CancellationScope, condition } from '@temporalio/workflow';
import type { JobExecution } from '../../src/protocol/job/job-input.js';
import type { JobResult } from '../../src/protocol/job/job-result.js';
import { shortfallOfJob } from '../../src/protocol/shortfall.js';
import { countEnd } from '../shared/metrics.js';
import { recordOutcome } from '../shared/outcome-memo.js';
import { showAttributes } from '../shared/search-attributes.js';
import { sendNotification } from '../shared/send-notification.js';
import { continueWithStart } from '../shared/start-memo.js';
import type { CarriedJob } from './carried-job.js';
import { endedSandboxes } from './end/ended-sandboxes.js';
import { handleMessages } from './handlers.js';
import { JobState } from './job-state.js';
import { continuesAsNew, runJob } from './run-job.js';

/** Runs a job: one or more prompts in one sandbox, from a `JobInput` to a `JobResult`. */
export async function createThenPrompt(execution: JobExecution<CarriedJob>): Promise<JobResult> {
  const { carried, ...input } = execution;
  const job = new JobState(input, carried);
  handleMessages(job);
  const result = await runJob(job);
  if (result === continuesAsNew) {
    await condition(allHandlersFinished);
    const startedAt = new Date(job.carried.startedAtMs).toISOString();
    return continueWithStart<typeof createThenPrompt>(startedAt, { ...input, carried: job.carry() });
  }
  const { outcome, error } = result;
  recordOutcome({ ...result, shortfall: shortfallOfJob(result) }, endedSandboxes(job));
  showAttributes({ outcome, sandbox: result.sandboxId, blocked: null });
  countEnd('job', result);
  await CancellationScope.nonCancellable(() => sendNotification(job, 'ended', outcome, error?.message ?? null));
  return result;
}
