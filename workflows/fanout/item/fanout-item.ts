/**
 * Runs an item of a batch: the steps of a job in the item's own fork. The fork's name and keys belong to the item, so a
 * second run creates no second fork. The full result goes to the result store by the call that ends the fork. The chunk
 * receives a summary, and adds how the fork ended to the stored result: for many items at once, which costs fewer events.
 */
import { allHandlersFinished, CancellationScope, condition, continueAsNew } from '@temporalio/workflow';
import type { FanoutItemInput } from '../../../src/protocol/fanout/fanout-input.js';
import type { ItemSummary } from '../../../src/protocol/fanout/fanout-result.js';
import type { CarriedJob } from '../../job/carried-job.js';
import { recordKeptFork } from '../../job/end/ended-sandboxes.js';
import { handleMessages } from '../../job/handlers.js';
import { JobState } from '../../job/job-state.js';
import { continuesAsNew, runJob } from '../../job/run-job.js';
import { storing } from '../../shared/proxies.js';
import { endFork } from '../chunk/end-fork.js';
import { reportToChunk } from './report-to-chunk.js';
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
    return summary;
  }
  let before: StartedItemResult | undefined;
  job.beforeEnd = (soFar) => {
    before = itemResult(input, job, soFar, { nowMs: Date.now(), hasEnded: false });
    return { key: keyOf(input, before), content: before };
  };
  const result = await runJob(job);
  if (result === continuesAsNew) {
    await condition(allHandlersFinished);
    return continueAsNew<typeof fanoutItem>({ ...input, carried: job.carry() });
  }
  recordKeptFork(job);
  const item = itemResult(input, job, result, { nowMs: Date.now(), hasEnded: true });
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
