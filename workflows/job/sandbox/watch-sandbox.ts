/** The lease of a job on a sandbox that it does not own, or whose name is not its own: events then arrive by the watch. */
import type { LeaseRequest } from '../../../src/protocol/messages.js';
import { leaseSandbox, releaseLease } from '../../watch/hold-lease.js';
import type { JobState } from '../job-state.js';

/** The lease that the job needs now. */
export function leaseOf({ carried, timing }: JobState): Omit<LeaseRequest, 'workflowId'> {
  return { use: carried.waitsForStop ? 'fork' : 'work', lastsMs: timing.leaseLastsMs };
}

/** Leases the job's sandbox, or renews the lease. Waits while somebody else holds a claim. Safe to repeat. */
export async function watchSandbox(job: JobState, sandboxId: string): Promise<void> {
  // Set before the answer arrives, because a job that ends in the meantime may hold the lease and must release it.
  job.carried.watched = true;
  await leaseSandbox(job, sandboxId, leaseOf(job));
}

/** Releases the job's lease, so that the watch can end. Safe to repeat. */
export async function unwatchSandbox(job: JobState): Promise<void> {
  const { source } = job.input;
  const sandboxId = job.sandbox?.id ?? (source.kind === 'existing' ? source.sandboxId : undefined);
  if (job.carried.watched && sandboxId !== undefined) await releaseLease(sandboxId);
}
