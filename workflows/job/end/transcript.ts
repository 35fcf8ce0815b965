/** Which history is stored at the end of a job, before its sandbox ends. */
import { workflowInfo } from '@temporalio/workflow';
import type { TranscriptRequest } from '../../../activities/prompt/transcript.js';
import { itemTranscripts, jobTranscripts, transcriptKey } from '../../../src/addresses/transcript-places.js';
import { reads } from '../../shared/reads.js';
import type { JobState } from '../job-state.js';

/** Longest time for the reads, in ms, and their share of the cleanup time that is left. */
const longestMs = 5_000;
const share = 1 / 16;
/** If the service refuses to end the sandbox, it may refuse the read, too. The next calls then try both again. */
const maxRequests = 3;

/**
 * The request to store the history, which is sent with the call that ends the sandbox. Undefined if no prompt was sent,
 * if the history is already stored, or if such calls were refused several times.
 */
export function takeTranscriptRequest(job: JobState, sandboxId: string): TranscriptRequest | undefined {
  const ids = job.carried.prompts.flatMap(({ conversationId }) => (conversationId === null ? [] : [conversationId]));
  if (job.isTranscriptTaken || job.transcriptRequests >= maxRequests || ids.length === 0) return undefined;
  job.transcriptRequests += 1;
  const leftMs = (job.cleanUpEndsAtMs ?? Number.POSITIVE_INFINITY) - Date.now();
  const timeoutMs = Math.round(Math.max(100, Math.min(longestMs, leftMs * share)));
  return { sandboxId, conversationIds: [...new Set(ids)], key: transcriptKey(folderOf(job), sandboxId), timeoutMs };
}

/** Stores the history of a sandbox that the job keeps, because others may delete the sandbox later. Never throws. */
export async function storeTranscriptOfKept(job: JobState, sandboxId: string): Promise<void> {
  const request = takeTranscriptRequest(job, sandboxId);
  if (!request) return;
  try {
    await reads.storeTranscript(request);
  } catch {
    // The history stays at the service as long as the sandbox.
  }
}

function folderOf({ input }: JobState): string {
  const { deployment, origin } = input;
  const { workflowId, firstExecutionRunId } = workflowInfo();
  if (!origin) return jobTranscripts(workflowId, firstExecutionRunId);
  return itemTranscripts({ deployment, batchId: origin.batchId, batchKey: origin.key }, origin.step);
}
