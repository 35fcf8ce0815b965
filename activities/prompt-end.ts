/**
 * Reads whether a prompt has ended: by its id where the service gave one, by the events of its conversation where it
 * did not (trap S2). The one adapter between the two.
 */
import { ApiError, type SandboxClient } from '../src/client/index.js';
import type { SandboxHistoryEvent } from '../src/contract/records.js';
import type { Attempt } from './calls.js';
import type { FollowPromptInput, PromptEnd } from './follow-prompt.js';
import { isSameText } from './texts.js';

type End = Omit<PromptEnd, 'sandboxState' | 'resultRef'>;

const endStatuses: Readonly<Record<string, string>> = {
  'prompt.completed': 'completed',
  'prompt.failed': 'failed',
  'prompt.interrupted': 'interrupted',
};

/** What is known of the prompt now; undefined when nothing is. */
export async function readPromptEnd(
  client: SandboxClient,
  input: FollowPromptInput,
  attempt: Attempt,
): Promise<End | undefined> {
  const { sandboxId, promptId, conversationId } = input;
  if (promptId !== null) {
    try {
      const { prompt } = await attempt.call((signal) => client.getPrompt(sandboxId, promptId, { signal }));
      return {
        promptId,
        status: prompt.status,
        result: prompt.result ?? null,
        error: prompt.error ?? null,
        queuedAt: prompt.queuedAt ?? null,
        startedAt: prompt.startedAt ?? null,
        endedAt: prompt.endedAt ?? null,
      };
    } catch (error) {
      // The record of a prompt is an assumption: a service may give an id and have no record under it.
      if (!(error instanceof ApiError && error.typed && error.status === 404)) throw error;
    }
  }
  const filter = conversationId === null ? {} : { conversation: conversationId };
  const { events } = await attempt.call((signal) => client.listEvents(sandboxId, filter, { signal }));
  return promptEndOfEvents(events, input);
}

/** What the history of a conversation says about a prompt; undefined where it does not hold it. */
export function promptEndOfEvents(
  events: readonly SandboxHistoryEvent[],
  input: Pick<FollowPromptInput, 'promptId' | 'prompt' | 'knownPromptIds'>,
): End | undefined {
  const begin = events.findIndex((event) => isBegin(event, input));
  const queued = events[begin];
  if (!queued) return undefined;
  const promptId = queued.promptId ?? null;
  const own = events
    .slice(begin)
    .filter((event) => event.conversationId === queued.conversationId && (event.promptId ?? null) === promptId);
  const ended = own.find((event) => endStatuses[event.type] !== undefined);
  const said = own.filter((event) => event.type === 'agent.message').at(-1)?.data?.text;
  const reason = ended?.data?.error;
  return {
    promptId,
    status: ended ? (endStatuses[ended.type] ?? 'running') : 'running',
    result: typeof said === 'string' ? said : null,
    error: typeof reason === 'string' ? reason : null,
    queuedAt: queued.createdAt,
    startedAt: own.find((event) => event.type === 'prompt.started')?.createdAt ?? null,
    endedAt: ended?.createdAt ?? null,
  };
}

function isBegin(
  event: SandboxHistoryEvent,
  input: Pick<FollowPromptInput, 'promptId' | 'prompt' | 'knownPromptIds'>,
): boolean {
  if (event.type !== 'prompt.queued') return false;
  if (input.promptId !== null && event.promptId != null) return event.promptId === input.promptId;
  if (event.promptId != null && input.knownPromptIds.includes(event.promptId)) return false;
  return isSameText(input.prompt, event.data?.prompt);
}
