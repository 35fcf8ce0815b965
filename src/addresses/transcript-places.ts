/**
 * The keys of transcripts in the result store. A transcript is the history of a sandbox at the end of its job. No
 * dependencies: workflow code imports this file.
 */
import { type FanoutPlace, fanoutPrefix } from './fanout-addresses.js';

/** The folder of a job. A job that created several sandboxes has an object for each in which it prompted. */
export function jobTranscripts(workflowId: string, firstExecutionRunId: string): string {
  return `${workflowId}/${firstExecutionRunId}/transcripts`;
}

/** The folder of an item of a batch. Each generation has a sandbox of its own. */
export function itemTranscripts({ deployment, batchId, batchKey }: FanoutPlace, step: string): string {
  return `${fanoutPrefix(deployment, batchId, batchKey)}/transcripts/${step}`;
}

/** @param folder one of the folders above */
export function transcriptKey(folder: string, sandboxId: string): string {
  return `${folder}/${sandboxId}.json`;
}
