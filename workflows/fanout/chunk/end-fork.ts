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
import { apiCalls } from '../../shared/count-api-calls.js';
import { jobError } from '../../shared/job-termination.js';
import { bulk } from '../../shared/proxies.js';
import { leftOf } from '../item/result.js';

const lookEveryMs = 2_000;

/** Ends the fork without prompting. Ignores cancels. Adds the end of the fork to the stored result. */
export async function endFork(run: JobState, input: FanoutItemInput, toEnd: ItemToEnd): Promise<ItemSummary> {
  const { generation, sandboxId, outcome, errorCode } = toEnd;
  return CancellationScope.nonCancellable(async () => {
    const error = await endForkAsRequested(run, toEnd);
    const { stop, deletion, left } = run;
    const ending = { stop, deletion, left, apiCalls: apiCalls(), error, endedAt: new Date().toISOString() };
    const settled = await bulk
      .settleFanoutItem({ key: `${input.resultPrefix}/${generation}.json`, ending })
      .catch(() => ({ machineSeconds: 0, resultRef: null }));
    const { end } = input.job;
    const job = { sandboxId, sandboxName: run.sandbox?.name ?? null, stop, deletion, left };
    return {
      index: input.index,
      generation,
      outcome,
      sandboxId,
      endedAsAsked: hasEndedAsRequested(job, end),
      ...settled,
      apiCalls: ending.apiCalls,
      error: errorCode === null ? null : jobError({ foreign: errorCode }, 'See the result of the item'),
      left: leftOf(job, { end, unconfirmedName: null }),
    };
  });
}

async function endForkAsRequested(
  run: JobState,
  { sandboxId, generation, outcome, running }: ItemToEnd,
): Promise<JobError | null> {
  run.generation = generation;
  const { end } = run.input;
  try {
    await CancellationScope.withTimeout(run.timing.cleanUpMs, () => findFork(run, sandboxId));
  } catch (error) {
    if (!isCancellation(error)) throw error;
    return jobError('clean_up_unfinished', `The sandbox ${sandboxId} could not be read in time; check it.`);
  }
  const { sandbox } = run;
  if (sandbox === null) {
    run.stop = end === 'stop' ? { stopId: null, status: 'gone', kept: null, error: null } : null;
    run.deletion = end === 'delete' ? { operationId: null, status: 'gone', error: null } : null;
    return null;
  }
  if (end === 'stop' && sandbox.state === 'archived') {
    const kept = preservedWorkOf(sandbox, sandbox.stop ?? { requestedAt: null });
    run.stop = { stopId: sandbox.stop?.id ?? null, status: 'completed', kept, error: null };
    return null;
  }
  for (const { at, ...ids } of running) Object.assign(run.prompts[at] ?? {}, ids, { status: 'unknown' });
  const how: JobOutcome = outcome === 'not_started' ? 'outcome_unknown' : outcome;
  return cleanUp(run, { outcome: how, error: null, cutShort: running.length > 0 });
}

/** Only a 404 that lasts for longer than a read may lag is final. */
async function findFork(run: JobState, sandboxId: string): Promise<void> {
  const sinceMs = Date.now();
  while ((await readSandbox(run, sandboxId)) === null) {
    if (Date.now() - sinceMs >= run.timing.readLagMs) return;
    await sleep(lookEveryMs, { summary: 'until a missing fork is presumed deleted' });
  }
}
