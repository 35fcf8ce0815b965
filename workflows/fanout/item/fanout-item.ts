/**
 * Runs an item of a batch: the steps of a job in the item's own fork. The fork's name and keys belong to the item, so a
 * second run creates no second fork. The full result goes to the result store before the fork ends, and again after
 * that; the chunk receives a summary.
 */
import { allHandlersFinished, CancellationScope, condition, continueAsNew } from '@temporalio/workflow';
import type { FanoutItemInput } from '../../../src/protocol/fanout/fanout-input.js';
import type { ItemSummary } from '../../../src/protocol/fanout/fanout-result.js';
import { type CarriedJob, carryJob, createJobState } from '../../job/carry-over.js';
import { handleMessages } from '../../job/handlers.js';
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
  const run = createJobState({ ...input.job, carried: input.carried });
  handleMessages(run);
  reportToChunk(run, input);
  if (input.toEnd) return endFork(run, input, input.toEnd);
  run.beforeEnd = async (soFar) => {
    await store(input, itemResult(input, run, soFar, { nowMs: Date.now(), hasEnded: false }));
  };
  const job = await runJob(run);
  if (job === continuesAsNew) {
    await condition(allHandlersFinished);
    return continueAsNew<typeof fanoutItem>({ ...input, carried: carryJob(run) });
  }
  const item = itemResult(input, run, job, { nowMs: Date.now(), hasEnded: true });
  const resultRef = await CancellationScope.nonCancellable(() => store(input, item));
  const { unconfirmedName } = run;
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
