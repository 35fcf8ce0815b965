/** Builds the progress of a running job, and its result at the end. */
import { degradedOf } from '../../src/contract/workflow-safe/sandbox-view.js';
import { isFinalPromptStatus } from '../../src/contract/workflow-safe/states.js';
import { failureClassOf } from '../../src/protocol/failure-class.js';
import type { AwaitedStop, JobProgress, JobTimes } from '../../src/protocol/job/job-progress.js';
import type { JobError, JobOutcome, JobResult, PromptResult } from '../../src/protocol/job/job-result.js';
import { apiCalls } from '../shared/count-api-calls.js';
import type { Milestone } from './carried-job.js';
import type { JobState } from './job-state.js';
import { truncateResult } from './truncate-result.js';

/** Long texts are cut, as in the result. */
export function progressOf(job: JobState): JobProgress {
  return truncateResult({
    jobId: job.input.jobId,
    phase: job.carried.phase,
    since: new Date(job.carried.sinceMs).toISOString(),
    phases: [...job.carried.phases],
    blocked: job.blocked,
    sandboxId: job.sandbox?.id ?? null,
    degraded: job.sandbox && degradedOf(job.sandbox),
    awaitedStop: awaitedStopOf(job) ?? ownStopOf(job),
    autoStop: job.carried.autoStop,
    cutShort: job.cutShort,
    cleanUpEndsAt: job.cleanUpEndsAtMs === null ? null : new Date(job.cleanUpEndsAtMs).toISOString(),
    prompts: promptResults(job),
    ...(job.carried.rounds && { rounds: job.carried.rounds }),
    ...(job.input.checks?.length && { maxRounds: job.input.rounds ?? 1 }),
    wakes: job.carried.wakes,
    apiCalls: apiCalls(),
    deadlineAt: new Date(job.carried.deadlineAtMs ?? Date.now() + job.input.deadlineMs).toISOString(),
    outcome: job.outcome,
    times: timesOf(job),
    machineType: job.sandbox?.type ?? null,
  });
}

export function resultOf(job: JobState, outcome: JobOutcome, error: JobError | null): JobResult {
  return truncateResult({
    jobId: job.input.jobId,
    outcome,
    failureClass: failureClassOf({ outcome, error, deadlineIn: deadlineInOf(job) }),
    sandboxId: job.sandbox?.id ?? null,
    sandboxName: job.sandbox?.name ?? null,
    prompts: promptResults(job),
    ...(job.carried.rounds && { rounds: job.carried.rounds }),
    ...(job.carried.after && { after: job.carried.after }),
    ...(job.always && { always: job.always }),
    setup: job.carried.setup,
    stop: job.carried.stop,
    deletion: job.deletion,
    files: job.carried.diff ? [...job.carried.files, job.carried.diff] : job.carried.files,
    degraded: job.carried.degraded,
    left: job.carried.left,
    wakes: job.carried.wakes,
    wakeCount: job.carried.wakeCount,
    phases: [...job.carried.phases],
    apiCalls: apiCalls(),
    durationMs: Date.now() - job.carried.startedAtMs,
    error,
  });
}

/** What the job did at its deadline. A job that followed an agent which was not at work waited for the service. */
function deadlineInOf(job: JobState): JobState['deadlineIn'] {
  return job.deadlineIn === 'following' && !wasAgentAtWork(job) ? 'blocked' : job.deadlineIn;
}

/**
 * False if the agent had ended before the deadline, although no read had shown it by then, or if the interrupt has shown
 * nothing to interrupt, or had no answer. One that was refused shows nothing: then the status of the prompt decides.
 */
function wasAgentAtWork({ carried: { prompts, deadlineAtMs }, wasAtWork }: JobState): boolean {
  return prompts.some(({ status, endedAt }, index) => {
    if (status === 'not_sent') return false;
    if (status !== 'completed') return isFinalPromptStatus(status) || wasAtWork.get(index) !== false;
    if (endedAt !== null) return Date.parse(endedAt) > (deadlineAtMs ?? 0);
    return wasAtWork.has(index) && wasAtWork.get(index) !== false;
  });
}

/** The stop whose end the job waits for before it resumes the sandbox; null if it waits for none. */
export function awaitedStopOf({ sandbox, outcome, carried: { waitsForStop } }: JobState): AwaitedStop | null {
  const stop = waitsForStop && outcome === null ? sandbox?.stop : null;
  return stop ? { stopId: stop.id, status: stop.status, error: stop.error } : null;
}

/** The stop that the job has requested at its end and whose end it waits for. */
function ownStopOf({ outcome, carried: { phase, stop } }: JobState): AwaitedStop | null {
  if (phase !== 'waiting_for_archive' || outcome !== null || stop === null || stop.stopId === null) return null;
  return { stopId: stop.stopId, status: stop.status, error: stop.error };
}

function timesOf({ carried: { startedAtMs, reachedAtMs } }: JobState): JobTimes {
  const at = (milestone: Milestone) => {
    const ms = reachedAtMs[milestone];
    return ms === undefined ? null : new Date(ms).toISOString();
  };
  return {
    startedAt: new Date(startedAtMs).toISOString(),
    createdAt: at('made'),
    usableAt: at('usable'),
    promptedAt: at('prompted'),
    answeredAt: at('answered'),
    endingAt: at('ending'),
    endedAt: at('ended'),
  };
}

function promptResults(job: JobState): PromptResult[] {
  const { prompts } = job.carried;
  return job.steps.flatMap(({ prompt }, index) => {
    const result = prompts[index];
    const text =
      typeof prompt === 'string' ? { prompt, promptRef: null } : { prompt: prompt.head, promptRef: prompt.ref };
    return result ? [{ ...text, ...result }] : [];
  });
}
