/**
 * Runs an item of a batch: the steps of a job in the item's own fork. The fork's name and keys belong to the item, so a
 * second run creates no second fork. The full result goes to the result store by the call that ends the fork. The chunk
 * receives a summary, and adds how the fork ended to the stored result: for many items at once, which costs fewer events.
 */
import {
  allHandlersFinished,
  CancellationScope,
  condition,
  type ExternalWorkflowHandle,
  getExternalWorkflowHandle,
  sleep,
} from '@temporalio/workflow';
import type { FanoutItemInput } from '../../../src/protocol/fanout/fanout-input.js';
import type { ItemSummary } from '../../../src/protocol/fanout/fanout-result.js';
import type { JobResult } from '../../../src/protocol/job/job-result.js';
import { fanoutBlockedSignal, fanoutThrottledSignal } from '../../../src/protocol/messages.js';
import { cut, payloadBytes } from '../../../src/texts/length.js';
import type { CarriedJob } from '../../job/carried-job.js';
import { recordKeptFork } from '../../job/end/ended-sandboxes.js';
import { handleMessages } from '../../job/handlers.js';
import { JobState } from '../../job/job-state.js';
import { continuesAsNew, runJob } from '../../job/run-job.js';
import { mayBeOfEarlierRun } from '../../job/was-reset.js';
import { storing } from '../../shared/activity-options.js';
import { showAttributes } from '../../shared/search-attributes.js';
import { continueWithStart } from '../../shared/start-memo.js';
import { endFork } from '../chunk/end-fork.js';
import { endingOf, itemResult, itemSummary, type StartedItemResult } from './result.js';

/** Runs the item and returns its summary. Never fails; on a cancel, it ends the fork first. */
export function fanoutItem(input: FanoutItemInput & { readonly carried?: CarriedJob }): Promise<ItemSummary> {
  return runFanoutItem(input);
}

async function runFanoutItem(input: FanoutItemInput & { readonly carried?: CarriedJob }): Promise<ItemSummary> {
  const job = new JobState(input.job, input.carried);
  handleMessages(job);
  reportToChunk(job, input);
  if (input.toEnd) {
    const summary = await endFork(job, input, input.toEnd);
    recordKeptFork(job);
    showAttributes({ outcome: summary.outcome, sandbox: summary.sandboxId, blocked: null });
    return summary;
  }
  let before: StartedItemResult | undefined;
  const itemSoFar = (soFar: JobResult, hasEnded: boolean) =>
    itemResult(input, job, soFar, { nowMs: Date.now(), hasEnded, isOfEarlierRun: mayBeOfEarlierRun(job) });
  job.beforeEnd = (soFar) => {
    before = itemSoFar(soFar, false);
    return { key: keyOf(input, before), content: before };
  };
  const result = await runJob(job);
  if (result === continuesAsNew) {
    await condition(allHandlersFinished);
    const startedAt = new Date(job.carried.startedAtMs).toISOString();
    return continueWithStart<typeof fanoutItem>(startedAt, { ...input, carried: job.carry() });
  }
  recordKeptFork(job);
  showAttributes({ outcome: result.outcome, sandbox: result.sandboxId, blocked: null });
  const item = itemSoFar(result, true);
  const ending = before && job.storedRef !== null ? endingOf(keyOf(input, item), before, item) : null;
  const resultRef = ending ? job.storedRef : await CancellationScope.nonCancellable(() => store(input, item));
  const { unconfirmedName } = job.carried;
  return itemSummary(item, { end: input.job.end, unconfirmedName, resultRef, ending });
}

function keyOf({ resultPrefix }: FanoutItemInput, { generation }: StartedItemResult): string {
  return `${resultPrefix}/${generation}.json`;
}

async function store(input: FanoutItemInput, item: StartedItemResult): Promise<string | null> {
  try {
    return await storing.storeObject.executeWithOptions({ summary: '.json' }, [keyOf(input, item), item]);
  } catch {
    // The summary reports the missing result.
    return null;
  }
}

/** Longest message, in bytes of a payload: the batch carries one message of each of a thousand chunks to its next run. */
const messageBytes = 300;
const firstPauseMs = 1_000;
const longestPauseMs = 900_000;

/**
 * Reports of a running item are rare, because a hundred items share one chunk and may wait for days.
 *
 * Reports refusals number 1, 2, 4 and so on. Reports a block immediately, then again at intervals that double, and
 * finally its end.
 */
function reportToChunk(job: JobState, { chunkWorkflowId, index }: FanoutItemInput): void {
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
