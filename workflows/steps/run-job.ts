/**
 * What every job does, on its own or as an item of a batch: obtains a sandbox, prepares it, prompts, follows, collects
 * files, and ends as asked. It always ends in a named outcome, and cleans up in a scope that a cancel does not cut.
 */
import { CancellationScope, condition, isCancellation, sleep, workflowInfo } from '@temporalio/workflow';
import type { JobError, JobOutcome, JobResult } from '../job.js';
import { files } from '../proxies.js';
import { adoptSandbox } from './adopt-sandbox.js';
import { createSandbox } from './create-sandbox.js';
import { deleteSandbox, interruptPrompts } from './end-sandbox.js';
import { endOf, type JobEnded, jobError } from './job-ended.js';
import type { JobRun } from './job-run.js';
import { patiently } from './patiently.js';
import { prepareSandbox, renewTtl } from './prepare-sandbox.js';
import { runPrompts } from './prompt-steps.js';
import { runCommands } from './run-commands.js';
import { stopSandbox } from './stop-own-sandbox.js';
import { renewRegistrationEveryMs, unwatchSandbox, watchSandbox } from './watching.js';

/** Runs the job to its end. Never throws: what goes wrong is in the result. */
export async function runJob(run: JobRun): Promise<JobResult> {
  const work = new CancellationScope();
  const guard = new CancellationScope();
  let overdue = false;
  const guarded = guard.run(async () => {
    await keepAlive(run);
    overdue = true;
    work.cancel();
  });
  guarded.catch(() => undefined);

  let ended: JobEnded | undefined;
  let outcome: JobOutcome = 'completed';
  try {
    await work.run(() => doWork(run));
  } catch (error) {
    if (overdue) outcome = 'deadline_exceeded';
    else if (isCancellation(error) || work.consideredCancelled) outcome = 'cancelled';
    else ended = endOf(error);
    // What runs side by side with the step that failed ends with it.
    work.cancel();
  }
  run.takesPrompts = false;
  guard.cancel();
  const cutShort = outcome !== 'completed' || (ended !== undefined && ended.outcome !== 'prompt_failed');
  const errorAfter = (cleanUpError: JobError | null) =>
    ended?.jobError ?? (outcome === 'completed' ? cleanUpError : errorOf(outcome, run));
  outcome = ended?.outcome ?? outcome;
  const cleanUpError = await CancellationScope.nonCancellable(async () => {
    if (run.sandbox) await run.beforeEnd?.(run.result(outcome, errorAfter(null)));
    return cleanUp(run, cutShort);
  });

  run.outcome = outcome;
  const error = errorAfter(cleanUpError);
  const result = run.result(outcome, error);
  run.enter('ended');
  return result;
}

async function doWork(run: JobRun): Promise<void> {
  const { source, collect } = run.input;
  await (source.kind === 'existing' ? adoptSandbox(run, source) : createSandbox(run, source));
  const sandboxId = run.sandbox?.id ?? '';
  await prepareSandbox(run, sandboxId);
  await runCommands(run, sandboxId);
  try {
    await runPrompts(run, sandboxId);
  } finally {
    // What a failed prompt has left behind is often what explains it.
    if (collect.length > 0 && !CancellationScope.current().consideredCancelled) await collectFiles(run, sandboxId);
  }
}

async function collectFiles(run: JobRun, sandboxId: string): Promise<void> {
  run.enter('collecting_files');
  const { workflowId, firstExecutionRunId } = workflowInfo();
  for (const [index, path] of run.input.collect.entries()) {
    const key = `${workflowId}/${firstExecutionRunId}/files/${index}`;
    const summary = `collect ${path}`;
    const file = await patiently(run, 'collect file', () =>
      files.collectFile.executeWithOptions({ summary }, [{ sandboxId, path, key }]),
    );
    run.files.push(file);
  }
}

/** Renews what expires while the job works, and returns at the deadline. */
async function keepAlive(run: JobRun): Promise<void> {
  for (;;) {
    if (!Number.isFinite(run.deadlineAtMs)) await condition(() => Number.isFinite(run.deadlineAtMs));
    const { deadlineAtMs } = run;
    const leftMs = deadlineAtMs - Date.now();
    if (leftMs <= 0) return;
    const renewInMs = run.watched ? renewRegistrationEveryMs : Number.POSITIVE_INFINITY;
    const everyMs = Math.min(renewInMs, (run.input.ttlSeconds * 1_000) / 2);
    await sleep(Math.min(leftMs, everyMs), { summary: 'deadline, or renewal of auto-stop' });
    // An item whose fork became `cancelled` has the deadline of its next one.
    if (deadlineAtMs !== run.deadlineAtMs) continue;
    if (leftMs <= everyMs) return;
    try {
      await renewTtl(run);
      if (run.watched && run.sandbox) await watchSandbox(run, run.sandbox.id);
    } catch (error) {
      if (isCancellation(error)) throw error;
    }
  }
}

/** Interrupts what is left running and ends the sandbox as asked. Bounded; says what it could not do. */
async function cleanUp(run: JobRun, cutShort: boolean) {
  const sandboxId = run.sandbox?.id;
  if (sandboxId === undefined) return null;
  run.reached('ending');
  try {
    await CancellationScope.withTimeout(run.timing.cleanUpMs, async () => {
      if (cutShort) await interruptPrompts(run, sandboxId);
      if (run.input.end === 'stop') await stopSandbox(run, sandboxId);
      if (run.input.end === 'delete') await deleteSandbox(run, sandboxId);
      await unwatchSandbox(run);
    });
    run.reached('ended');
    return null;
  } catch (error) {
    if (isCancellation(error)) {
      return jobError('clean_up_unfinished', `The sandbox ${sandboxId} did not end as asked in time; look after it.`);
    }
    return endOf(error).jobError;
  }
}

function errorOf(outcome: JobOutcome, { input, unconfirmedName }: JobRun) {
  if (unconfirmedName !== null) {
    const message = `It is not known whether the sandbox "${unconfirmedName}" was made; look after it.`;
    return jobError('clean_up_unfinished', message);
  }
  if (outcome === 'cancelled') return jobError('cancelled', 'The job was cancelled');
  return jobError('deadline_exceeded', `The job did not finish within ${Math.round(input.deadlineMs / 1_000)} seconds`);
}
