/**
 * Runs prompts durably in a sandbox: obtains it, prepares it, prompts, follows, collects files, and ends as asked.
 *
 *     obtain ─► prepare ─► prompt ⇄ follow ─► collect ─► stop | delete | keep ─► result
 *        └──────────┴──── cancel, deadline, failure ─────────┘
 *
 * It always ends in a named outcome, as its result, and cleans up in a scope that a cancel does not cut.
 */
import {
  ApplicationFailure,
  CancellationScope,
  isCancellation,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { JobInput, JobOutcome, JobResult } from './job.js';
import { progressQuery, promptUpdate, resolveUpdate, sandboxEventSignal } from './messages.js';
import { files } from './proxies.js';
import { adoptSandbox } from './steps/adopt-sandbox.js';
import { createSandbox } from './steps/create-sandbox.js';
import { deleteSandbox, interruptPrompts, stopSandbox } from './steps/end-sandbox.js';
import { endOf, type JobEnded, jobError } from './steps/job-ended.js';
import { JobRun } from './steps/job-run.js';
import { patiently, tell } from './steps/patiently.js';
import { prepareSandbox, renewTtl } from './steps/prepare-sandbox.js';
import { runPrompts } from './steps/prompt-steps.js';
import { renewRegistrationEveryMs, unwatchSandbox, watchSandbox } from './steps/watching.js';

/** A job: one or more prompts in one sandbox. See `JobInput` for what it takes and `JobResult` for what it gives. */
export async function createThenPrompt(input: JobInput): Promise<JobResult> {
  const run = new JobRun(input);
  handleMessages(run);

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
  const cleanUpError = await CancellationScope.nonCancellable(() => cleanUp(run, cutShort));

  outcome = ended?.outcome ?? outcome;
  run.outcome = outcome;
  const error = ended?.jobError ?? (outcome === 'completed' ? cleanUpError : errorOf(outcome, input));
  const result = run.result(outcome, error);
  run.enter('ended');
  await CancellationScope.nonCancellable(() => tell(run, 'ended', outcome, error?.message ?? null));
  return result;
}

function handleMessages(run: JobRun): void {
  setHandler(sandboxEventSignal, (event) => run.inbox.record(event));
  setHandler(progressQuery, () => run.progress());
  setHandler(promptUpdate, (step) => ({ index: run.addPrompt(step) }), {
    validator(step) {
      if (!run.takesPrompts) throw refused('This job takes no prompts any more: it is ending.');
      if (step.prompt.trim() === '') throw refused('The prompt is empty.');
    },
  });
  setHandler(
    resolveUpdate,
    (resolution) => {
      run.resolution = resolution;
      return { step: run.blocked?.step ?? '' };
    },
    {
      validator(resolution) {
        if (run.blocked?.reason !== 'outcome_unknown') throw refused('This job waits for no such decision.');
        if (run.resolution !== null) throw refused('This was decided a moment ago.');
        if (resolution.action === 'sent' && run.blocked.step === 'create' && resolution.sandboxId === undefined) {
          throw refused('Say which sandbox the create has made.');
        }
      },
    },
  );
}

function refused(message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, 'refused');
}

async function doWork(run: JobRun): Promise<void> {
  const { source, collect } = run.input;
  await (source.kind === 'existing' ? adoptSandbox(run, source) : createSandbox(run, source));
  const sandboxId = run.sandbox?.id ?? '';
  await prepareSandbox(run, sandboxId);
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
    const leftMs = run.deadlineAtMs - Date.now();
    if (leftMs <= 0) return;
    const renewInMs = run.watched ? renewRegistrationEveryMs : Number.POSITIVE_INFINITY;
    const everyMs = Math.min(renewInMs, (run.input.ttlSeconds * 1_000) / 2);
    await sleep(Math.min(leftMs, everyMs), { summary: 'deadline, or renewal of auto-stop' });
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
  try {
    await CancellationScope.withTimeout(run.timing.cleanUpMs, async () => {
      if (cutShort) await interruptPrompts(run, sandboxId);
      if (run.input.end === 'stop') await stopSandbox(run, sandboxId);
      if (run.input.end === 'delete') await deleteSandbox(run, sandboxId);
      await unwatchSandbox(run);
    });
    return null;
  } catch (error) {
    if (isCancellation(error)) {
      return jobError('clean_up_unfinished', `The sandbox ${sandboxId} did not end as asked in time; look after it.`);
    }
    return endOf(error).jobError;
  }
}

function errorOf(outcome: JobOutcome, input: JobInput) {
  if (outcome === 'cancelled') return jobError('cancelled', 'The job was cancelled');
  return jobError('deadline_exceeded', `The job did not finish within ${Math.round(input.deadlineMs / 1_000)} seconds`);
}
