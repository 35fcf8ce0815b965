/** Builds the query that identifies a prompt of a job, and the key of its record. */
import { workflowInfo } from '@temporalio/workflow';
import type { PromptQuery } from '../../../activities/prompt/evidence.js';
import { fanoutPrefix } from '../../../src/addresses/fanout-addresses.js';
import type { Text } from '../../../src/protocol/stored-text.js';
import type { JobState } from '../job-state.js';

/** Limit of the ids of other prompts with the same text. They distinguish these prompts while the history lags. */
const maxKnown = 100;

export interface SentPrompt {
  readonly sandboxId: string;
  /** Place of the prompt in the job, from 0. */
  readonly index: number;
}

export interface PromptPlace extends SentPrompt {
  /** The conversation that receives the prompt; null for a new one. */
  readonly conversationId: string | null;
}

export function promptQuery(job: JobState, { sandboxId, index, conversationId }: PromptPlace): PromptQuery {
  const { sandbox, input, steps } = job;
  const { prompt, provider, model } = job.stepOf(index);
  const others = job.carried.prompts.filter((_, at) => at !== index);
  const equal = job.carried.prompts.filter((_, at) => at !== index && isEqual(steps[at]?.prompt, prompt));
  const isOwnSandbox = input.source.kind !== 'existing';
  return {
    sandboxId,
    conversationId,
    knownPromptIds: lastOf(equal.map(({ promptId }) => promptId)),
    knownConversationIds: lastOf(others.map((other) => other.conversationId)),
    provider,
    model,
    recordKey: promptRecordKey(job, sandboxId, index),
    ...previousIn(job, { sandboxId, index, conversationId }),
    isOwnSandbox,
    sandboxMadeAt: isOwnSandbox ? (sandbox?.createdAt ?? null) : null,
  };
}

/** The key of the record of the previous prompt in the same conversation, if there is one. */
function previousIn(
  job: JobState,
  { sandboxId, index, conversationId }: PromptPlace,
): Pick<PromptQuery, 'previousRecordKey'> {
  if (conversationId === null) return {};
  const previous = job.carried.prompts
    .slice(0, index)
    .findLastIndex((prompt) => prompt.conversationId === conversationId);
  return previous === -1 ? {} : { previousRecordKey: promptRecordKey(job, sandboxId, previous) };
}

/**
 * The key stays the same after a reset of the job and in every run of the item. It contains the sandbox id, so each
 * generation has its own.
 */
export function promptRecordKey({ input }: JobState, sandboxId: string, index: number): string {
  const { deployment, origin } = input;
  const { workflowId, firstExecutionRunId } = workflowInfo();
  const owner = origin
    ? `${fanoutPrefix(deployment, origin.batchId, origin.key)}/sent/${origin.step}`
    : `${workflowId}/${firstExecutionRunId}/sent`;
  return `${owner}/${sandboxId}/${index}`;
}

function lastOf(ids: readonly (string | null)[]): string[] {
  return [...new Set(ids.flatMap((id) => id ?? []))].slice(-maxKnown);
}

function isEqual(a: Text | undefined, b: Text): boolean {
  if (a === undefined) return false;
  return typeof a === 'string' || typeof b === 'string' ? a === b : a.sha256 === b.sha256;
}
