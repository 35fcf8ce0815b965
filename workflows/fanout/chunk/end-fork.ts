/**
 * Stops or deletes the fork of an item whose work is done. It is needed if the item's workflow was terminated before it
 * had ended the fork.
 */
import { CancellationScope, isCancellation, sleep } from '@temporalio/workflow';
import { preservedWorkOf } from '../../../src/contract/workflow-safe/preserved-work.js';
import type { FanoutItemInput, ItemToEnd } from '../../../src/protocol/fanout/fanout-input.js';
import type { ItemSummary } from '../../../src/protocol/fanout/fanout-result.js';
import type { JobError, JobOutcome } from '../../../src/protocol/job/job-result.js';
import { cleanUp } from '../../job/end/clean-up.js';
import { hasEndedAsRequested } from '../../job/end/has-ended.js';
import type { JobState } from '../../job/job-state.js';
import { readSandbox } from '../../job/sandbox/wait-until-usable.js';
import { bulk } from '../../shared/activity-options.js';
import { apiCalls } from '../../shared/count-api-calls.js';
import { jobError } from '../../shared/job-termination.js';
import { leftOf } from '../item/result.js';

const lookEveryMs = 2_000;

/** Ends the fork without prompting. Ignores cancels. Adds the end of the fork to the stored result. */
export async function endFork(job: JobState, input: FanoutItemInput, toEnd: ItemToEnd): Promise<ItemSummary> {
  const { errorCode, running: _, ...known } = toEnd;
  const { generation, sandboxId } = known;
  return CancellationScope.nonCancellable(async () => {
    const error = await endForkAsRequested(job, toEnd);
    const {
      deletion,
      carried: { stop, left },
    } = job;
    const ending = { stop, deletion, left, apiCalls: apiCalls(), error, endedAt: new Date().toISOString() };
    const settled = await bulk
      .settleFanoutItem({ key: `${input.resultPrefix}/${generation}.json`, ending })
      .catch(() => ({ machineSeconds: 0, resultRef: null }));
    const { end } = input.job;
    const ended = { sandboxId, sandboxName: job.sandbox?.name ?? null, stop, deletion, left };
    return {
      index: input.index,
      ...known,
      endedAsAsked: hasEndedAsRequested(ended, end),
      ...settled,
      ending: null,
      apiCalls: ending.apiCalls,
      error: errorCode === null ? null : jobError({ foreign: errorCode }, 'See the result of the item'),
      left: leftOf(ended, { end, unconfirmedName: null }),
    };
  });
}

async function endForkAsRequested(
  job: JobState,
  { sandboxId, generation, outcome, running }: ItemToEnd,
): Promise<JobError | null> {
  job.carried.generation = generation;
  const { end } = job.input;
  try {
    await CancellationScope.withTimeout(job.timing.cleanUpMs, () => findFork(job, sandboxId));
  } catch (error) {
    if (!isCancellation(error)) throw error;
    return jobError('clean_up_unfinished', `The sandbox ${sandboxId} could not be read in time; check it.`);
  }
  const { sandbox } = job;
  if (sandbox === null) {
    job.carried.stop = end === 'stop' ? { stopId: null, status: 'gone', kept: null, error: null } : null;
    job.deletion = end === 'delete' ? { operationId: null, status: 'gone', error: null } : null;
    return null;
  }
  if (end === 'stop' && sandbox.state === 'archived') {
    const kept = preservedWorkOf(sandbox, sandbox.stop ?? { requestedAt: null });
    job.carried.stop = { stopId: sandbox.stop?.id ?? null, status: 'completed', kept, error: null };
    return null;
  }
  for (const { at, ...ids } of running) Object.assign(job.carried.prompts[at] ?? {}, ids, { status: 'unknown' });
  const how: JobOutcome = outcome === 'not_started' ? 'outcome_unknown' : outcome;
  return cleanUp(job, { outcome: how, error: null, cutShort: running.length > 0 });
}

/** Only a 404 that lasts for longer than a read may lag is final. */
async function findFork(job: JobState, sandboxId: string): Promise<void> {
  const sinceMs = Date.now();
  while ((await readSandbox(job, sandboxId)) === null) {
    if (Date.now() - sinceMs >= job.timing.readLagMs) return;
    await sleep(lookEveryMs, { summary: 'until a missing fork is presumed deleted' });
  }
}
