/** Obtains the source of a batch, and ensures that its snapshot holds its latest content. */

import { workflowInfo } from '@temporalio/workflow';
import { ownerWorkflowId } from '../../../src/addresses/addresses.js';
import { machineTypes } from '../../../src/contract/workflow-safe/machine-types.js';
import type { SandboxView } from '../../../src/contract/workflow-safe/sandbox-view.js';
import {
  changeOfState,
  isSameSource,
  type SourceState,
  stateOfSandbox,
} from '../../../src/contract/workflow-safe/source-state.js';
import { isCreating } from '../../../src/contract/workflow-safe/states.js';
import type { ReadySource } from '../../../src/protocol/fanout/batch-parts.js';
import type { FanoutSource, MachineType } from '../../../src/protocol/fanout/fanout-input.js';
import type { JobError } from '../../../src/protocol/job/job-result.js';
import type { JobErrorCode } from '../../../src/protocol/result-error-codes.js';
import { beginStop, stopSandbox } from '../../job/end/stop-sandbox.js';
import type { JobState } from '../../job/job-state.js';
import { readSandbox } from '../../job/sandbox/wait-until-usable.js';
import { effects, lookups } from '../../shared/activity-options.js';
import { findNamedSnapshot } from '../../shared/find-named-snapshot.js';
import { untilStopped } from '../../shared/follow-stop.js';
import { JobTermination, jobError, sourceChanged } from '../../shared/job-termination.js';
import { reads } from '../../shared/reads.js';
import { retryRefusals } from '../../shared/retry-refusals.js';
import { holdingClaim } from '../../watch/hold-claim.js';
import { leaseSandbox } from '../../watch/hold-lease.js';
import type { BatchState } from '../batch/batch-state.js';
import { readLasting, sourceJob } from './caller.js';
import { freshnessOf, staleness, usedMessage } from './freshness.js';
import { prepare } from './prepare.js';
import type { SourceSlot } from './source-slot.js';

/**
 * Obtains a source that is ready to be forked. Safe to cancel at any point and repeat: each step reads first, or finds
 * what it has started.
 * @throws JobTermination if no source can be forked; its error says why
 */
export async function obtainSource(batch: BatchState, slot: SourceSlot, source: FanoutSource): Promise<ReadySource> {
  if (source.kind === 'snapshot') {
    const { from, body } = source;
    const state = await holdSnapshot(batch, slot, from);
    return { item: { kind: 'create', body: { ...body, from } }, type: body.type ?? 'default', sandboxId: null, state };
  }
  const sandboxId = source.kind === 'sandbox' ? source.sandboxId : await prepare(batch, slot, source);
  batch.enterFor(slot, 'checking_source');
  const job = sourceJob(batch, sandboxId);
  slot.job = job;
  try {
    // Lease before the first read, so that nobody deletes the source in between.
    await leaseForForks(slot, job, sandboxId);
    const allowStale = source.kind === 'sandbox' && source.allowStale;
    const sandbox = await makeFresh(slot, job, { sandboxId, allowStale });
    const state = stateOfSandbox(sandbox);
    return { item: { kind: 'fork', sandboxId }, type: machineTypeOf(sandbox), sandboxId, state };
  } finally {
    slot.job = null;
  }
}

/** Nobody then deletes the sandbox before the batch has ended. */
async function leaseForForks(slot: SourceSlot, job: JobState, sandboxId: string): Promise<void> {
  // Set before the answer arrives, because the lease may be granted although the wait for the answer is cancelled.
  slot.carried.leasedSandboxId = sandboxId;
  await leaseSandbox(job, sandboxId, { use: 'fork', lastsMs: job.timing.leaseLastsMs });
  slot.carried.leasedAtMs = Date.now();
}

/** The wait for a source may last for hours. No timer renews the lease before the source is ready. */
async function keepLease(slot: SourceSlot, job: JobState, sandboxId: string): Promise<void> {
  const { leasedAtMs } = slot.carried;
  const isOld = leasedAtMs === null || Date.now() - leasedAtMs >= job.timing.renewLeaseEveryMs;
  if (isOld) await leaseForForks(slot, job, sandboxId);
}

/**
 * Leases the sandbox that holds a named snapshot, because a deletion of that sandbox deletes the snapshot.
 * @returns what the name stands for; null if the service does not show it
 */
async function holdSnapshot(batch: BatchState, slot: SourceSlot, name: string): Promise<SourceState | null> {
  batch.enterFor(slot, 'checking_source');
  const state = await findNamedSnapshot(sourceJob(batch, ''), name);
  if (state === null) return null;
  const job = sourceJob(batch, state.sandboxId);
  slot.job = job;
  try {
    await leaseForForks(slot, job, state.sandboxId);
  } finally {
    slot.job = null;
  }
  return state;
}

/** Why the source of a resumed batch is not in the state that its earlier items started from, or null. */
export function changeSinceEarlier(
  earlier: readonly SourceState[],
  { state, sandboxId }: ReadySource,
): JobError | null {
  const before = earlier.find((known) => (state ? isSameSource(known, state) : known.sandboxId === sandboxId));
  if (before === undefined) return null;
  const change = state === null ? 'it is running again' : changeOfState(before, state);
  return change === null ? null : sourceChanged(before, change);
}

async function makeFresh(
  slot: SourceSlot,
  job: JobState,
  { sandboxId, allowStale }: { readonly sandboxId: string; readonly allowStale: boolean },
): Promise<SandboxView> {
  for (;;) {
    const sandbox = await readLasting(job, sandboxId);
    if (sandbox === null || sandbox.state === 'cancelled') {
      throw sourceFailed('sandbox_not_found', `There is no sandbox ${sandboxId} to fork from`);
    }
    const { stop } = sandbox;
    const lastStop = stop && (await retryRefusals(job, 'read', () => reads.getStop(sandboxId, stop.id)));
    const freshness = freshnessOf(sandbox, { allowStale, lastStop, usedBy: await userOf(sandbox) });
    if (freshness.kind === 'fork') return sandbox;
    if (freshness.kind === 'refuse') throw new JobTermination('rejected', freshness.error);
    if (freshness.kind === 'stop') {
      const stopped = await stopUnused(job, { sandboxId, allowStale });
      if (stopped?.state === 'archived') return stopped;
    } else await waitSettled(slot, job, sandboxId);
  }
}

const stopClaim = { purpose: 'source', ends: 'work' } as const;

/**
 * Commands and SSH do not change the record of a sandbox (trap S11). So only the leases of the source show who uses it.
 * The claim prevents others from starting work before the stop of the source is accepted.
 * @returns null if the source no longer needed a stop when the claim was granted
 */
async function stopUnused(
  job: JobState,
  { sandboxId, allowStale }: { readonly sandboxId: string; readonly allowStale: boolean },
): Promise<SandboxView | null> {
  const begin = async () => {
    const { granted, leasedBy } = await retryRefusals(job, 'claim', () => effects.claimSandbox(sandboxId, stopClaim));
    if (!granted) throw sourceFailed('source_in_use', `The source ${sandboxId} ${usedMessage(leasedBy.join(', '))}`);
    const sandbox = await readSandbox(job, sandboxId);
    const usedBy = sandbox && (await userOf(sandbox));
    if (!sandbox || freshnessOf(sandbox, { allowStale, lastStop: null, usedBy }).kind !== 'stop') return null;
    job.carried.previousStopId = sandbox.stop?.id ?? null;
    await beginStop(job, sandboxId);
    return sandbox;
  };
  const stopping = await holdingClaim(sandboxId, stopClaim, begin, job);
  return stopping && awaitSource(job, stopping);
}

async function awaitSource(job: JobState, sandbox: SandboxView): Promise<SandboxView> {
  await stopSandbox(job, sandbox.id);
  const { status, kept } = job.carried.stop ?? { status: 'gone', kept: null };
  if (status === 'gone') throw sourceFailed('sandbox_not_found', `The source ${sandbox.id} was deleted`);
  if (status === 'superseded') {
    throw sourceFailed('source_in_use', `The source ${sandbox.id} was resumed while it was being stopped`);
  }
  const stale = staleness(sandbox.id, kept);
  if (stale) throw sourceFailed(stale.code, `The source ${sandbox.id} ${stale.message}`);
  return job.sandbox ?? sandbox;
}

/**
 * The running workflow that owns the sandbox, or null. A stop would interrupt the work of that workflow. Only the
 * sandbox's name shows its owner.
 */
async function userOf({ name }: SandboxView): Promise<string | null> {
  const owner = name === null ? undefined : ownerWorkflowId(name);
  if (owner === undefined || owner === workflowInfo().workflowId) return null;
  const [status] = await lookups.describeWorkflows([owner]);
  return status === 'RUNNING' ? owner : null;
}

async function waitSettled(slot: SourceSlot, job: JobState, sandboxId: string): Promise<void> {
  await untilStopped<true>(job, sandboxId, {
    waitedFor: 'archived or usable',
    since: 0,
    readFirst: true,
    read: async () => {
      const sandbox = await readSandbox(job, sandboxId);
      await keepLease(slot, job, sandboxId);
      const isMoving = sandbox !== null && (sandbox.state === 'archiving' || isCreating(sandbox.state));
      return isMoving ? undefined : true;
    },
  });
}

function machineTypeOf({ type }: SandboxView): MachineType {
  return type != null && Object.hasOwn(machineTypes, type) ? (type as MachineType) : 'default';
}

function sourceFailed(code: JobErrorCode, message: string): JobTermination {
  return new JobTermination('rejected', jobError(code, message));
}
