/** Records that the service has accepted a prompt of a job. */
import type { AcceptedPrompt } from '../../../src/protocol/messages.js';
import type { JobState } from '../job-state.js';

/** Safe to repeat: a signal and the result of the activity both tell it. */
export function recordAccepted(job: JobState, { index, promptId, conversationId, acceptedAtMs }: AcceptedPrompt): void {
  const prompt = job.carried.prompts[index];
  if (prompt?.status !== 'sending') return;
  Object.assign(prompt, { promptId, conversationId, status: 'queued' });
  job.enter('following', acceptedAtMs);
  if (job.carried.reachedAtMs.prompted === undefined) job.reached('prompted', job.carried.sinceMs);
}
