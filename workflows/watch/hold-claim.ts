/** Holds a claim on a sandbox while it is stopped or deleted, so that nobody leases it in the meantime. */
import {
  CancellationScope,
  getExternalWorkflowHandle,
  isCancellation,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { ClaimOptions } from '../../activities/watch.js';
import { sandboxWatchId } from '../../src/contract/workflow-safe/addresses.js';
import type { JobTiming } from '../../src/protocol/job/job-input.js';
import { releaseClaimSignal } from '../../src/protocol/messages.js';
import { effects } from '../shared/proxies.js';
import { defaultTiming, renewClaimInMs } from '../shared/wait-intervals.js';

/** Renews a claim while `act` runs, and releases it afterwards, whether `act` succeeds or throws. */
export async function holdingClaim<T>(
  sandboxId: string,
  options: ClaimOptions,
  act: () => Promise<T>,
  { timing = defaultTiming }: { readonly timing?: JobTiming } = {},
): Promise<T> {
  const renewals = new CancellationScope();
  const everyMs = renewClaimInMs(timing);
  const renewing = renewals.run(() => renewClaim(sandboxId, options, everyMs)).catch(() => undefined);
  try {
    return await act();
  } finally {
    renewals.cancel();
    // A renewal that arrives after the release would hold the claim for its full lifetime.
    await CancellationScope.nonCancellable(() => renewing);
    await CancellationScope.nonCancellable(() => releaseClaim(sandboxId, options));
  }
}

async function renewClaim(sandboxId: string, options: ClaimOptions, everyMs: number): Promise<void> {
  for (;;) {
    await sleep(everyMs, { summary: `renewal of the claim on ${sandboxId}` });
    try {
      await effects.claimSandbox(sandboxId, options);
    } catch (error) {
      if (isCancellation(error)) throw error;
    }
  }
}

async function releaseClaim(sandboxId: string, { purpose }: ClaimOptions): Promise<void> {
  const { workflowId: claimant } = workflowInfo();
  try {
    await getExternalWorkflowHandle(sandboxWatchId(sandboxId)).signal(releaseClaimSignal, { claimant, purpose });
  } catch {
    // A watch that has ended holds no claims.
  }
}
