/** Which prompt it is that a job sends: how it is told from others, and where its record is. */
import { workflowInfo } from '@temporalio/workflow';
import type { PromptQuery } from '../../../activities/prompt/evidence.js';
import { fanoutPrefix } from '../../../src/contract/fanout-addresses.js';
import type { Text } from '../../../src/contract/texts.js';
import type { JobState } from '../state.js';

/** Others of the same text are told by their ids where the history lags; so many are enough. */
const maxKnown = 100;

/**
 * @param conversationId the one that it is sent to; null for a new one
 */
export function promptQuery(run: JobState, index: number, conversationId: string | null): PromptQuery {
  const { sandbox, input } = run;
  const prompt = run.prompts[index];
  const sandboxId = sandbox?.id ?? '';
  const equal = run.prompts.filter(
    (other) => other !== prompt && prompt && isEqual(other.step.prompt, prompt.step.prompt),
  );
  const isOwnSandbox = input.source.kind !== 'existing';
  return {
    sandboxId,
    conversationId,
    knownPromptIds: lastOf(equal.map(({ promptId }) => promptId)),
    knownConversationIds: lastOf(run.prompts.map((other) => (other === prompt ? null : other.conversationId))),
    provider: prompt?.step.provider,
    model: prompt?.step.model,
    recordKey: promptRecordKey(run, sandboxId, index),
    isOwnSandbox,
    sandboxMadeAt: isOwnSandbox ? (sandbox?.createdAt ?? null) : null,
  };
}

/** The same through resets of a job and through runs of an item. A sandbox is of one generation, so its id names that too. */
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

function isEqual(a: Text, b: Text): boolean {
  return typeof a === 'string' || typeof b === 'string' ? a === b : a.sha256 === b.sha256;
}
