/** What an item tells its chunk while it works: rarely, since a hundred items tell one chunk, and may wait for days. */
import { CancellationScope, type ExternalWorkflowHandle, getExternalWorkflowHandle, sleep } from '@temporalio/workflow';
import { cut } from '../../../src/contract/texts.js';
import type { JobState } from '../../job/state.js';
import { fanoutBlockedSignal, fanoutThrottledSignal } from '../../messages.js';
import type { FanoutItemInput } from '../types.js';

/** A thousand chunks may each hand one on. */
const messageLength = 300;
const firstPauseMs = 1_000;
const longestPauseMs = 900_000;

/**
 * A refusal is told when it is the first, the second, the fourth and so on. What blocks the item is told at once, and then
 * after pauses that double, each time as it is by then; that it goes on is told once.
 */
export function reportToChunk(run: JobState, { chunkWorkflowId, index }: FanoutItemInput): void {
  const send = async (signal: (chunk: ExternalWorkflowHandle) => Promise<void>) => {
    try {
      await signal(getExternalWorkflowHandle(chunkWorkflowId));
    } catch {
      // A chunk that has ended needs to know nothing any more.
    }
  };
  let refusals = 0;
  run.onThrottled = (untilMs) => {
    refusals += 1;
    const isPowerOfTwo = (refusals & (refusals - 1)) === 0;
    if (isPowerOfTwo) {
      void send((chunk) => chunk.signal(fanoutThrottledSignal, { index, untilMs }));
    }
  };

  let now: string | null = null;
  let told: string | null = null;
  let tells = 0;
  let nextAtMs = 0;
  let isWaiting = false;
  const follow = async () => {
    if (isWaiting) return;
    while ((now === null) !== (told === null)) {
      if (now !== null && Date.now() < nextAtMs) {
        isWaiting = true;
        await sleep(nextAtMs - Date.now(), { summary: 'until the chunk is told what blocks the item' });
        isWaiting = false;
        continue;
      }
      told = now;
      if (told !== null) {
        nextAtMs = Date.now() + Math.min(longestPauseMs, firstPauseMs * 2 ** tells);
        tells += 1;
      }
      const message = told;
      await send((chunk) => chunk.signal(fanoutBlockedSignal, { index, message }));
    }
  };
  run.onBlocked = (message) => {
    now = message && cut(message, messageLength);
    // It ends with the item, whose end says that nothing blocks it any more.
    void CancellationScope.nonCancellable(follow);
  };
}
