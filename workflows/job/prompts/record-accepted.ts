/** Records that the service has accepted a prompt of a job. */
import type { AcceptedPrompt } from '../../../activities/prompt/send-and-follow.js';
import type { JobState } from '../job-state.js';

export function recordAccepted(
  job: JobState,
  index: number,
  { promptId, conversationId, acceptedAtMs }: AcceptedPrompt,
): void {
  const prompt = job.promptOf(index);
  if (prompt.status !== 'sending') return;
  Object.assign(prompt, { promptId, conversationId, status: 'queued' });
  job.enter('following', acceptedAtMs);
  if (job.carried.reachedAtMs.prompted === undefined) job.reached('prompted', job.carried.sinceMs);
}
