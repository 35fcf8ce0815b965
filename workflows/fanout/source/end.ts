/** Ends a source of a batch: releases its lease, and ends what was prepared. */
import type { SandboxView } from '../../../src/contract/workflow-safe/sandbox-view.js';
import type { JobError } from '../../../src/protocol/job/job-result.js';
import { deleteSandbox } from '../../job/end/delete-sandbox.js';
import { handOverStop, mustHandOver } from '../../job/end/hand-over-stop.js';
import { stopSandbox } from '../../job/end/stop-sandbox.js';
import { problemWithin } from '../../job/end/within-time.js';
import type { JobState } from '../../job/job-state.js';
import { jobError } from '../../shared/job-termination.js';
import { defaultTiming } from '../../shared/wait-intervals.js';
import { releaseLease } from '../../watch/hold-lease.js';
import type { BatchState } from '../batch/batch-state.js';
import { knowsLosses } from '../markers.js';
import { readLasting, sourceJob } from './caller.js';
import { endPreparation } from './prepare.js';
import { isOwn, type SourceSlot } from './source-slot.js';

const handOverWithinMs = 60_000;

function preparedEnd({ input: { source } }: BatchState): 'stop' | 'delete' | undefined {
  return source?.kind === 'prepare' ? source.end : undefined;
}

/**
 * Stops or deletes the prepared sandbox as requested, and releases the lease, within a time limit. Returns the error if
 * the sandbox did not end, or null.
 */
export async function endSource(batch: BatchState, slot: SourceSlot): Promise<JobError | null> {
  const { source, leasedSandboxId } = slot.carried;
  slot.carried.leasedSandboxId = null;
  // Two sources may fork one sandbox.
  const isShared = () => batch.slots.some(({ carried }) => carried.leasedSandboxId === leasedSandboxId);
  if (leasedSandboxId !== null && !isShared()) await releaseLease(leasedSandboxId);
  const how = isOwn(slot) ? slot.carried.end : preparedEnd(batch);
  if (how === undefined) return null;
  const isUnknown = source === null && slot.carried.preparedSandboxId === null && !slot.isTakenOver;
  const unended = isUnknown && knowsLosses() ? await endPreparation(batch, slot, how) : null;
  const { preparedSandboxId: sandboxId } = slot.carried;
  if (sandboxId === null) return unended;
  const job = sourceJob(batch, sandboxId);
  slot.job = job;
  const end = async () => {
    const sandbox = await readLasting(job, sandboxId);
    if (sandbox === null) return;
    job.carried.previousStopId = sandbox.stop?.id ?? null;
    if (how === 'delete') await deleteSandbox(job, sandboxId);
    else if (mayRun(sandbox)) await stopSandbox(job, sandboxId);
  };
  try {
    const cleanUpMs = batch.input.timing?.cleanUpMs ?? defaultTiming.cleanUpMs;
    const lateText = `The prepared sandbox ${sandboxId} was not stopped or deleted in time; check it.`;
    const problem = await problemWithin(cleanUpMs, end, lateText);
    const follower = how === 'stop' ? await handOver(job, sandboxId, problem) : null;
    if (problem === null) return nameWhatIsLeft(batch, job, how, follower);
    const why = ['The prepared sandbox was not stopped or deleted as requested.', follower ?? ''].join(' ').trimEnd();
    batch.leaveOwn([{ kind: 'sandbox', sandboxId, sandboxName: null, conversationId: null, why }]);
    return problem;
  } finally {
    slot.job = null;
  }
}

/** Gives a stop that has not ended to a workflow that escalates it. @returns what follows the stop, or null */
async function handOver(job: JobState, sandboxId: string, problem: JobError | null): Promise<string | null> {
  if (!mustHandOver(job, sandboxId, problem)) return null;
  let follower: string | null = null;
  await problemWithin(
    handOverWithinMs,
    async () => {
      follower = await handOverStop(job, sandboxId);
    },
    'The stop was not handed over in time.',
  );
  return follower;
}

/** False only for a sandbox that has no machine. */
function mayRun({ state }: SandboxView): boolean {
  return state !== 'archived' && state !== 'cancelled';
}

/**
 * Reports a sandbox that was not stopped or deleted as requested, although no call failed. Returns the error, or null.
 */
function nameWhatIsLeft(
  batch: BatchState,
  job: JobState,
  end: 'stop' | 'delete',
  follower: string | null,
): JobError | null {
  const {
    sandbox,
    deletion,
    carried: { stop },
  } = job;
  batch.leaveOwn(job.carried.left);
  const ended = end === 'stop' ? stop : deletion;
  if (sandbox === null || ended === null || ended.status === 'completed' || ended.status === 'gone') return null;
  const what = `The ${end === 'stop' ? 'stop' : 'deletion'} of the prepared sandbox was last seen ${ended.status}`;
  const why = [`${what}${ended.error ? `: ${ended.error}` : ''}.`, follower ?? ''].join(' ').trimEnd();
  const { id: sandboxId, name: sandboxName } = sandbox;
  batch.leaveOwn([{ kind: 'sandbox', sandboxId, sandboxName, conversationId: null, why }]);
  return jobError('clean_up_unfinished', why);
}
