/** Collects the files of a job into the result store, and says which of them the job did not change. */
import { isCancellation, workflowInfo } from '@temporalio/workflow';
import { files } from '../../shared/proxies.js';
import { callMachine } from '../call-machine.js';
import type { JobState } from '../state.js';
import { toJobTermination } from '../termination.js';
import type { CollectedFile } from '../types.js';

/** Remembers what the files to collect are before the first prompt. What cannot be read is not known. */
export async function takeFingerprints(run: JobState, sandboxId: string): Promise<void> {
  for (const path of run.input.collect) {
    if (path in run.fingerprints) continue;
    const summary = `what ${path} is before the first prompt`;
    const sha256 = await callMachine(run, sandboxId, 'read file', () =>
      files.fingerprintFile.executeWithOptions({ summary }, [sandboxId, path]),
    );
    if (sha256 !== undefined) run.fingerprints = { ...run.fingerprints, [path]: sha256 };
  }
}

/**
 * Collects what was not collected yet.
 * @param partial true where the job did not come to its own end
 */
export async function collectFiles(run: JobState, sandboxId: string, partial: boolean): Promise<void> {
  const { collect } = run.input;
  if (run.files.length >= collect.length) return;
  run.enter('collecting_files');
  for (const path of collect.slice(run.files.length)) {
    const file = await collectFile(run, sandboxId, path);
    const { sha256 } = file;
    const before = run.fingerprints[path];
    const unchanged = sha256 === null || before === undefined ? null : sha256 === before;
    run.files = [...run.files, { ...file, partial, unchanged }];
  }
}

/** Each path that was not collected has a line of its own that says so. */
export function nameMissingFiles(run: JobState, why: string): void {
  const missing = run.input.collect.slice(run.files.length);
  const none = { size: null, sha256: null, ref: null, partial: true, unchanged: null };
  run.files = [...run.files, ...missing.map((path) => ({ ...none, path, error: why }))];
}

async function collectFile(run: JobState, sandboxId: string, path: string): Promise<CollectedFile> {
  const { workflowId, firstExecutionRunId } = workflowInfo();
  const key = `${workflowId}/${firstExecutionRunId}/files/${run.files.length}`;
  const summary = `collect ${path}`;
  try {
    return await callMachine(run, sandboxId, 'collect file', () =>
      files.collectFile.executeWithOptions({ summary }, [{ sandboxId, path, key }]),
    );
  } catch (error) {
    if (isCancellation(error)) throw error;
    // A file that cannot be had costs this file, and not the answer of the agent.
    const { message } = toJobTermination(error).jobError;
    return { path, size: null, sha256: null, ref: null, error: message, partial: false, unchanged: null };
  }
}
