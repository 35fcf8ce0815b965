/** Requests leases and claims from the watch of a sandbox, as workflows do. */
import { WithStartWorkflowOperation } from '@temporalio/client';
import { sandboxWatchId } from '../../../src/addresses/addresses.js';
import {
  claimSandboxUpdate,
  type HoldAnswer,
  type LeaseUse,
  leaseSandboxUpdate,
  releaseClaimSignal,
  type sandboxWatch,
} from '../../../workflows/index.js';
import type { Stand } from '../workflow-harness.js';

type WatchLimits = Parameters<typeof sandboxWatch>[0]['limits'];

export const watchOf = (stand: Stand, sandboxId: string) =>
  stand.client.workflow.getHandle<typeof sandboxWatch>(sandboxWatchId(sandboxId));

const watchStart = ({ taskQueue }: Stand, sandboxId: string, limits?: WatchLimits) =>
  new WithStartWorkflowOperation<typeof sandboxWatch>('sandboxWatch', {
    workflowId: sandboxWatchId(sandboxId),
    taskQueue,
    args: [{ sandboxId, limits }],
    workflowIdConflictPolicy: 'USE_EXISTING',
  });

/** @param over `limits` apply only if this call starts the watch */
export function leaseAs(
  stand: Stand,
  sandboxId: string,
  workflowId: string,
  over: { readonly use?: LeaseUse; readonly lastsMs?: number; readonly limits?: WatchLimits } = {},
): Promise<HoldAnswer> {
  return stand.client.workflow.executeUpdateWithStart(leaseSandboxUpdate, {
    args: [{ workflowId, use: over.use ?? 'work', lastsMs: over.lastsMs ?? 600_000 }],
    startWorkflowOperation: watchStart(stand, sandboxId, over.limits),
  });
}

const purpose = 'test';

/** For a second, unless it is released or `lastsMs` is set. */
export function claimAs(stand: Stand, sandboxId: string, claimant: string, lastsMs = 1_000): Promise<HoldAnswer> {
  return stand.client.workflow.executeUpdateWithStart(claimSandboxUpdate, {
    args: [{ claimant, purpose, ends: 'any', lastsMs }],
    startWorkflowOperation: watchStart(stand, sandboxId),
  });
}

export const releaseAs = (stand: Stand, sandboxId: string, claimant: string) =>
  watchOf(stand, sandboxId).signal(releaseClaimSignal, { claimant, purpose });
