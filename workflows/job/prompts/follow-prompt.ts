/** Follows a prompt until it ends or the job continues as new. */
import { CancellationScope, condition, workflowInfo } from '@temporalio/workflow';
import type { PromptEnd } from '../../../activities/prompt/end.js';
import type { FollowPromptInput } from '../../../activities/prompt/follow-prompt.js';
import { followTaskQueue } from '../../../src/addresses/addresses.js';
import { ContinueAsNewRequest } from '../../shared/continue-as-new.js';
import { followProxies } from '../../shared/proxies.js';
import { retryRefusals } from '../../shared/retry-refusals.js';
import type { JobPrompt } from '../carried-job.js';
import type { JobState } from '../job-state.js';
import { followSettings } from './follow-settings.js';
import { promptSummary } from './prompt-call.js';
import { promptQuery, type SentPrompt } from './prompt-query.js';

/**
 * Waits for the end of a prompt. Safe to repeat.
 * @param sideBySide true if conversations run in parallel
 * @throws ContinueAsNewRequest if the history is long: the next run follows the prompt again
 */
export async function followPrompt(job: JobState, sent: SentPrompt, sideBySide: boolean): Promise<PromptEnd> {
  const input = followInputOf(job, sent, sideBySide);
  const proxies = followProxies(followTaskQueue(workflowInfo().taskQueue));
  const scope = new CancellationScope();
  const follow = () =>
    retryRefusals(job, 'follow', () =>
      proxies.followPrompt.executeWithOptions({ summary: promptSummary(job.stepOf(sent.index).prompt) }, [input]),
    );
  const leave = async () => {
    await condition(job.mustContinueAsNew);
    throw new ContinueAsNewRequest();
  };
  try {
    return await Promise.race([scope.run(follow), scope.run(leave)]);
  } finally {
    scope.cancel();
  }
}

/** The input of the follow: how to identify the prompt at the service, and where to store its answer. */
export function followInputOf(job: JobState, sent: SentPrompt, sideBySide: boolean): FollowPromptInput {
  const { sandboxId, index } = sent;
  const { prompt } = job.stepOf(index);
  const { promptId, conversationId } = promptOf(job, sent);
  const { knownPromptIds, recordKey, isOwnSandbox } = promptQuery(job, { sandboxId, index, conversationId });
  return {
    ...{ sandboxId, promptId, conversationId, prompt, knownPromptIds, recordKey, isOwnSandbox },
    ...followSettings(job, index, sideBySide ? job.input.prompts.length : 1),
    // In a shared sandbox, conversations of others also keep the state at running.
    sideBySide: sideBySide || !isOwnSandbox,
  };
}

function promptOf(job: JobState, { index }: SentPrompt): JobPrompt {
  const prompt = job.carried.prompts[index];
  if (!prompt) throw new RangeError(`The job has no prompt ${index}`);
  return prompt;
}
