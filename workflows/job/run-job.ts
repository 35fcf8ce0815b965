/**
 * The steps of every job, including items of a batch. A job obtains and prepares a sandbox, sends its prompts, follows
 * them, runs its checks, and collects files. Then it stops, deletes or keeps the sandbox as the input says. A job always ends with a
 * named outcome; its cleanup runs in a scope that cannot be cancelled.
 */
import { CancellationScope, isCancellation } from '@temporalio/workflow';
import type { JobResult } from '../../src/protocol/job/job-result.js';
import { ContinueAsNewRequest } from '../shared/continue-as-new.js';
import { type JobTermination, jobError, toJobTermination } from '../shared/job-termination.js';
import { countMachineTime } from '../shared/metrics.js';
import { runChecksBefore, runRounds } from './checks/run-checks.js';
import { startTimers } from './deadline-and-renewals.js';
import { cleanUp, type JobEnding } from './end/clean-up.js';
import { collectDiff, recordDiffBase } from './end/collect-diff.js';
import { collectFiles, takeFingerprints } from './end/collect-files.js';
import { runAfter } from './end/last-commands.js';
import type { JobState } from './job-state.js';
import { awaitedStopOf, resultOf } from './report.js';
import { runCommands } from './run-commands.js';
import { adoptSandbox } from './sandbox/adopt-sandbox.js';
import { createSandbox } from './sandbox/create-sandbox.js';
import { prepareSandbox } from './sandbox/prepare-sandbox.js';

/** Returned if the job has not ended but its history is long: a new run continues from `carryJob`. */
export const continuesAsNew = 'continues_as_new';

/** How the work of a run ended. */
type WorkEnd = FinalEnd | { readonly kind: 'history_is_long' };
type FinalEnd =
  | { readonly kind: 'completed' | 'deadline_exceeded' | 'cancelled' }
  /** A step ended the job. */
  | { readonly kind: 'terminated'; readonly termination: JobTermination };

/** Runs the job to its end, or until it must continue as new. Never throws: errors are in the result. */
export async function runJob(job: JobState): Promise<JobResult | typeof continuesAsNew> {
  const work = new CancellationScope();
  const timers = new CancellationScope();
  let isOverdue = false;
  let isAtWork = true;
  const cutShort = (why: NonNullable<JobState['cutShort']>) => {
    if (isAtWork) job.cutShort ??= why;
  };
  const timing = timers.run(() =>
    startTimers(job, () => {
      isOverdue = true;
      job.deadlineIn = job.blocked ? 'blocked' : job.carried.phase;
      cutShort('deadline_exceeded');
      work.cancel();
    }),
  );
  timing.catch(() => undefined);
  // A call that must not be lost may hold the work for minutes after this.
  CancellationScope.current().cancelRequested.catch(() => cutShort('cancelled'));

  let end: WorkEnd = { kind: 'completed' };
  try {
    await work.run(() => doWork(job));
  } catch (error) {
    end = isOverdue ? { kind: 'deadline_exceeded' } : endOf(error, work);
    // Ends the steps that run in parallel with the failed step.
    work.cancel();
  }
  isAtWork = false;
  timers.cancel();
  if (end.kind === 'history_is_long') {
    await timing.catch(() => undefined);
    if (!CancellationScope.current().consideredCancelled) return continuesAsNew;
    // A cancel has arrived in the meantime, and a new run would not know of it.
    end = { kind: 'cancelled' };
    job.cutShort = 'cancelled';
  }
  job.takesPrompts = false;
  const ending = endingOf(job, end);
  const cleanUpError = await CancellationScope.nonCancellable(() => cleanUp(job, ending));
  job.outcome = ending.outcome;
  const result = resultOf(job, ending.outcome, ending.error ?? cleanUpError);
  job.endError = result.error;
  job.enter('ended');
  const { made, ended = Date.now() } = job.carried.reachedAtMs;
  if (made !== undefined) countMachineTime('spent', job.sandbox?.type, ended - made);
  return result;
}

async function doWork(job: JobState): Promise<void> {
  const sandboxId = job.carried.isObtained && job.sandbox ? job.sandbox.id : await obtainSandbox(job);
  job.carried.isObtained = true;
  await prepareSandbox(job, sandboxId);
  await takeFingerprints(job, sandboxId);
  await runCommands(job, sandboxId);
  await runChecksBefore(job, sandboxId);
  await recordDiffBase(job, sandboxId);
  const failed = (await runRounds(job, sandboxId)) ?? (await runAfter(job, sandboxId));
  job.failed = failed;
  // While files are collected, somebody may stop and resume the sandbox.
  if (job.input.collect.length > 0 || job.input.collectDiff !== undefined) job.seenAtEnd = undefined;
  await collectFiles(job, sandboxId, false);
  await collectDiff(job, sandboxId, false);
  // The files show why.
  if (failed) throw failed;
}

async function obtainSandbox(job: JobState): Promise<string> {
  const { source } = job.input;
  if (source.kind !== 'existing') return await createSandbox(job, source);
  const sandboxId = await adoptSandbox(job, source);
  job.reached('usable');
  return sandboxId;
}

function endOf(error: unknown, work: CancellationScope): WorkEnd {
  if (work.consideredCancelled || isCancellation(error)) return { kind: 'cancelled' };
  if (error instanceof ContinueAsNewRequest) return { kind: 'history_is_long' };
  return { kind: 'terminated', termination: toJobTermination(error) };
}

/** The outcome of the job, and the facts that its cleanup needs. */
function endingOf(job: JobState, end: FinalEnd): JobEnding {
  const { input, blocked } = job;
  const stop = awaitedStopOf(job);
  const cutShort = (outcome: 'cancelled' | 'deadline_exceeded', message: string): JobEnding => ({
    outcome,
    error: jobError(outcome, message),
    cutShort: true,
  });
  const cause = blocked?.message ?? (stop && `the stop ${stop.stopId} is ${stop.status}: ${stop.error ?? 'not ended'}`);
  const waitedFor = cause === null ? '' : `; it was waiting: ${cause}`;
  if (end.kind === 'completed') return { outcome: end.kind, error: null, cutShort: false };
  if (end.kind === 'cancelled') return cutShort(end.kind, `The job was cancelled${waitedFor}`);
  if (end.kind === 'terminated') {
    const { outcome, jobError: error } = end.termination;
    return { outcome, error, cutShort: outcome !== 'prompt_failed' && outcome !== 'unverified' };
  }
  // Only the collection of files was cut short.
  if (job.failed) return { outcome: job.failed.outcome, error: job.failed.jobError, cutShort: true };
  const seconds = Math.round(input.deadlineMs / 1_000);
  return cutShort(end.kind, `The job did not finish within ${seconds} seconds${waitedFor}`);
}
