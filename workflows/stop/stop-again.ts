/** Stops a sandbox that this workflow has resumed only to stop it again. */
import { CancellationScope, isCancellation } from '@temporalio/workflow';
import type { StopAnswer } from '../../activities/sandbox/stop-resume.js';
import { isCreating, isOpenStop, isUsable } from '../../src/contract/workflow-safe/states.js';
import { stopAgainClaim } from '../../src/protocol/messages.js';
import type { StopRecord } from '../../src/protocol/stop.js';
import { reads } from '../shared/reads.js';
import { retryRefusals } from '../shared/retry-refusals.js';
import { until } from '../shared/until.js';
import { holdingClaim } from '../watch/hold-claim.js';
import { requestStop } from './request-stop.js';
import type { StopWorkflowState } from './stop-state.js';

/** How long the restore of the files may take before the sandbox is stopped anyway, in ms. */
const restoreWithinMs = 1_800_000;
/** How long a cancelled workflow goes on to stop what it has resumed. */
const afterCancel = '10 minutes';

/**
 * Requests the next stop. A claim keeps others from working in the sandbox until then. A person whose agent works in it
 * keeps it: the answer is `in_use`.
 */
export function requestNextStop(stop: StopWorkflowState, record: StopRecord): Promise<StopAnswer> {
  const { sandboxId } = stop.input;
  const ask = async () => {
    await untilRestored(stop, record);
    const call = { sandboxId, timing: stop.timing, memory: record, unlessWorking: true };
    return requestStop(stop.callerFor(record), call);
  };
  return holdingClaim(sandboxId, stopAgainClaim, ask, stop);
}

/** A stop before the restore has ended could save a sandbox without all of its files. */
async function untilRestored(stop: StopWorkflowState, record: StopRecord): Promise<void> {
  const { sandboxId } = stop.input;
  const { inbox, timing, onWake } = stop;
  await until<true>(sandboxId, {
    ...{ inbox, timing, onWake, since: inbox.mark(), limitMs: restoreWithinMs, readFirst: true },
    waitedFor: 'restored',
    wakeOn: ['sandbox.ready', 'sandbox.hydrated', 'sandbox.error'],
    read: async () => {
      const sandbox = await retryRefusals(stop.callerFor(record), 'read', () => reads.getSandbox(sandboxId));
      if (sandbox === null) return true;
      // Such a read is older than the resume.
      const isOld = isOpenStop(sandbox.stop) && stop.hasResumedFrom(sandbox.stop?.id);
      if (isOld || isCreating(sandbox.state)) return undefined;
      return isUsable(sandbox.state) && sandbox.hydrated === false ? undefined : true;
    },
  });
}

/** After a cancel, requests the stop of a sandbox that this workflow has resumed, so that no machine stays behind. */
export async function stopDespiteCancel(
  stop: StopWorkflowState,
  bind: (record: StopRecord, answer: StopAnswer) => Promise<void>,
): Promise<void> {
  const record = stop.open.find(({ stopsAgain }) => stopsAgain);
  if (record === undefined) return;
  try {
    await CancellationScope.withTimeout(afterCancel, async () => bind(record, await requestNextStop(stop, record)));
  } catch (error) {
    if (!isCancellation(error)) throw error;
  }
}
