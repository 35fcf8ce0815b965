/** Collects what a git repository in the sandbox has changed since the first prompt. */
import { isCancellation, workflowInfo } from '@temporalio/workflow';
import { executionOf } from '../../../src/addresses/addresses.js';
import type { CollectedDiff, DiffOutcome } from '../../../src/protocol/job/diff.js';
import type { CollectedFile } from '../../../src/protocol/job/job-result.js';
import { patchName } from '../../../src/protocol/job/patch-name.js';
import { files } from '../../shared/activity-options.js';
import { ContinueAsNewRequest } from '../../shared/continue-as-new.js';
import { toJobTermination } from '../../shared/job-termination.js';
import { callMachine } from '../call-machine.js';
import type { JobState } from '../job-state.js';
import { wasReset } from '../was-reset.js';

/** Before the first prompt, finds the commit from which changes count. */
export async function recordDiffBase(job: JobState, sandboxId: string): Promise<void> {
  const { collectDiff: path } = job.input;
  if (path === undefined || job.carried.diffBase !== null) return;
  // An earlier run may have sent prompts that this run does not know, and they may have changed the repository.
  const mayHavePrompted = wasReset(job.carried) || job.carried.isFound;
  const input = { sandboxId, path, owner: ownerOf(job, sandboxId), mayHavePrompted };
  const options = { summary: 'find the base of the patch' };
  job.carried.diffBase = await callMachine(job, sandboxId, 'find base', () =>
    files.recordDiffBase.executeWithOptions(options, [input]),
  );
}

/**
 * Collects the patch, unless it is collected.
 * @param partial true if the job was cut short
 */
export async function collectDiff(job: JobState, sandboxId: string, partial: boolean): Promise<void> {
  const { diffBase: base } = job.carried;
  if (job.input.collectDiff === undefined || job.carried.diff !== null || base === null) return;
  if (base.kind === 'unknown') {
    job.carried.diff = without(base.outcome, base.message, partial);
    return;
  }
  job.enter('collecting_files');
  const { workflowId, firstExecutionRunId } = workflowInfo();
  const { repository, commit } = base;
  const key = `${workflowId}/${firstExecutionRunId}/files/${patchName}`;
  const input = { sandboxId, owner: ownerOf(job, sandboxId), repository, base: commit, key };
  try {
    const options = { summary: 'collect the patch' };
    const patch = await callMachine(job, sandboxId, 'collect patch', () =>
      files.collectDiff.executeWithOptions(options, [input]),
    );
    job.carried.diff = { ...patch, partial: partial || patch.partial };
  } catch (error) {
    if (isCancellation(error) || error instanceof ContinueAsNewRequest) throw error;
    // A missing patch must not end the job: the agent's answer would be lost.
    const { message } = toJobTermination(error).jobError;
    job.carried.diff = without('failed', message, partial, { repository, base: commit });
  }
}

/** If there is no patch, adds an entry that says why. */
export function nameMissingDiff(job: JobState, why: string): void {
  if (job.input.collectDiff === undefined || job.carried.diff !== null) return;
  const { diffBase } = job.carried;
  const known = diffBase?.kind === 'known' ? { repository: diffBase.repository, base: diffBase.commit } : {};
  job.carried.diff = without('not_collected', why, true, known);
}

function without(
  outcome: DiffOutcome,
  error: string,
  partial: boolean,
  known: Partial<Pick<CollectedDiff, 'repository' | 'base'>> = {},
): CollectedFile {
  const diff: CollectedDiff = { outcome, repository: null, base: null, changedFiles: null, notes: [], ...known };
  return { path: patchName, size: null, sha256: null, ref: null, error, partial, unchanged: null, diff };
}

/**
 * The first run of an item, or of a job before a reset, leaves a record in the sandbox. With this id, the second run
 * finds it.
 */
function ownerOf({ input }: JobState, sandboxId: string): string {
  return `${sandboxId}-${input.origin?.execution ?? executionOf(workflowInfo().firstExecutionRunId)}`;
}
