/** Leases sandboxes that the workflow's name does not lead to: their events come, and nobody ends them meanwhile. */
import { getExternalWorkflowHandle, isCancellation, patched, workflowInfo } from '@temporalio/workflow';
import { ownerWorkflowId, sandboxWatchId } from '../../src/contract/addresses.js';
import type { SandboxView } from '../../src/contract/sandbox-view.js';
import type { JobState } from '../job/state.js';
import { type LeaseRequest, sandboxSharedSignal, watchUnregisterSignal } from '../messages.js';
import { effects } from '../shared/proxies.js';
import { type Caller, retryRefusals } from '../shared/retry-refusals.js';

/** Leases the job's sandbox for its work, or renews the lease. Waits while somebody else has claimed the sandbox. */
export async function watchSandbox(run: JobState, sandboxId: string): Promise<void> {
  // Before the answer, so that a job that ends meanwhile gives up what it may have been granted.
  run.watched = true;
  await leaseSandbox(run, sandboxId, { use: 'work', lastsMs: run.timing.leaseLastsMs });
}

/** The job whose own the sandbox is asks for leases before it stops it, once it knows that there is one. */
export async function tellOwner({ name }: Pick<SandboxView, 'name'>): Promise<void> {
  const owner = ownerWorkflowId(name ?? '');
  if (owner === undefined || owner === workflowInfo().workflowId) return;
  if (!patched('the owner of a sandbox is told of a lease')) return;
  try {
    await getExternalWorkflowHandle(owner).signal(sandboxSharedSignal);
  } catch (error) {
    if (isCancellation(error)) throw error;
    // It has ended, or is of another Temporal.
  }
}

/** The same for a workflow that is no job. Visible where it lasts. */
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
 * One renewal, of a minute at most.
 * @returns whether it was granted; a failed one is to be tried again soon
 * @throws where it was cancelled
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

/** Gives the job's lease up, so that the watch can end. */
export async function unwatchSandbox(run: JobState): Promise<void> {
  const { source } = run.input;
  const sandboxId = run.sandbox?.id ?? (source.kind === 'existing' ? source.sandboxId : undefined);
  if (run.watched && sandboxId !== undefined) await giveUpLease(sandboxId);
}

/** The same for a workflow that is no job. */
export async function giveUpLease(sandboxId: string): Promise<void> {
  const { workflowId } = workflowInfo();
  try {
    await getExternalWorkflowHandle(sandboxWatchId(sandboxId)).signal(watchUnregisterSignal, { workflowId });
  } catch {
    // A watch that has ended holds no lease any more.
  }
}
