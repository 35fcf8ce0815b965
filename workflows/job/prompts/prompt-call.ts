/** The call that sends one prompt of a job. It may also follow the prompt to its end. */
import { CancellationScope, condition, workflowInfo } from '@temporalio/workflow';
import type { PromptEnd } from '../../../activities/prompt/end.js';
import type { PromptQuery } from '../../../activities/prompt/evidence.js';
import type { PromptEvidence } from '../../../activities/prompt/record.js';
import type { SendPromptInput } from '../../../activities/prompt/send.js';
import { followTaskQueue } from '../../../src/contract/workflow-safe/addresses.js';
import { bytesOf, cut, headOf, type Text } from '../../../src/contract/workflow-safe/stored-text.js';
import type { PromptStep } from '../../../src/protocol/job/job-input.js';
import { ContinueAsNewRequest } from '../../shared/continue-as-new.js';
import { effects, promptProxies, timeForSending } from '../../shared/proxies.js';
import { summaryOf } from '../../shared/text-in-summaries.js';
import type { JobPrompt } from '../carried-job.js';
import type { JobState } from '../job-state.js';
import { followSettings } from './follow-settings.js';
import { recordAccepted } from './record-accepted.js';

/** One prompt in flight. */
export interface Sending {
  readonly job: JobState;
  readonly prompt: JobPrompt;
  /** Its place in the job, from 0. */
  readonly index: number;
  readonly step: PromptStep;
  readonly query: PromptQuery;
  /** What earlier calls mean for the next call. */
  earlier: SendPromptInput['earlier'];
  /** True if the call also follows the prompt. */
  readonly follows: boolean;
  /** True if an earlier call may have sent the prompt. A refusal of a later call does not change this. */
  mayBeSent: boolean;
}

/** A prompt that the service has accepted. */
export interface Sent {
  readonly ids: PromptEvidence;
  /** Null if the prompt was not followed to its end. */
  readonly end: PromptEnd | null;
}

function callOf(sending: Sending): { readonly summary: string; readonly input: SendPromptInput } {
  const { step, query, earlier } = sending;
  const { conversationId } = query;
  const body = { ...step, ...(conversationId === null ? { new: true } : { conversationId }) };
  const isFirst = isFirstOfSandbox(sending) ? { isFirst: true } : {};
  return { summary: promptSummary(step.prompt), input: { query: { ...query, ...isFirst }, body, earlier } };
}

/** True if this run has just created the sandbox, and no call can have prompted in it. */
function isFirstOfSandbox({ job, index, earlier, mayBeSent }: Sending): boolean {
  const { isFound, isShared, wasReset } = job.carried;
  const isOwn = job.input.source.kind === 'create' && !isFound && !isShared && !wasReset;
  return isOwn && index === 0 && earlier === 'ask_record' && !mayBeSent;
}

export async function send(sending: Sending): Promise<Sent> {
  const { summary, input } = callOf(sending);
  const options = { summary, ...timeForSending(bytesOf(sending.step.prompt)) };
  return { ids: await effects.sendPrompt.executeWithOptions(options, [input]), end: null };
}

/** @throws ContinueAsNewRequest if the history is long and the prompt was accepted: the next run follows it */
export async function sendAndFollow(sending: Sending, isAccepted: () => boolean): Promise<Sent> {
  const { job, index } = sending;
  const { summary, input } = callOf(sending);
  const { sendAndFollowPrompt } = promptProxies(followTaskQueue(workflowInfo().taskQueue));
  const scope = new CancellationScope();
  const call = async () => {
    const follow = followSettings(job, index, 1);
    const { accepted, end } = await sendAndFollowPrompt.executeWithOptions({ summary }, [{ ...input, index, follow }]);
    recordAccepted(job, accepted);
    return { ids: accepted, end };
  };
  const calling = scope.run(call);
  const leave = async () => {
    try {
      await condition(() => isAccepted() && job.mustContinueAsNew());
    } catch {
      // Despite a cancel, the outcome of the call must be known.
      return calling;
    }
    throw new ContinueAsNewRequest();
  };
  try {
    return await Promise.race([calling, scope.run(leave)]);
  } finally {
    scope.cancel();
  }
}

/** The first line of a prompt, at most 80 characters, if summaries may show it. */
export function promptSummary(text: Text): string {
  return summaryOf(cut(headOf(text, 500).trim().split('\n', 1)[0] ?? '', 80), 'prompt');
}
