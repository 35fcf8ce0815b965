/** Leaves out what a conversation has from before the job: a job may continue the conversation of another one. */
import type { SandboxHistoryEvent } from '../../contract/records/sandbox-records.js';
import type { KnownOfJob } from './entry.js';

/**
 * Returns a filter for the pages of one history, in order. A conversation begins for the job with the first event of one
 * of its prompts. Events that name no prompt are kept, and so are all events of a conversation if the job does not know
 * the id of its first prompt there.
 */
export function createOwnEvents(): (
  events: readonly SandboxHistoryEvent[],
  { prompts }: Pick<KnownOfJob, 'prompts'>,
) => SandboxHistoryEvent[] {
  const begun = new Set<string>();
  return (events, { prompts }) => {
    const ids = new Set(prompts.flatMap(({ promptId }) => promptId ?? []));
    const isBeginKnown = (conversationId: string) =>
      prompts.find((prompt) => prompt.conversationId === conversationId)?.promptId != null;
    return events.filter(({ promptId, conversationId }) => {
      if (conversationId == null || promptId == null || !isBeginKnown(conversationId)) return true;
      if (ids.has(promptId)) begun.add(conversationId);
      return begun.has(conversationId);
    });
  };
}
