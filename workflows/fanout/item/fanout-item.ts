/**
 * Runs an item of a batch: the steps of a job in the item's own fork. The fork's name and keys belong to the item, so a
 * second run creates no second fork. The full result goes to the result store before the fork ends, and again after
 * that; the chunk receives a summary.
 */
import { allHandlersFinished, CancellationScope, condition, continueAsNew } from '@temporalio/workflow';
import type { FanoutItemInput } from '../../../src/protocol/fanout/fanout-input.js';
import type { ItemSummary } from '../../../src/protocol/fanout/fanout-result.js';
import type { CarriedJob } from '../../job/carried-job.js';
import { handleMessages } from '../../job/handlers.js';
import { JobState } from '../../job/job-state.js';
import { continuesAsNew, runJob } from '../../job/run-job.js';
import { storing } from '../../shared/proxies.js';
import { endFork } from '../chunk/end-fork.js';
import { reportToChunk } from './report-to-chunk.js';
import { itemResult, itemSummary, type StartedItemResult } from './result.js';

/** Runs the item and returns its summary. Never fails; on a cancel, it ends the fork first. */
export function fanoutItem(input: FanoutItemInput & { readonly carried?: CarriedJob }): Promise<ItemSummary> {
  return runFanoutItem(input);
}

async function runFanoutItem(input: FanoutItemInput & { readonly carried?: CarriedJob }): Promise<ItemSummary> {
  const job = new JobState(input.job, input.carried);
  handleMessages(job);
  reportToChunk(job, input);
  if (input.toEnd) return endFork(job, input, input.toEnd);
  job.beforeEnd = async (soFar) => {
    await store(input, itemResult(input, job, soFar, { nowMs: Date.now(), hasEnded: false }));
  };
  const result = await runJob(job);
  if (result === continuesAsNew) {
    await condition(allHandlersFinished);
    return continueAsNew<typeof fanoutItem>({ ...input, carried: job.carry() });
  }
  const item = itemResult(input, job, result, { nowMs: Date.now(), hasEnded: true });
  const resultRef = await CancellationScope.nonCancellable(() => store(input, item));
  const { unconfirmedName } = job.carried;
  return itemSummary(item, { end: input.job.end, unconfirmedName, resultRef });
}

async function store(input: FanoutItemInput, item: StartedItemResult): Promise<string | null> {
  try {
    const key = `${input.resultPrefix}/${item.generation}.json`;
    return await storing.storeObject.executeWithOptions({ summary: '.json' }, [key, item]);
  } catch {
    // The summary reports the missing result.
    return null;
  }
}
