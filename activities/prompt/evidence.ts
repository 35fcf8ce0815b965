/** Searches the history of a sandbox for proof that a prompt was accepted. */
import type { SandboxClient } from '../../src/client/index.js';
import type { SandboxHistoryEvent } from '../../src/contract/records/sandbox-records.js';
import type { SourceState } from '../../src/contract/workflow-safe/source-state.js';
import { endStatuses } from '../../src/contract/workflow-safe/states.js';
import type { Text } from '../../src/protocol/stored-text.js';
import type { Attempt } from '../retry/attempt.js';
import { isSameText } from '../store/texts.js';
import { onlyAsAsked } from './as-asked.js';
import { type HistoryOptions, readHistory, readHistoryAfter, type UnreadHistory } from './history.js';
import { type HistoryBefore, newTo, type PromptEvidence, type PromptRecord } from './record.js';

/** Identifies a prompt without its text, which is large and travels separately. */
export interface PromptQuery {
  readonly sandboxId: string;
  /** The conversation that receives the prompt; null for a new one. */
  readonly conversationId: string | null;
  /** Ids of this job's other prompts with the same text. */
  readonly knownPromptIds: readonly string[];
  /** Conversations of this job's other prompts. */
  readonly knownConversationIds: readonly string[];
  /** The requested provider, or its alias. If it is undefined, the service chooses, and the search does not compare it. */
  readonly provider?: string;
  readonly model?: string;
  /** Key of the prompt's record in the result store. */
  readonly recordKey: string;
  /** Key of the record of the job's previous prompt in the same conversation; absent if there is none. */
  readonly previousRecordKey?: string;
  /** False if others use the same sandbox. No prompt is then adopted, because its owner is unknown. */
  readonly isOwnSandbox: boolean;
  /** True if nobody can have prompted in the sandbox yet: it was created for this prompt. Default: false. */
  readonly isFirst?: boolean;
  /** The state that the sandbox was forked from for this prompt, so that only the history of its source can be in it. */
  readonly firstOfFork?: SourceState;
  /** When the sandbox was created: older events belong to the source of the fork. Null if unknown. */
  readonly sandboxMadeAt: string | null;
}

export interface EvidenceOptions {
  readonly client: SandboxClient;
  readonly attempt: Attempt;
  /** The prompt's exact text, or its digest. */
  readonly text: Text;
  /** The record of the state before the prompt was sent; null if there is none. */
  readonly record: PromptRecord | null;
}

/** Time limit of each call of the search, in ms. The search must end long before the attempt does. */
const lookTimeoutMs = 8_000;
/** How often the history is read at most while some of its events are unreadable. */
const recordReads = 3;

/**
 * Searches the history for the prompt among the events that are not in the record. Returns null if no event or several
 * events match, because a wrong match would report somebody else's answer. Always returns null in a shared sandbox.
 */
export async function findPromptEvidence(query: PromptQuery, options: EvidenceOptions): Promise<PromptEvidence | null> {
  if (!query.isOwnSandbox) return null;
  const found = await findOnce(query, options);
  // A history does not name its sandbox, so the history of another sandbox would look valid. Therefore two reads must
  // agree.
  const again = found && (await findOnce(query, options));
  const isSame = again && again.id === found.id && again.promptId === found.promptId;
  if (!isSame || again.conversationId !== found.conversationId) return null;
  return { promptId: found.promptId ?? null, conversationId: found.conversationId ?? null };
}

async function findOnce(
  query: PromptQuery,
  { client, attempt, text, record }: EvidenceOptions,
): Promise<SandboxHistoryEvent | null> {
  const { sandboxId, conversationId } = query;
  const reading = { conversationId, attempt, timeoutMs: lookTimeoutMs, throughCancel: true };
  const candidates = newPrompts(await readNewHistory(client, sandboxId, reading, record), { query, text, record });
  return onlyAsAsked(candidates, query, { client, attempt, timeoutMs: lookTimeoutMs });
}

/**
 * Reads the history from the event at which the read for the record began, or the whole history. The result may contain
 * events that are in the record.
 */
export async function readNewHistory(
  client: SandboxClient,
  sandboxId: string,
  options: HistoryOptions,
  record: Pick<PromptRecord, 'since'> | null,
): Promise<readonly SandboxHistoryEvent[]> {
  return (await readFrom(client, sandboxId, options, record?.since ?? null)).events;
}

/**
 * Reads the events for the record: those that queued a prompt, in the prompt's conversation if it has one.
 * @param previous the record of the job's previous prompt in this conversation; null if there is none
 */
export async function readQueuedPrompts(
  client: SandboxClient,
  query: PromptQuery,
  options: Omit<HistoryOptions, 'conversationId' | 'after' | 'onUnread'> & { readonly previous: PromptRecord | null },
): Promise<HistoryBefore> {
  const { previous, ...calling } = options;
  for (let reads = 1; ; reads += 1) {
    let unreadRows = 0;
    let isPart = false;
    const onUnread = ({ rows, isCut }: UnreadHistory) => {
      unreadRows += rows;
      isPart ||= rows > 0 || isCut;
    };
    const reading = { ...calling, conversationId: query.conversationId, onUnread };
    const { since, events } = await readFrom(client, query.sandboxId, reading, previous?.rest ?? null);
    // An event that is unreadable now and readable later would look like a new prompt. An event that stays unreadable
    // matches no prompt, so it does no harm.
    if (unreadRows === 0 || reads === recordReads) {
      const queued = events.filter(({ type }) => type === 'prompt.queued');
      return { since, rest: unreadRows === 0 ? (restOf(events) ?? since) : since, queued, isPart };
    }
  }
}

async function readFrom(
  client: SandboxClient,
  sandboxId: string,
  reading: HistoryOptions,
  after: string | null,
): Promise<{ readonly since: string | null; readonly events: readonly SandboxHistoryEvent[] }> {
  const later = after === null ? null : await readHistoryAfter(client, sandboxId, { ...reading, after });
  if (later) return { since: after, events: later };
  return { since: null, events: await readHistory(client, sandboxId, reading) };
}

/** Id of the newest event at which no prompt was queued or running; null if there is none. */
function restOf(events: readonly SandboxHistoryEvent[]): string | null {
  let rest: string | null = null;
  let open = 0;
  for (const { id, type } of events) {
    if (type === 'prompt.queued') open += 1;
    if (endStatuses[type] !== undefined) open = Math.max(0, open - 1);
    if (open === 0) rest = id;
  }
  return rest;
}

export function isQueued(event: SandboxHistoryEvent, text: Text): boolean {
  return event.type === 'prompt.queued' && isSameText(text, event.data?.prompt);
}

/** The events of `history`, oldest first, that may have queued the prompt. */
export function newPrompts(
  history: readonly SandboxHistoryEvent[],
  options: { readonly query: PromptQuery; readonly text: Text; readonly record: PromptRecord | null },
): SandboxHistoryEvent[] {
  const { query, text, record } = options;
  const { conversationId, knownPromptIds, knownConversationIds, sandboxMadeAt } = query;
  const madeAtMs = Date.parse(sandboxMadeAt ?? '') || 0;
  const begun = firstOfTheirConversations(history);
  const queued = history.filter(({ type }) => type === 'prompt.queued');
  return newTo(record, queued).filter((event) => {
    if (!isQueued(event, text)) return false;
    if (event.promptId != null && knownPromptIds.includes(event.promptId)) return false;
    if (Date.parse(event.createdAt ?? '') < madeAtMs) return false;
    const of = event.conversationId ?? null;
    if (of === null) return true;
    return conversationId === null ? begun.has(event) && !knownConversationIds.includes(of) : of === conversationId;
  });
}

/** The first queued prompt of each conversation. A prompt that starts a new conversation must be among these. */
function firstOfTheirConversations(history: readonly SandboxHistoryEvent[]): ReadonlySet<SandboxHistoryEvent> {
  const first = new Map<string | null | undefined, SandboxHistoryEvent>();
  for (const event of history) {
    if (event.type === 'prompt.queued' && !first.has(event.conversationId)) first.set(event.conversationId, event);
  }
  return new Set(first.values());
}
