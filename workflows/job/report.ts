/** Builds the progress of a running job, and its result at the end. */
import { degradedOf } from '../../src/contract/workflow-safe/sandbox-view.js';
import type { JobProgress, JobTimes } from '../../src/protocol/job/job-progress.js';
import type { JobError, JobOutcome, JobResult, PromptResult } from '../../src/protocol/job/job-result.js';
import { apiCalls } from '../shared/count-api-calls.js';
import type { JobState, Milestone } from './job-state.js';
import { truncateResult } from './truncate-result.js';

/** Long texts are cut, as in the result. */
export function progressOf(run: JobState): JobProgress {
  return truncateResult({
    jobId: run.input.jobId,
    phase: run.phase,
    since: new Date(run.sinceMs).toISOString(),
    phases: [...run.phases],
    blocked: run.blocked,
    sandboxId: run.sandbox?.id ?? null,
    degraded: run.sandbox && degradedOf(run.sandbox),
    autoStop: run.autoStop,
    prompts: promptResults(run),
    wakes: run.wakes,
    apiCalls: apiCalls(),
    deadlineAt: new Date(Math.min(run.deadlineAtMs, Date.now() + run.input.deadlineMs)).toISOString(),
    outcome: run.outcome,
    times: timesOf(run),
    machineType: run.sandbox?.type ?? null,
  });
}

export function resultOf(run: JobState, outcome: JobOutcome, error: JobError | null): JobResult {
  return truncateResult({
    jobId: run.input.jobId,
    outcome,
    sandboxId: run.sandbox?.id ?? null,
    sandboxName: run.sandbox?.name ?? null,
    prompts: promptResults(run),
    setup: run.setup,
    stop: run.stop,
    deletion: run.deletion,
    files: run.diff ? [...run.files, run.diff] : run.files,
    degraded: run.degraded,
    left: run.left,
    wakes: run.wakes,
    wakeCount: run.wakeCount,
    phases: [...run.phases],
    apiCalls: apiCalls(),
    durationMs: Date.now() - run.startedAtMs,
    error,
  });
}

function timesOf({ startedAtMs, reachedAtMs }: JobState): JobTimes {
  const at = (milestone: Milestone) => {
    const ms = reachedAtMs.get(milestone);
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

function promptResults({ prompts }: JobState): PromptResult[] {
  return prompts.map(({ step: { prompt }, ...result }) => ({
    prompt: typeof prompt === 'string' ? prompt : prompt.head,
    promptRef: typeof prompt === 'string' ? null : prompt.ref,
    ...result,
  }));
}
