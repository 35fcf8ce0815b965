/** How a prompt of a job is followed, and where its answer is stored. */
import { workflowInfo } from '@temporalio/workflow';
import type { FollowPromptInput } from '../../../activities/prompt/follow-prompt.js';
import type { JobState } from '../job-state.js';
import { answerRoom } from '../truncate-result.js';

/** @param waiting number of prompts whose answers are still to come */
export function followSettings(
  job: JobState,
  index: number,
  waiting: number,
): Pick<FollowPromptInput, 'resultKey' | 'answerBytes' | 'readLagMs'> {
  const { workflowId, firstExecutionRunId } = workflowInfo();
  return {
    resultKey: `${workflowId}/${firstExecutionRunId}/results/${index}.txt`,
    answerBytes: answerRoom(job.carried.prompts, { waiting }),
    readLagMs: job.timing.readLagMs,
  };
}
