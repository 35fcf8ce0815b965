/** Holds a claim on a sandbox until its stop is accepted or its deletion has ended, so that nobody leases it before. */
import { CancellationScope, isCancellation, sleep, workflowInfo } from '@temporalio/workflow';
import type { ClaimOptions } from '../../activities/watch.js';
import type { JobTiming } from '../../src/protocol/job/job-input.js';
import { releaseClaimSignal, watchRegisterSignal } from '../../src/protocol/messages.js';
import { effects } from '../shared/activity-options.js';
import { defaultTiming, renewClaimInMs } from '../shared/wait-intervals.js';
import { releaseLease, signalWatch } from './hold-lease.js';

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

/**
 * Releases the claim of a stop that was accepted, and receives the sandbox's events while `act` waits for its end. A
 * claim would hold back the escalation of a stop that goes on failing.
 */
export async function receivingEvents<T>(
  sandboxId: string,
  options: ClaimOptions,
  act: () => Promise<T>,
  { timing = defaultTiming }: { readonly timing?: JobTiming } = {},
): Promise<T> {
  const { workflowId } = workflowInfo();
  try {
    await CancellationScope.nonCancellable(async () => {
      // In this order, the watch does not end in between.
      await signalWatch(sandboxId, watchRegisterSignal, { workflowId, lastsMs: timing.leaseLastsMs });
      await releaseClaim(sandboxId, options);
    });
    return await act();
  } finally {
    await CancellationScope.nonCancellable(() => releaseLease(sandboxId));
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

/** Releases a claim of the current workflow. Safe to repeat. */
export function releaseClaim(sandboxId: string, { purpose }: ClaimOptions): Promise<void> {
  const { workflowId: claimant } = workflowInfo();
  return signalWatch(sandboxId, releaseClaimSignal, { claimant, purpose });
}
