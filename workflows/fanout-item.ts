/**
 * An item of a batch: the steps of a job in a fork of its own, whose name and keys are those of the item, so that a
 * second run of it makes no second fork. Its result goes to the result store, whole; its chunk hears the little it needs.
 */
import {
  allHandlersFinished,
  CancellationScope,
  condition,
  continueAsNew,
  type ExternalWorkflowHandle,
  getExternalWorkflowHandle,
} from '@temporalio/workflow';
import { cut } from '../src/contract/texts.js';
import type { FanoutItemInput, ItemSummary } from './fanout.js';
import { fanoutBlockedSignal, fanoutThrottledSignal } from './messages.js';
import { storing } from './proxies.js';
import { itemResult, itemSummary, type StartedItemResult } from './steps/item-result.js';
import { type CarriedJob, carryJob } from './steps/job-carry.js';
import { handleMessages } from './steps/job-messages.js';
import { JobRun } from './steps/job-run.js';
import { endingReads } from './steps/leavable.js';
import { goesOn, runJob } from './steps/run-job.js';

const blockedLength = 300;

/** @returns what became of the item; it never fails, and a cancel ends its fork first */
export function fanoutItem(input: FanoutItemInput & { readonly carried?: CarriedJob }): Promise<ItemSummary> {
  return endingReads(() => runFanoutItem(input));
}

async function runFanoutItem(input: FanoutItemInput & { readonly carried?: CarriedJob }): Promise<ItemSummary> {
  const run = new JobRun(input.job, input.carried);
  handleMessages(run);
  const { index } = input;
  run.onThrottled = (untilMs) =>
    void tellChunk(input, (chunk) => chunk.signal(fanoutThrottledSignal, { index, untilMs }));
  run.onBlocked = (told) => {
    // A thousand chunks may each hand one on.
    const message = told && cut(told, blockedLength);
    void tellChunk(input, (chunk) => chunk.signal(fanoutBlockedSignal, { index, message }));
  };
  const job = await runJob(run);
  if (job === goesOn) {
    await condition(allHandlersFinished);
    return continueAsNew<typeof fanoutItem>({ ...input, carried: carryJob(run) });
  }
  const item = itemResult(input, run, job, Date.now());
  const resultRef = await CancellationScope.nonCancellable(() => store(input, item));
  const { unconfirmedName } = run;
  return itemSummary(item, { end: input.job.end, unconfirmedName, resultRef });
}

async function tellChunk(
  { chunkWorkflowId }: FanoutItemInput,
  tell: (chunk: ExternalWorkflowHandle) => Promise<void>,
): Promise<void> {
  try {
    await tell(getExternalWorkflowHandle(chunkWorkflowId));
  } catch {
    // A chunk that has ended needs to know nothing any more.
  }
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
