/**
 * The steps of every job, standalone or an item of a batch: obtain a sandbox, prepare it, prompt, follow, collect files,
 * and end as the input says. A job always ends with a named outcome; its cleanup runs in a scope that cannot be cancelled.
 */
import { CancellationScope, isCancellation } from '@temporalio/workflow';
import { ContinueAsNewRequest } from '../shared/continue-as-new.js';
import { isResetRun } from '../shared/reset-run.js';
import { adoptSandbox } from './adopt-sandbox.js';
import { createSandbox } from './create-sandbox.js';
import { startTimers } from './deadline-and-renewals.js';
import { cleanUp } from './end/clean-up.js';
import { collectFiles, takeFingerprints } from './end/collect-files.js';
import { prepareSandbox } from './prepare-sandbox.js';
import { runPrompts } from './prompts/run-prompts.js';
import { runCommands } from './run-commands.js';
import type { JobState } from './state.js';
import { type JobTermination, jobError, toJobTermination } from './termination.js';
import type { JobOutcome, JobResult } from './types.js';

/** Returned by a job that has not ended: its history is long, and a new run continues from `carryJob`. */
export const continuesAsNew = 'goes_on_as_new';

/** Runs the job to its end, or until it must continue as new. Never throws: errors are in the result. */
export async function runJob(run: JobState): Promise<JobResult | typeof continuesAsNew> {
  run.wasReset ||= isResetRun();
  const work = new CancellationScope();
  const alive = new CancellationScope();
  let overdue = false;
  const keptAlive = alive.run(() =>
    startTimers(run, () => {
      overdue = true;
      work.cancel();
    }),
  );
  keptAlive.catch(() => undefined);

  let ended: JobTermination | undefined;
  let outcome: JobOutcome = 'completed';
  try {
    await work.run(() => doWork(run));
  } catch (error) {
    const isCut = overdue || work.consideredCancelled || isCancellation(error);
    // Ends the steps that run in parallel with the one that threw.
    work.cancel();
    if (error instanceof ContinueAsNewRequest && !isCut) {
      alive.cancel();
      await keptAlive.catch(() => undefined);
      // This run would lose a cancel that arrived in the meantime.
      if (!CancellationScope.current().consideredCancelled) return continuesAsNew;
      outcome = 'cancelled';
    } else if (overdue) outcome = 'deadline_exceeded';
    else if (isCut) outcome = 'cancelled';
    else ended = toJobTermination(error);
  }
  run.takesPrompts = false;
  alive.cancel();
  const cutShort = outcome !== 'completed' || (ended !== undefined && ended.outcome !== 'prompt_failed');
  outcome = ended?.outcome ?? outcome;
  const ownError = ended?.jobError ?? errorOf(outcome, run);
  const cleanUpError = await CancellationScope.nonCancellable(() =>
    cleanUp(run, { outcome, error: ownError, cutShort }),
  );
  run.outcome = outcome;
  const result = run.result(outcome, ownError ?? cleanUpError);
  run.enter('ended');
  return result;
}

async function doWork(run: JobState): Promise<void> {
  const { source } = run.input;
  if (!run.isObtained) await (source.kind === 'existing' ? adoptSandbox(run, source) : createSandbox(run, source));
  run.isObtained = true;
  const sandboxId = run.sandbox?.id ?? '';
  await prepareSandbox(run, sandboxId);
  await takeFingerprints(run, sandboxId);
  await runCommands(run, sandboxId);
  await runPrompts(run, sandboxId);
  await collectFiles(run, sandboxId, false);
}

function errorOf(outcome: JobOutcome, { input, blocked }: JobState) {
  const waitedFor = blocked === null ? '' : `; it was waiting: ${blocked.message}`;
  if (outcome === 'cancelled') return jobError('cancelled', `The job was cancelled${waitedFor}`);
  if (outcome !== 'deadline_exceeded') return null;
  const seconds = Math.round(input.deadlineMs / 1_000);
  return jobError('deadline_exceeded', `The job did not finish within ${seconds} seconds${waitedFor}`);
}
