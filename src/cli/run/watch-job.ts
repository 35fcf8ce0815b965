/** Watches a job until it ends, the user detaches, or the watch deadline passes. Never changes the job. */

import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, WorkflowFailedError, WorkflowNotFoundError } from '@temporalio/client';
import { CancelledFailure, TerminatedFailure, TimeoutFailure } from '@temporalio/common';
import { SandflowError } from '../../errors/sandflow-error.js';
import { anySignal, timeLimit } from '../../os/any-signal.js';
import type { JobProgress } from '../../protocol/job/job-progress.js';
import type { JobError } from '../../protocol/job/job-result.js';
import { abortable } from '../../temporal/calls.js';
import { reasonOf } from '../../temporal/errors.js';
import { explainError } from '../../workflow-client/ask-workflow.js';
import {
  askedJob,
  describeJob,
  type JobAddress,
  jobHandle,
  jobProgress,
} from '../../workflow-client/jobs/job-client.js';
import type { Platform } from '../connect/platform.js';
import { type WatchOptions, watch } from '../connect/watch.js';
import { plainError } from '../errors.js';
import type { WatchEnd } from '../output/finish.js';
import type { Reporter } from '../output/reporter.js';
import { asCalled } from '../program-name.js';
import { transcriptOfJob } from '../transcript/job-transcript.js';
import type { Transcript } from '../transcript/transcript.js';
import { waitingCalls, waitingText } from './waiting-calls.js';

const fastLookMs = 1_000;
const slowLookMs = 5_000;
/** After this time without a phase change, the watch looks up which call has no response. */
const askWhyAfterMs = 5_000;
/** After this time without a phase change, the watch polls less often. */
const slowAfterMs = 60_000;
/** Longest time for the rest of the transcript, once the job has ended. */
const restMs = 10_000;

type WatchedPlatform = Pick<Platform, 'temporal' | 'service' | 'results' | 'reconnect'>;

export interface WatchJobOptions extends WatchOptions {
  readonly reporter: Reporter;
  /** True to show progress and the agent's output; false when quiet. */
  readonly look: boolean;
}

/** @throws `job_not_found`, and what `reconnect` throws if Temporal stays unreachable */
export async function watchJob(
  platform: WatchedPlatform,
  job: JobAddress,
  options: WatchJobOptions,
): Promise<WatchEnd> {
  const { reporter } = options;
  const transcript = transcriptOfJob(platform, job);
  const watched = {
    wait: (signal: AbortSignal) => endOf(platform.temporal, job, signal),
    look: options.look ? (signal: AbortSignal) => look(platform, job, { reporter, transcript }, signal) : undefined,
    reconnect: () => platform.reconnect(reporter),
  };
  const end = await watch<WatchEnd>(watched, options);
  if (end.kind !== 'ended' || !options.look) return end;
  const rest = await transcript.readEnd(end.result, anySignal([options.interrupted, timeLimit(restMs)]));
  // Without a history, only the answers are known, and these are printed as the result.
  reporter.entries(transcript.hasHistory() ? rest : rest.filter(({ kind }) => kind !== 'message'), end.result);
  return end;
}

async function endOf(temporal: Client, job: JobAddress, signal: AbortSignal): Promise<WatchEnd> {
  try {
    return { kind: 'ended', result: await abortable(temporal, signal, () => jobHandle(temporal, job).result()) };
  } catch (error) {
    if (error instanceof WorkflowFailedError) return { kind: 'broken', error: brokenJob(error) };
    if (error instanceof WorkflowNotFoundError) throw await explainError(error, temporal, askedJob(job));
    throw error;
  }
}

/** Polls until the signal aborts. Ignores a failed poll: the wait for the end notices a lost connection. */
async function look(
  platform: WatchedPlatform,
  job: JobAddress,
  { reporter, transcript }: { readonly reporter: Reporter; readonly transcript: Transcript },
  signal: AbortSignal,
): Promise<void> {
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
      reporter.entries(await transcript.readOn(progress, signal), progress);
      reporter.progress(progress);
      if (Date.now() - changedAt > askWhyAfterMs) {
        const description = await abortable(client, signal, () => describeJob(client, job));
        const texts = waitingCalls(description, job, progress).map(waitingText);
        for (const text of texts) if (!waitsTold.has(text)) reporter.notice(text);
        waitsTold = new Set(texts);
      }
    } catch (error) {
      if (!signal.aborted && !warned && error instanceof SandflowError && error.code === 'no_worker') {
        warned = true;
        reporter.notice(asCalled(error.message));
      }
    }
    const pauseMs = Date.now() - changedAt > slowAfterMs ? slowLookMs : fastLookMs;
    await sleep(pauseMs, undefined, { signal }).catch(() => undefined);
  }
}

function brokenJob(error: WorkflowFailedError): JobError {
  const { cause } = error;
  if (cause instanceof TerminatedFailure) {
    return plainError('terminated', 'The job was terminated outside sandflow and has no result.');
  }
  if (cause instanceof CancelledFailure) {
    return plainError('cancelled', 'The job was cancelled before it could record a result.');
  }
  if (cause instanceof TimeoutFailure) {
    return plainError('timed_out', 'The job reached a Temporal timeout and has no result.');
  }
  return plainError('job_failed', `The job failed with an unexpected error: ${reasonOf(error)}`);
}
