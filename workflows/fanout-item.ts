/**
 * An item of a batch: the steps of a job in a fork of its own, whose name and keys are those of the item, so that a
 * second run of it makes no second fork. Its result goes to the result store, whole, before its fork is ended and again
 * after that; its chunk hears the little it needs.
 */
import { allHandlersFinished, CancellationScope, condition, continueAsNew } from '@temporalio/workflow';
import type { FanoutItemInput, ItemSummary } from './fanout.js';
import { endItem } from './fanout-steps/end-item.js';
import { tellChunk } from './fanout-steps/tell-chunk.js';
import { storing } from './proxies.js';
import { itemResult, itemSummary, type StartedItemResult } from './steps/item-result.js';
import { type CarriedJob, carryJob } from './steps/job-carry.js';
import { handleMessages } from './steps/job-messages.js';
import { JobRun } from './steps/job-run.js';
import { endingReads } from './steps/leavable.js';
import { goesOn, runJob } from './steps/run-job.js';

/** @returns what became of the item; it never fails, and a cancel ends its fork first */
export function fanoutItem(input: FanoutItemInput & { readonly carried?: CarriedJob }): Promise<ItemSummary> {
  return endingReads(() => runFanoutItem(input));
}

async function runFanoutItem(input: FanoutItemInput & { readonly carried?: CarriedJob }): Promise<ItemSummary> {
  const run = new JobRun(input.job, input.carried);
  handleMessages(run);
  tellChunk(run, input);
  if (input.toEnd) return endItem(run, input, input.toEnd);
  run.beforeEnd = async (soFar) => {
    await store(input, itemResult(input, run, soFar, { nowMs: Date.now(), hasEnded: false }));
  };
  const job = await runJob(run);
  if (job === goesOn) {
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
    // The summary says that there is none.
    return null;
  }
}
