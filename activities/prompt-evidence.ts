/** Looks in the history of a sandbox for proof that a prompt was accepted. */
import type { SandboxClient } from '../src/client/index.js';
import type { SandboxHistoryEvent } from '../src/contract/records.js';
import type { Text } from '../src/contract/texts.js';
import type { Attempt } from './calls.js';
import { isSameText } from './texts.js';

export interface PromptEvidenceQuery {
  readonly sandboxId: string;
  /** The prompt's exact text, or its digest. */
  readonly prompt: Text;
  /** The conversation that it was sent to; null for a new one. */
  readonly conversationId: string | null;
  /** Prompts and conversations that are known to be others. */
  readonly knownPromptIds: readonly string[];
  readonly knownConversationIds: readonly string[];
  /** When the step that sends the prompt began, in ms since the epoch. */
  readonly beganAtMs: number;
  /** True when other people or jobs may prompt in the same sandbox. */
  readonly shared: boolean;
  /** Takes the oldest where several fit: for prompts of one job alone, sent one after the other. Default false. */
  readonly oldest?: boolean;
}

export interface PromptEvidence {
  readonly promptId: string | null;
  readonly conversationId: string | null;
}

const clockSkewMs = 60_000;

/**
 * The prompt that the history holds, or null. Where more than one fits, none is taken unless the oldest was asked for:
 * adopting the wrong one would report somebody else's answer.
 */
export async function findPromptEvidence(
  client: SandboxClient,
  query: PromptEvidenceQuery,
  attempt: Attempt,
): Promise<PromptEvidence | null> {
  const filter = query.conversationId === null ? {} : { conversation: query.conversationId };
  const { events } = await attempt.call((signal) => client.listEvents(query.sandboxId, filter, { signal }));
  const matches = matchingPrompts(events, query);
  const [match] = query.oldest
    ? matches.toSorted((a, b) => Date.parse(a.createdAt) - Date.parse(b.createdAt))
    : matches;
  if (!match || (matches.length > 1 && !query.oldest)) return null;
  return { promptId: match.promptId ?? null, conversationId: match.conversationId ?? null };
}

/** The `prompt.queued` events that can be the prompt that was sent. */
export function matchingPrompts(
  events: readonly SandboxHistoryEvent[],
  query: PromptEvidenceQuery,
): readonly SandboxHistoryEvent[] {
  return events.filter((event) => {
    if (event.type !== 'prompt.queued' || !isSameText(query.prompt, event.data?.prompt)) return false;
    if (event.promptId != null && query.knownPromptIds.includes(event.promptId)) return false;
    const isNew = query.conversationId === null;
    if (isNew && event.conversationId != null && query.knownConversationIds.includes(event.conversationId))
      return false;
    return !query.shared || Date.parse(event.createdAt) >= query.beganAtMs - clockSkewMs;
  });
}
