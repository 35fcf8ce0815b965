/**
 * An item of a batch: the steps of a job in a fork of its own, whose name and keys are those of the item, so that a
 * second run of it makes no second fork. Its result goes to the result store, whole; its chunk hears the little it needs.
 */
import { CancellationScope, getExternalWorkflowHandle } from '@temporalio/workflow';
import type { FanoutItemInput, ItemSummary } from './fanout.js';
import { fanoutThrottledSignal } from './messages.js';
import { storing } from './proxies.js';
import { fitResult } from './steps/fit-result.js';
import { itemResult, itemSummary, type StartedItemResult } from './steps/item-result.js';
import { handleMessages } from './steps/job-messages.js';
import { JobRun } from './steps/job-run.js';
import { runJob } from './steps/run-job.js';

/** @returns what became of the item; it never fails, and a cancel ends its fork first */
export async function fanoutItem(input: FanoutItemInput): Promise<ItemSummary> {
  const run = new JobRun(input.job);
  handleMessages(run);
  run.onThrottled = (untilMs) => void tellChunk(input, untilMs);
  const job = await runJob(run);
  const item = itemResult(input, run, job, Date.now());
  const resultRef = await CancellationScope.nonCancellable(() => store(input, item));
  const { unconfirmedName } = run;
  return itemSummary(item, { end: input.job.end, unconfirmedName, resultRef });
}

async function tellChunk({ chunkWorkflowId, index }: FanoutItemInput, untilMs: number): Promise<void> {
  try {
    await getExternalWorkflowHandle(chunkWorkflowId).signal(fanoutThrottledSignal, { index, untilMs });
  } catch {
    // A chunk that has ended slows nobody down any more.
  }
}

async function store(input: FanoutItemInput, item: StartedItemResult): Promise<string | null> {
  const key = `${input.resultPrefix}/${item.generation}`;
  const keep = (path: string, value: unknown) =>
    storing.storeObject.executeWithOptions({ summary: path }, [`${key}${path}`, value]);
  try {
    return await keep('.json', await fitResult(item, keep));
  } catch {
    // The summary says that there is none.
    return null;
  }
}
