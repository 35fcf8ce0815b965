/** The call that sends one prompt of a job. It may also follow the prompt to its end. */
import type { PromptEnd } from '../../../activities/prompt/end.js';
import type { PromptQuery } from '../../../activities/prompt/evidence.js';
import type { PromptEvidence } from '../../../activities/prompt/record.js';
import type { SendPromptInput } from '../../../activities/prompt/send.js';
import type { PromptStep } from '../../../src/protocol/job/job-input.js';
import { bytesOf, headOf, type Text } from '../../../src/protocol/stored-text.js';
import { cut } from '../../../src/texts/length.js';
import { effects, timeForSending } from '../../shared/activity-options.js';
import { cancelEarlyTimers } from '../../shared/shared-timer.js';
import { summaryOf } from '../../shared/text-in-summaries.js';
import type { JobPrompt } from '../carried-job.js';
import type { JobState } from '../job-state.js';
import { mayBeOfEarlierRun } from '../was-reset.js';
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
  /** True if the call also follows the prompt for a moment. */
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
  return { summary: promptSummary(step.prompt), input: { query: { ...query, ...firstOf(sending) }, body, earlier } };
}

/** What the sandbox can hold if this run has just made it, and no call can have prompted in it. */
function firstOf({ job, index, earlier, mayBeSent }: Sending): Pick<PromptQuery, 'isFirst' | 'firstOfFork'> {
  const { source, origin } = job.input;
  const isMade = source.kind !== 'existing' && !job.carried.isShared && !mayBeOfEarlierRun(job);
  if (!isMade || index !== 0 || earlier !== 'ask_record' || mayBeSent) return {};
  if (source.kind === 'create') return { isFirst: true };
  return origin?.startsFrom ? { firstOfFork: origin.startsFrom } : {};
}

export async function send(sending: Sending): Promise<Sent> {
  const { job, index, step, follows } = sending;
  const { summary, input } = callOf(sending);
  const options = { summary, ...timeForSending(bytesOf(step.prompt)) };
  if (!follows) return { ids: await effects.sendPrompt.executeWithOptions(options, [input]), end: null };
  const follow = followSettings(job, index, 1);
  const { accepted, end } = await effects.sendAndFollowPrompt.executeWithOptions(options, [{ ...input, follow }]);
  recordAccepted(job, index, accepted);
  if (end === null) cancelEarlyTimers();
  return { ids: accepted, end };
}

/** The first line of a prompt, at most 80 characters, if summaries may show it. */
export function promptSummary(text: Text): string {
  return summaryOf(cut(headOf(text, 500).trim().split('\n', 1)[0] ?? '', 80), 'prompt');
}
