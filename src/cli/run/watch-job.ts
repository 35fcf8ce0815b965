/** Watches a job until it ends, the user detaches, or the watch deadline passes. Never changes the job. */

import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, WorkflowFailedError, WorkflowNotFoundError } from '@temporalio/client';
import { CancelledFailure, TerminatedFailure, TimeoutFailure } from '@temporalio/common';
import type { JobError, JobProgress, JobResult } from '../../../workflows/job/types.js';
import type { SandboxClient } from '../../client/index.js';
import { SandflowError } from '../../contract/sandflow-error.js';
import { abortable } from '../../temporal/abortable-calls.js';
import { describeJob, type JobAddress, jobHandle, jobProgress } from '../../temporal/jobs/client.js';
import { explainJobError, isTemporalUnreachable } from '../../temporal/jobs/errors.js';
import type { Reporter } from '../output/reporter.js';
import { createAgentOutput } from './agent-output.js';
import { waitingCalls, waitingText } from './waiting-calls.js';

const fastLookMs = 1_000;
const slowLookMs = 5_000;
/** After this time without a phase change, the watch asks which call has no response. */
const askWhyAfterMs = 5_000;
/** After this time without a phase change, the watch polls less often. */
const slowAfterMs = 60_000;

/** What a watch needs from the platform. */
export interface WatchedPlatform {
  /** The current connection; `reconnect` replaces it. */
  readonly temporal: Client;
  readonly service: SandboxClient;
  /** Restores lost connections. @throws if that fails */
  reconnect(reporter: Reporter): Promise<void>;
}

export type WatchEnd =
  | { readonly kind: 'ended'; readonly result: JobResult }
  /** Ended without a result: terminated, or a defect. */
  | { readonly kind: 'broken'; readonly error: JobError }
  | { readonly kind: 'detached' }
  | { readonly kind: 'deadline' };

export interface WatchOptions {
  readonly reporter: Reporter;
  readonly interrupted: AbortSignal;
  /** The watch's own deadline, in ms from now; none by default. */
  readonly deadlineMs?: number;
  /** Shows progress and the agent's output; false when quiet. */
  readonly look: boolean;
}

/** @throws `job_not_found`, and what `reconnect` throws if Temporal stays unreachable */
export async function watchJob(platform: WatchedPlatform, job: JobAddress, options: WatchOptions): Promise<WatchEnd> {
  const deadline = options.deadlineMs === undefined ? undefined : AbortSignal.timeout(options.deadlineMs);
  const over = AbortSignal.any([options.interrupted, ...(deadline ? [deadline] : [])]);
  const closed = new AbortController();
  const looking = options.look
    ? look(platform, job, options.reporter, AbortSignal.any([over, closed.signal]))
    : Promise.resolve();
  try {
    return await awaitEnd(platform, job, options, over);
  } finally {
    closed.abort();
    await looking;
  }
}

async function awaitEnd(
  platform: WatchedPlatform,
  job: JobAddress,
  options: WatchOptions,
  over: AbortSignal,
): Promise<WatchEnd> {
  for (;;) {
    try {
      const result = await abortable(platform.temporal, over, () => jobHandle(platform.temporal, job).result());
      return { kind: 'ended', result };
    } catch (error) {
      if (options.interrupted.aborted) return { kind: 'detached' };
      if (over.aborted) return { kind: 'deadline' };
      if (error instanceof WorkflowFailedError) return { kind: 'broken', error: brokenJob(error) };
      if (error instanceof WorkflowNotFoundError) throw await explainJobError(error, platform.temporal, job);
      if (!isTemporalUnreachable(error)) throw error;
      await platform.reconnect(options.reporter).catch((failed: unknown) => {
        if (!options.interrupted.aborted) throw failed;
      });
      if (options.interrupted.aborted) return { kind: 'detached' };
    }
  }
}

/** Polls until the signal. Ignores a failed poll: the wait for the end notices a lost connection. */
async function look(
  platform: WatchedPlatform,
  job: JobAddress,
  reporter: Reporter,
  signal: AbortSignal,
): Promise<void> {
  const agent = createAgentOutput(platform.service, (text) => reporter.agent(text));
  let seen = '';
  let changedAt = Date.now();
  let warned = false;
  let waitsTold = new Set<string>();
  while (!signal.aborted) {
    try {
      const client = platform.temporal;
      const progress: JobProgress = await abortable(client, signal, () => jobProgress(client, job));
      warned = false;
      const key = `${progress.phase} ${progress.since}`;
      if (key !== seen) changedAt = Date.now();
      seen = key;
      reporter.progress(progress);
      if (Date.now() - changedAt > askWhyAfterMs) {
        const description = await abortable(client, signal, () => describeJob(client, job));
        const texts = waitingCalls(description, job, progress).map(waitingText);
        for (const text of texts) if (!waitsTold.has(text)) reporter.notice(text);
        waitsTold = new Set(texts);
      }
      await agent.readOn(progress, signal);
    } catch (error) {
      if (!signal.aborted && !warned && error instanceof SandflowError && error.code === 'no_worker') {
        warned = true;
        reporter.notice(error.message);
      }
    }
    const pauseMs = Date.now() - changedAt > slowAfterMs ? slowLookMs : fastLookMs;
    await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
  }
}

function brokenJob(error: WorkflowFailedError): JobError {
  const { cause } = error;
  const base = { status: null, requestId: null, details: null };
  if (cause instanceof TerminatedFailure) {
    return { ...base, code: 'terminated', message: 'The job was terminated from outside sandflow and has no result.' };
  }
  if (cause instanceof CancelledFailure) {
    return { ...base, code: 'cancelled', message: 'The job was cancelled before it could record a result.' };
  }
  if (cause instanceof TimeoutFailure) {
    return { ...base, code: 'timed_out', message: 'The job reached a Temporal timeout and has no result.' };
  }
  return { ...base, code: 'job_failed', message: `The job failed with a defect: ${cause?.message ?? error.message}` };
}
