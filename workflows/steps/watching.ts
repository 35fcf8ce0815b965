/** Registers the job with the watch of a sandbox whose name does not lead to it. */
import { getExternalWorkflowHandle, workflowInfo } from '@temporalio/workflow';
import { sandboxWatchId } from '../../src/contract/addresses.js';
import { watchUnregisterSignal } from '../messages.js';
import { effects } from '../proxies.js';
import type { JobRun } from './job-run.js';

/** A registration outlives its renewals by so much; a terminated job never unregisters. */
const registrationLastsMs = 15 * 60_000;
/** How often a registration is renewed. */
export const renewRegistrationEveryMs = 5 * 60_000;

/** Registers, or renews. The registration is also a lease: nobody deletes the sandbox while it lasts. */
export async function watchSandbox(run: JobRun, sandboxId: string): Promise<void> {
  await leaseSandbox(sandboxId);
  run.watched = true;
}

/** The same for a workflow that is no job. */
export async function leaseSandbox(sandboxId: string): Promise<void> {
  const expiresAt = new Date(Date.now() + registrationLastsMs).toISOString();
  const { workflowId } = workflowInfo();
  await effects.registerWatch(sandboxId, { workflowId, expiresAt, lease: true });
}

/** Leaves the watch, so that it can end. */
export async function unwatchSandbox(run: JobRun): Promise<void> {
  if (run.watched && run.sandbox) await giveUpLease(run.sandbox.id);
}

/** The same for a workflow that is no job. */
export async function giveUpLease(sandboxId: string): Promise<void> {
  const { workflowId } = workflowInfo();
  try {
    await getExternalWorkflowHandle(sandboxWatchId(sandboxId)).signal(watchUnregisterSignal, { workflowId });
  } catch {
    // A watch that has ended holds no registration any more.
  }
}
