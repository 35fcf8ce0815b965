/** Collects the files of a job into the result store, and reports which ones the job did not change. */
import { isCancellation, workflowInfo } from '@temporalio/workflow';
import { isFolderPath } from '../../../src/contract/workflow-safe/folder-path.js';
import type { CollectedFile } from '../../../src/protocol/job/job-result.js';
import { files, folders } from '../../shared/activity-options.js';
import { toJobTermination } from '../../shared/job-termination.js';
import { callMachine } from '../call-machine.js';
import type { JobState } from '../job-state.js';

/**
 * Before the first prompt, records the digest of each file to collect. The digest of an unreadable file, and that of a
 * folder, stays unknown.
 */
export async function takeFingerprints(job: JobState, sandboxId: string): Promise<void> {
  for (const path of job.input.collect) {
    if (path in job.carried.fingerprints || isFolderPath(path)) continue;
    const summary = `read ${path} before the first prompt`;
    const sha256 = await callMachine(job, sandboxId, 'read file', () =>
      files.fingerprintFile.executeWithOptions({ summary }, [sandboxId, path]),
    );
    if (sha256 !== undefined) job.carried.fingerprints = { ...job.carried.fingerprints, [path]: sha256 };
  }
}

/**
 * Collects the files that are not collected yet.
 * @param partial true if the job was cut short
 */
export async function collectFiles(job: JobState, sandboxId: string, partial: boolean): Promise<void> {
  const { collect } = job.input;
  if (job.carried.files.length >= collect.length) return;
  job.enter('collecting_files');
  for (const path of collect.slice(job.carried.files.length)) {
    const file = await collectFile(job, sandboxId, path);
    const { sha256 } = file;
    const before = job.carried.fingerprints[path];
    const unchanged = sha256 === null || before === undefined ? null : sha256 === before;
    job.carried.files = [...job.carried.files, { ...file, partial, unchanged }];
  }
}

/** Adds an entry with the error `why` for each path that was not collected. */
export function nameMissingFiles(job: JobState, why: string): void {
  const missing = job.input.collect.slice(job.carried.files.length);
  const none = { size: null, sha256: null, ref: null, partial: true, unchanged: null };
  job.carried.files = [...job.carried.files, ...missing.map((path) => ({ ...none, path, error: why }))];
}

async function collectFile(job: JobState, sandboxId: string, path: string): Promise<CollectedFile> {
  const { workflowId, firstExecutionRunId } = workflowInfo();
  const key = `${workflowId}/${firstExecutionRunId}/files/${job.carried.files.length}`;
  const summary = `collect ${path}`;
  try {
    return await callMachine(job, sandboxId, 'collect file', () =>
      (isFolderPath(path) ? folders : files).collectFile.executeWithOptions({ summary }, [{ sandboxId, path, key }]),
    );
  } catch (error) {
    if (isCancellation(error)) throw error;
    // An unavailable file must not end the job: the agent's answer would be lost.
    const { message } = toJobTermination(error).jobError;
    return { path, size: null, sha256: null, ref: null, error: message, partial: false, unchanged: null };
  }
}
