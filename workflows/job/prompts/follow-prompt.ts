/** Follows a prompt until it ends or the job continues as new. */
import { CancellationScope, condition, workflowInfo } from '@temporalio/workflow';
import type { PromptEnd } from '../../../activities/prompt/end.js';
import type { FollowPromptInput } from '../../../activities/prompt/follow.js';
import { followTaskQueue } from '../../../src/contract/workflow-safe/addresses.js';
import { ContinueAsNewRequest } from '../../shared/continue-as-new.js';
import { followProxies } from '../../shared/proxies.js';
import { retryRefusals } from '../../shared/retry-refusals.js';
import type { JobPrompt, JobState } from '../job-state.js';
import { answerRoom } from '../truncate-result.js';
import { promptQuery, type SentPrompt } from './prompt-query.js';
import { promptSummary } from './send-prompt.js';

/**
 * Waits for the end of a prompt. Safe to repeat.
 * @param sideBySide true if conversations run in parallel
 * @throws ContinueAsNewRequest if the history is long: the next run follows the prompt again
 */
export async function followPrompt(run: JobState, sent: SentPrompt, sideBySide: boolean): Promise<PromptEnd> {
  const prompt = promptOf(run, sent);
  const input = followInputOf(run, sent, sideBySide);
  const proxies = followProxies(followTaskQueue(workflowInfo().taskQueue));
  const scope = new CancellationScope();
  const follow = () =>
    retryRefusals(run, 'follow', () =>
      proxies.followPrompt.executeWithOptions({ summary: promptSummary(prompt.step.prompt) }, [input]),
    );
  const leave = async () => {
    await condition(run.mustContinueAsNew);
    throw new ContinueAsNewRequest();
  };
  try {
    return await Promise.race([scope.run(follow), scope.run(leave)]);
  } finally {
    scope.cancel();
  }
}

/** The input of the follow: how to identify the prompt at the service, and where to store its answer. */
export function followInputOf(run: JobState, sent: SentPrompt, sideBySide: boolean): FollowPromptInput {
  const { sandboxId, index } = sent;
  const prompt = promptOf(run, sent);
  const { workflowId, firstExecutionRunId } = workflowInfo();
  const { promptId, conversationId } = prompt;
  const { knownPromptIds, recordKey, isOwnSandbox } = promptQuery(run, { sandboxId, index, conversationId });
  return {
    ...{ sandboxId, promptId, conversationId, prompt: prompt.step.prompt, knownPromptIds, recordKey, isOwnSandbox },
    resultKey: `${workflowId}/${firstExecutionRunId}/results/${index}.txt`,
    answerBytes: answerRoom(run.prompts, { waiting: sideBySide ? run.input.prompts.length : 1 }),
    // In a shared sandbox, conversations of others also keep the state at running.
    sideBySide: sideBySide || !isOwnSandbox,
    readLagMs: run.timing.readLagMs,
  };
}

function promptOf(run: JobState, { index }: SentPrompt): JobPrompt {
  const prompt = run.prompts[index];
  if (!prompt) throw new RangeError(`The job has no prompt ${index}`);
  return prompt;
}
