/** Leases sandboxes that the workflow does not own: it then receives their events, and nobody else ends them. */
import { getExternalWorkflowHandle, isCancellation, type SignalDefinition, workflowInfo } from '@temporalio/workflow';
import { ownerWorkflowId, sandboxWatchId } from '../../src/addresses/addresses.js';
import type { SandboxView } from '../../src/contract/workflow-safe/sandbox-view.js';
import { type LeaseRequest, sandboxSharedSignal, watchUnregisterSignal } from '../../src/protocol/messages.js';
import { effects } from '../shared/activity-options.js';
import { type Caller, retryRefusals } from '../shared/retry-refusals.js';

/**
 * Tells the job that owns the sandbox about the lease. That job then claims the sandbox before it stops it. Safe to
 * repeat.
 */
export async function notifyOwner({ name }: Pick<SandboxView, 'name'>): Promise<void> {
  const owner = ownerWorkflowId(name ?? '');
  if (owner === undefined || owner === workflowInfo().workflowId) return;
  try {
    await getExternalWorkflowHandle(owner).signal(sandboxSharedSignal);
  } catch (error) {
    if (isCancellation(error)) throw error;
    // The owner has ended, or runs on another Temporal server.
  }
}

/**
 * Leases a sandbox for the current workflow, which need not be a job, or renews the lease. During a long wait, its
 * caller shows that it is blocked.
 */
export async function leaseSandbox(
  caller: Caller,
  sandboxId: string,
  { use, lastsMs }: Omit<LeaseRequest, 'workflowId'>,
): Promise<void> {
  await retryRefusals(caller, 'lease', () =>
    effects.leaseSandbox.executeWithOptions({ summary: `lease ${sandboxId}` }, [sandboxId, { use, lastsMs }]),
  );
}

/**
 * Renews a lease once, within at most a minute.
 * @returns true if it was granted; retry a failed renewal soon
 * @throws only if the scope is cancelled
 */
export async function renewLease(
  sandboxId: string,
  { use, lastsMs }: Omit<LeaseRequest, 'workflowId'>,
): Promise<boolean> {
  const options = { summary: `renew the lease of ${sandboxId}`, scheduleToCloseTimeout: '1 minute' } as const;
  try {
    await effects.leaseSandbox.executeWithOptions(options, [sandboxId, { use, lastsMs }]);
    return true;
  } catch (error) {
    if (isCancellation(error)) throw error;
    return false;
  }
}

/** Releases the lease of the current workflow. Safe to repeat. */
export function releaseLease(sandboxId: string): Promise<void> {
  const { workflowId } = workflowInfo();
  return signalWatch(sandboxId, watchUnregisterSignal, { workflowId });
}

export async function signalWatch<Told>(
  sandboxId: string,
  signal: SignalDefinition<[Told]>,
  told: Told,
): Promise<void> {
  try {
    await getExternalWorkflowHandle(sandboxWatchId(sandboxId)).signal(signal, told);
  } catch {
    // A watch that has ended holds no leases and no claims. Polls then show what an event would have told.
  }
}
