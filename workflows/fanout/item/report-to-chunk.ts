/**
 * Reports of a running item to its chunk. They must be rare, because a hundred items share one chunk and may wait for
 * days.
 */
import { CancellationScope, type ExternalWorkflowHandle, getExternalWorkflowHandle, sleep } from '@temporalio/workflow';
import type { FanoutItemInput } from '../../../src/protocol/fanout/fanout-input.js';
import { fanoutBlockedSignal, fanoutThrottledSignal } from '../../../src/protocol/messages.js';
import { cut, payloadBytes } from '../../../src/texts/length.js';
import type { JobState } from '../../job/job-state.js';

/** Longest message, in bytes of a payload: the batch carries one message of each of a thousand chunks to its next run. */
const messageBytes = 300;
const firstPauseMs = 1_000;
const longestPauseMs = 900_000;

/**
 * Reports refusals number 1, 2, 4 and so on. Reports a block immediately, then again at intervals that double, and
 * finally its end.
 */
export function reportToChunk(job: JobState, { chunkWorkflowId, index }: FanoutItemInput): void {
  const send = async (signal: (chunk: ExternalWorkflowHandle) => Promise<void>) => {
    try {
      await signal(getExternalWorkflowHandle(chunkWorkflowId));
    } catch {
      // A chunk that has ended needs no reports.
    }
  };
  let refusals = 0;
  job.onThrottled = (untilMs) => {
    refusals += 1;
    const isPowerOfTwo = (refusals & (refusals - 1)) === 0;
    if (isPowerOfTwo) {
      void send((chunk) => chunk.signal(fanoutThrottledSignal, { index, untilMs }));
    }
  };

  let now: string | null = null;
  let reported: string | null = null;
  let reports = 0;
  let nextAtMs = 0;
  let isWaiting = false;
  const follow = async () => {
    if (isWaiting) return;
    while ((now === null) !== (reported === null)) {
      if (now !== null && Date.now() < nextAtMs) {
        isWaiting = true;
        await sleep(nextAtMs - Date.now(), { summary: 'until the next report of what blocks the item' });
        isWaiting = false;
        continue;
      }
      reported = now;
      if (reported !== null) {
        nextAtMs = Date.now() + Math.min(longestPauseMs, firstPauseMs * 2 ** reports);
        reports += 1;
      }
      const message = reported;
      await send((chunk) => chunk.signal(fanoutBlockedSignal, { index, message }));
    }
  };
  job.onBlocked = (message) => {
    now = message && shortened(message);
    // The end of the item also ends the block.
    void CancellationScope.nonCancellable(follow);
  };
}

function shortened(message: string): string {
  const short = cut(message, 250);
  return payloadBytes(short) <= messageBytes ? short : cut(message, 45);
}
