/** Requests a stop from the service, and retries until it has an answer. */
import { ApplicationFailure } from '@temporalio/workflow';
import type { SeenSandbox } from '../../activities/prompt/end.js';
import type { BeforeRequest, SentBefore } from '../../activities/retry/read-first.js';
import type { StopAnswer, StopSandboxInput } from '../../activities/sandbox/stop-resume.js';
import type { JobTiming } from '../../src/protocol/job/job-input.js';
import { effects } from '../shared/activity-options.js';
import { causeOf } from '../shared/job-termination.js';
import { type Caller, retryRefusals } from '../shared/retry-refusals.js';

/** The state of a request that must be kept through refusals and continue-as-new. */
export interface StopMemory {
  /** The state before the first request that may have been accepted; null if there was no such request. */
  asked: BeforeRequest | null;
  /**
   * When the service accepted the stop, if its answer says so. After the end of the stop, the sandbox no longer shows
   * this time.
   */
  requestedAt?: string | null;
}

export interface StopCall {
  readonly sandboxId: string;
  readonly timing: JobTiming;
  readonly memory: StopMemory;
  /** Does not stop a sandbox whose agent works. Default: false. */
  readonly unlessWorking?: boolean | undefined;
  /** A read of the sandbox that was made just now, so that the first call need not read. Default: none. */
  readonly seen?: SeenSandbox | undefined;
  /** Called before each call. Returns what to store before the stop. Default: nothing. */
  readonly takeBefore?: () => Pick<StopSandboxInput, 'transcript' | 'result'>;
}

/** Requests the stop. @throws permanent refusals of the service, as `retryRefusals` does */
export async function requestStop(caller: Caller, call: StopCall): Promise<StopAnswer> {
  const { sandboxId, timing, memory, unlessWorking, seen, takeBefore } = call;
  const { readLagMs } = timing;
  const summary = `stop ${sandboxId}`;
  const answer = await retryRefusals(caller, 'stop', async () => {
    try {
      const input = { sandboxId, before: memory.asked, readLagMs, unlessWorking, seen, ...takeBefore?.() };
      return await effects.stopSandbox.executeWithOptions({ summary }, [input]);
    } catch (error) {
      memory.asked = sentBeforeOf(error) ?? memory.asked;
      throw error;
    }
  });
  if (answer !== 'gone') memory.asked = answer.before;
  return answer;
}

/**
 * If an activity was refused, an earlier request of it may have been accepted. Returns the state before that request.
 */
export function sentBeforeOf(error: unknown): BeforeRequest | undefined {
  const cause = causeOf(error);
  const details = cause instanceof ApplicationFailure ? (cause.details ?? []) : [];
  return details.map((detail) => (Object(detail) as Partial<SentBefore>).sentBefore).find((sent) => sent !== undefined);
}
