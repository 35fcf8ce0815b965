/** Asks the service to stop a sandbox, until it has an answer. */
import { ActivityFailure, ApplicationFailure } from '@temporalio/workflow';
import type { SentBefore } from '../../activities/retry/read-first.js';
import type { BeforeRequest } from '../../activities/sandbox/stop-decision.js';
import type { StopAnswer } from '../../activities/sandbox/stop-resume.js';
import type { JobTiming } from '../job/types.js';
import { effects } from '../shared/proxies.js';
import { type Caller, retryRefusals } from '../shared/retry-refusals.js';

/** Carried wherever the wish goes on: through refusals, and through continue-as-new. */
export interface StopMemory {
  /** What was there before the first request that may have been accepted; null where there was none. */
  asked: BeforeRequest | null;
  /** When the stop that was received was accepted, where the service said so: once it has ended the sandbox does not. */
  requestedAt?: string | null;
}

export interface StopCall {
  readonly sandboxId: string;
  readonly timing: JobTiming;
  readonly memory: StopMemory;
}

/** @throws what the service refuses for good, as `retryRefusals` */
export async function requestStop(caller: Caller, { sandboxId, timing, memory }: StopCall): Promise<StopAnswer> {
  const { readLagMs } = timing;
  const summary = `stop ${sandboxId}`;
  const answer = await retryRefusals(caller, 'stop', async () => {
    try {
      const input = { sandboxId, before: memory.asked, readLagMs };
      return await effects.stopSandbox.executeWithOptions({ summary }, [input]);
    } catch (error) {
      memory.asked = sentBeforeOf(error) ?? memory.asked;
      throw error;
    }
  });
  if (answer !== 'gone') memory.asked = answer.before;
  return answer;
}

/** A refusal can follow a request of the same activity that was perhaps accepted. */
function sentBeforeOf(error: unknown): BeforeRequest | undefined {
  const cause = error instanceof ActivityFailure ? error.cause : error;
  if (!(cause instanceof ApplicationFailure)) return undefined;
  const sent = cause.details?.find((detail): detail is SentBefore => isObject(detail) && 'sentBefore' in detail);
  return sent?.sentBefore;
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
