/**
 * Holds what a new sandbox starts from, while the service refuses the create or the fork for some time: a cleanup may
 * otherwise delete it in the meantime. A create that is accepted at once needs no lease. The batch of an item leases
 * the source for all its items.
 */
import { CancellationScope } from '@temporalio/workflow';
import type { SandboxSource } from '../../../src/protocol/job/job-input.js';
import { ContinueAsNewRequest } from '../../shared/continue-as-new.js';
import { findNamedSnapshot } from '../../shared/find-named-snapshot.js';
import { serviceFailureOf } from '../../shared/job-termination.js';
import { retryRefusals } from '../../shared/retry-refusals.js';
import { refusedCallDelayMs } from '../../shared/wait-intervals.js';
import { leaseSandbox, releaseLease } from '../../watch/hold-lease.js';
import type { JobState } from '../job-state.js';

/**
 * Repeats a create or a fork until the service accepts it, and leases its source meanwhile.
 * @throws the error of the call, if waiting does not help
 */
export async function retryWithSource<T>(job: JobState, source: SandboxSource, call: () => Promise<T>): Promise<T> {
  const holding = async () => {
    try {
      return await call();
    } catch (error) {
      await holdIfRetried(job, source, error);
      throw error;
    }
  };
  try {
    const made = await retryRefusals(job, source.kind, holding);
    await release(job);
    return made;
  } catch (error) {
    // The next run repeats the call.
    if (!(error instanceof ContinueAsNewRequest)) await release(job);
    throw error;
  }
}

/** Leases the source until after the next call, unless an earlier lease lasts as long. */
async function holdIfRetried(job: JobState, source: SandboxSource, error: unknown): Promise<void> {
  const { timing, carried, input } = job;
  const refusal = serviceFailureOf(error);
  if (input.origin || !refusal || refusedCallDelayMs(refusal, 0) === undefined) return;
  // Without a wish of the service, no wait is longer than two thirds of a lease.
  const neededMs = Math.max((timing.leaseLastsMs * 2) / 3, 2 * (refusal.retryAfterMs ?? 0));
  const { sandboxId, untilMs } = carried.heldSource ?? { sandboxId: await holderOf(job, source), untilMs: 0 };
  if (sandboxId === null || untilMs >= Date.now() + neededMs) return;
  const lastsMs = Math.max(timing.leaseLastsMs, neededMs);
  carried.heldSource = { sandboxId, untilMs: Date.now() + lastsMs };
  await leaseSandbox(job, sandboxId, { use: 'fork', lastsMs });
}

async function release({ carried }: JobState): Promise<void> {
  const { heldSource } = carried;
  if (heldSource === null) return;
  carried.heldSource = null;
  await CancellationScope.nonCancellable(() => releaseLease(heldSource.sandboxId));
}

/** The sandbox that is forked or holds the named snapshot; null without one, or if the service does not show it. */
async function holderOf(job: JobState, source: SandboxSource): Promise<string | null> {
  if (source.kind !== 'create') return source.sandboxId;
  const { from } = source.body;
  return from === undefined ? null : ((await findNamedSnapshot(job, from))?.sandboxId ?? null);
}
