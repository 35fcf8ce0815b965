/**
 * Reads whether a prompt has ended: by its id where the service gave one, by the events of its conversation where it
 * did not (trap S2). The one adapter between the two.
 */
import { ApiError, type SandboxClient } from '../../src/client/index.js';
import type { SandboxHistoryEvent } from '../../src/contract/records.js';
import type { Attempt } from '../retry/attempt.js';
import { isQueued } from './evidence.js';
import type { FollowPromptInput, PromptEnd } from './follow.js';
import { readHistory } from './history.js';
import { newTo, type PromptRecord } from './record.js';

export type PromptEndSeen = Omit<PromptEnd, 'sandboxState' | 'resultRef'>;

/** Which prompt of a history it is. */
export type PromptInHistory = Pick<FollowPromptInput, 'promptId' | 'prompt' | 'knownPromptIds'> & {
  /** What was there before it; null where no record was made. */
  readonly record: Pick<PromptRecord, 'seen' | 'seenAll'> | null;
};

const endStatuses: Readonly<Record<string, string>> = {
  'prompt.completed': 'completed',
  'prompt.failed': 'failed',
  'prompt.interrupted': 'interrupted',
};

/**
 * What is known of the prompt now; undefined when nothing is.
 * @param readRecord asked only where the prompt must be told from others by what was there before it
 */
export async function readPromptEnd(
  client: SandboxClient,
  input: FollowPromptInput,
  options: { readonly attempt: Attempt; readonly readRecord: () => Promise<PromptRecord | null> },
): Promise<PromptEndSeen | undefined> {
  const { sandboxId, promptId, conversationId } = input;
  const { attempt, readRecord } = options;
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
  const events = await readHistory(client, sandboxId, { conversationId, attempt });
  return promptEndOfEvents(events, { ...input, record: await readRecord() });
}

/** What the history of a conversation says about a prompt; undefined where it does not hold it. */
export function promptEndOfEvents(
  events: readonly SandboxHistoryEvent[],
  input: PromptInHistory,
): PromptEndSeen | undefined {
  const queued = beginOf(events, input);
  if (!queued) return undefined;
  const promptId = queued.promptId ?? null;
  const ofConversation = events.filter((event) => event.conversationId === queued.conversationId);
  const own =
    promptId === null ? turnOf(ofConversation, queued) : ofConversation.filter((event) => event.promptId === promptId);
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

function beginOf(events: readonly SandboxHistoryEvent[], input: PromptInHistory): SandboxHistoryEvent | undefined {
  const { promptId, prompt, knownPromptIds, record } = input;
  const byId = events.find(
    (event) => event.type === 'prompt.queued' && promptId !== null && event.promptId === promptId,
  );
  if (byId) return byId;
  return newTo(
    record,
    events.filter((event) => isQueued(event, prompt)),
  ).find(({ promptId: of }) => of == null || (promptId === null && !knownPromptIds.includes(of)));
}

/** Events without prompt ids that are of one prompt: those of a conversation run one after the other, in order. */
function turnOf(events: readonly SandboxHistoryEvent[], queued: SandboxHistoryEvent): SandboxHistoryEvent[] {
  const waiting: SandboxHistoryEvent[] = [];
  const own: SandboxHistoryEvent[] = [];
  for (const event of events) {
    if (event.promptId != null) continue;
    if (event.type === 'prompt.queued') {
      waiting.push(event);
      continue;
    }
    if (waiting[0] === queued) own.push(event);
    if (endStatuses[event.type] !== undefined && waiting.shift() === queued) break;
  }
  return own;
}
