/** Resumes a batch whose workflow has closed, or lets a held one go on. */

import { type Client, WorkflowExecutionAlreadyStartedError, WorkflowIdReusePolicy } from '@temporalio/client';
import { fanoutPlaces } from '../../addresses/fanout-addresses.js';
import { defaultBreaker } from '../../job-settings/batch-settings.js';
import type { BatchInput, ChangedItems } from '../../protocol/fanout/batch-parts.js';
import type { FanoutPolicy } from '../../protocol/fanout/fanout-input.js';
import { type FanoutPlace, storedChunks } from '../../result-store/fanout-objects.js';
import type { ResultStore } from '../../result-store/index.js';
import { storedJson } from '../../result-store/stored-json.js';
import { requireOptions } from '../../settings/required-options.js';
import { requireClient } from '../../temporal/own-copy.js';
import { contentDigest } from '../input-digest.js';
import { earlierExecution, heldSoUnchanged, stillRuns } from './earlier-execution.js';
import {
  type FanoutAddress,
  fanoutProgress,
  launchBatch,
  type StartedFanout,
  type StartFanoutOptions,
} from './fanout-client.js';
import { bad, parseFanoutInput } from './fanout-input.js';
import type { ResumePlan } from './plan-resume.js';
import { sendGoOn } from './updates.js';

/** Options of resuming a batch. */
export interface ResumeFanoutOptions extends Pick<StartFanoutOptions, 'taskQueue' | 'searchAttributes'> {
  /** Whether items that failed are tried again, each as its next generation. Default: true. */
  readonly retryFailed?: boolean;
  /** Replaces parts of the policy, such as the budget or the deadline. Default: the policy does not change. */
  readonly policy?: Partial<FanoutPolicy>;
  /**
   * Which items run, and with what: see `planResume`. Needs `results`. If the plan names items, the batch no longer ends
   * early, unless `policy` says so. Default: the missing and failed items, each with what it ran with last.
   */
  readonly plan?: ResumePlan;
  /** The result store, which the workers use too. Needed only for a plan; checked for the items of the batch. */
  readonly results?: ResultStore;
}

/**
 * Runs the missing and failed items of a batch, or those of a plan. Completed items are not repeated, unless a plan names
 * them. Idempotency keys and the spent budget carry over from the first execution. The deadline starts again. Chunks that
 * still run continue. Safe to repeat: an item that has ended since the plan was made does not run again by that plan,
 * unless it failed.
 *
 * A batch that is held (`FanoutProgress.held`) still runs. It goes on, unchanged: `started` is then false, and no option that
 * changes something may be given.
 * @throws SandflowError `fanout_runs` if the batch still runs and is not held; `fanout_not_found`; `bad_fanout_input`
 * @example
 * await resumeFanout(client, { deployment, batchId: 'issues' }, { taskQueue });
 * const { counts } = await awaitFanout(client, { deployment, batchId: 'issues' });
 */
export async function resumeFanout(
  client: Client,
  batch: FanoutAddress,
  options: ResumeFanoutOptions,
): Promise<StartedFanout> {
  requireClient(client);
  requireOptions(options, { taskQueue: 'a text' });
  const { taskQueue, retryFailed = true, plan, results, searchAttributes } = options;
  const { input: first, batchKey, memo: earlierMemo, isRunning, runId } = await earlierExecution(client, batch);
  if (isRunning) {
    const { held } = await fanoutProgress(client, batch);
    if (!held) throw stillRuns(batch);
    const isChanging = plan !== undefined || !retryFailed || Object.keys(options.policy ?? {}).length > 0;
    if (isChanging) throw heldSoUnchanged(batch);
    const wasHeld = await sendGoOn(client, batch, { patienceMs: 60_000 });
    // It was held just now: somebody else has let it go on, or an answer was lost. Or it ends.
    if (!wasHeld && (await fanoutProgress(client, batch)).phase === 'ending') throw stillRuns(batch);
    return { started: false, runId };
  }
  const place = { deployment: batch.deployment, batchId: batch.batchId, batchKey };
  // Without them, the batch would wait for items that nobody sends any more.
  const hadItems = earlierMemo.counts?.items || first.resume;
  if (results && hadItems && (await storedChunks(results, place)).size === 0)
    throw bad(`The result store no longer has the items of the batch "${batch.batchId}". Submit them as a new batch.`);
  const { carried: _, resume, batchKey: __, ...earlier } = first;
  const policy = { breaker: defaultBreaker, ...earlier.policy, ...(plan?.only && goesOn), ...options.policy };
  const checked = parseFanoutInput({ ...earlier, policy });
  const kept = resume?.changed && { ...resume.changed, only: false };
  const changed = plan?.changes ? await storeChanges(plan, place, results) : kept;
  const input: BatchInput = {
    ...checked,
    batchKey,
    resume: { round: (resume?.round ?? 0) + 1, retryFailed, ...(changed && { changed }) },
  };
  const { shortfall: ___, counts: ____, failureClass: _____, ...lasting } = earlierMemo;
  const memo = { ...lasting, batchKey, outcome: null };
  try {
    const workflowIdReusePolicy = WorkflowIdReusePolicy.ALLOW_DUPLICATE;
    return await launchBatch(client, input, { taskQueue, memo, workflowIdReusePolicy, searchAttributes });
  } catch (error) {
    throw error instanceof WorkflowExecutionAlreadyStartedError ? stillRuns(batch, error) : error;
  }
}

/** Earlier successes and failures must not end a batch before the items that were named have had their turn. */
const goesOn = { stopAt: { kind: 'go_on' } } as const;

/** The name is the content, so that a command that is refused or killed changes nothing of what runs. Safe to repeat. */
async function storeChanges(
  { changes, only }: ResumePlan,
  place: FanoutPlace,
  results: ResultStore | undefined,
): Promise<ChangedItems> {
  if (!results) throw bad('A plan needs the result store: pass `results`.');
  const set = contentDigest([...(changes ?? [])]);
  for (const [chunk, content] of changes ?? []) {
    await results.put(fanoutPlaces(place).changedChunk(set, chunk), storedJson(content));
  }
  return { set, only };
}
