/**
 * Reads whether a prompt has ended: by its id if the service returned one, otherwise by the events of its conversation
 * (trap S2). Only this module knows both ways.
 */
import type { SandboxClient } from '../../src/client/index.js';
import { isMissing, isUnreadable } from '../../src/client/missing.js';
import type { Prompt, SandboxHistoryEvent } from '../../src/contract/records/sandbox-records.js';
import type { DegradedSandbox, SandboxView } from '../../src/contract/workflow-safe/sandbox-view.js';
import { endStatuses, isFinalPromptStatus, promptStatuses } from '../../src/contract/workflow-safe/states.js';
import type { PromptResult } from '../../src/protocol/job/job-result.js';
import type { Text } from '../../src/protocol/stored-text.js';
import { cut } from '../../src/texts/length.js';
import type { Attempt } from '../retry/attempt.js';
import { isQueued, readNewHistory } from './evidence.js';
import type { UnreadHistory } from './history.js';
import { newTo, type PromptRecord } from './record.js';

/** The prompt whose end is read. */
export interface FollowedPrompt {
  readonly sandboxId: string;
  readonly promptId: string | null;
  readonly conversationId: string | null;
  /** The text or digest of the prompt. Without an id, the prompt is found in the history by it. */
  readonly prompt: Text;
  /** Ids of this job's other prompts with the same text, to exclude these prompts if the history names them. */
  readonly knownPromptIds: readonly string[];
}

/** A read of a sandbox. */
export interface SeenSandbox {
  readonly view: SandboxView;
  /** When the read began, in ms since the epoch. */
  readonly atMs: number;
}

export interface PromptEnd
  extends Pick<
    PromptResult,
    'promptId' | 'result' | 'resultRef' | 'error' | 'queuedAt' | 'startedAt' | 'endedAt' | 'note'
  > {
  /**
   * A final status; `sandbox_lost` if the sandbox is no longer usable and the prompt has not ended; `not_found` if no
   * read shows the prompt for longer than a read may lag. The ids in the answer then belonged to another prompt.
   */
  readonly status: string;
  /** State of the sandbox once the prompt had ended or the sandbox was lost; null if the sandbox does not exist. */
  readonly sandboxState: string | null;
  /** The newest observation of the sandbox as alive but not fully reachable; absent if there was none. */
  readonly degraded?: DegradedSandbox;
  /** The sandbox as the last shared read before the end shows it; absent if that read omits it. */
  readonly sandbox?: SeenSandbox;
}

export type PromptEndSeen = Omit<PromptEnd, 'sandboxState' | 'degraded' | 'sandbox' | 'resultRef'>;

/** What the reads of a prompt show. */
export interface PromptSeen {
  /** Undefined if they do not show the prompt. */
  readonly end: PromptEndSeen | undefined;
  /** What could not be read or understood, one text for each part. */
  readonly unread: readonly string[];
}

/** Identifies a prompt in a history. */
export type PromptInHistory = Pick<FollowedPrompt, 'promptId' | 'prompt' | 'knownPromptIds'> & {
  /** The record of the state before the prompt; null if there is none. */
  readonly record: Pick<PromptRecord, 'seen' | 'seenAll' | 'unread'> | null;
};

/**
 * Reads the current state of the prompt. If its record cannot be read, the history shows it. That prompts can be read by
 * id is an assumption: a service may return an id that it does not know later.
 * @param readRecord called only if the record is needed to distinguish the prompt from earlier ones
 * @throws as the client, unless a repeat would end the same
 */
export async function readPromptEnd(
  client: SandboxClient,
  input: FollowedPrompt,
  options: { readonly attempt: Attempt; readonly readRecord: () => Promise<PromptRecord | null> },
): Promise<PromptSeen> {
  const { sandboxId, promptId, conversationId } = input;
  const { attempt, readRecord } = options;
  const unread: string[] = [];
  const told = (error: unknown) => {
    if (!isUnreadable(error)) throw error;
    unread.push(error.message);
  };
  let shown: PromptEndSeen | undefined;
  if (promptId !== null) {
    try {
      const { prompt } = await attempt.call((signal) => client.getPrompt(sandboxId, promptId, { signal }));
      shown = endOfRecord(promptId, prompt);
      // A record without a field for the answer: the history may have it.
      if (prompt.result !== undefined || shown.status !== 'completed') return { end: shown, unread };
    } catch (error) {
      if (!isMissing(error)) told(error);
    }
  }
  const record = await readRecord();
  let lacking: readonly string[] = [];
  const onUnread = ({ rows, isCut }: UnreadHistory) => {
    const parts = [...(rows > 0 ? [rows === 1 ? '1 row' : `${rows} rows`] : []), ...(isCut ? ['further pages'] : [])];
    lacking = parts.map((part) => `${part} of the history of the sandbox`);
  };
  try {
    const events = await readNewHistory(client, sandboxId, { conversationId, attempt, onUnread }, record);
    const end = promptEndOfEvents(events, { ...input, record });
    if (shown) {
      const answered = { ...shown, result: end?.result ?? null };
      const isWhole = answered.result !== null && isFinalPromptStatus(end?.status ?? '');
      return { end: isWhole ? answered : withoutAnswer(answered), unread };
    }
    if (end && isFinalPromptStatus(end.status))
      return { end: lacking.length === 0 ? end : { ...end, note: noteOf(lacking) }, unread };
    unread.push(...lacking);
    const queued = events.filter(({ type }) => type === 'prompt.queued');
    if (events.length > 0 && queued.length === 0) unread.push('the types of the events of the history');
    const hasNoTexts = !end && queued.some(({ data }) => typeof data?.prompt !== 'string');
    if (hasNoTexts) unread.push('the texts of the prompts in the history');
    if (!end && record?.unread === true) unread.push('the history before the prompt');
    return { end, unread };
  } catch (error) {
    told(error);
    return { end: shown && withoutAnswer(shown), unread };
  }
}

function withoutAnswer(shown: PromptEndSeen): PromptEndSeen {
  return { ...shown, note: [shown.note, noteOf(['the answer of the prompt'])].filter(Boolean).join(' ') };
}

const maxNoteLength = 300;

/** One sentence for a person. */
export function noteOf(unread: readonly string[]): string {
  return cut(`This could not be read: ${unread.map((part) => part.replace(/\.$/, '')).join('; ')}.`, maxNoteLength);
}

/** Words of other vocabularies for the end of a prompt that has not completed. */
const failures = /fail|error|cancel|abort|interrupt|reject|refuse|expire|timed|kill|stop|terminat/i;

/** What the record says. A word for its status that sandflow does not know is final if the record has an end. */
function endOfRecord(promptId: string, prompt: Prompt): PromptEndSeen {
  const { status, result = null, error = null, queuedAt = null, startedAt = null, endedAt = null } = prompt;
  const seen = { promptId, status, result, error, queuedAt, startedAt, endedAt };
  const isListed = (promptStatuses as readonly string[]).includes(status);
  return isListed || endedAt === null ? seen : { ...seen, ...endOf(seen) };
}

/** How a prompt ended that has ended, although its status does not say so. */
export function endOf(seen: PromptEndSeen): Pick<PromptEnd, 'status' | 'error' | 'note'> {
  const { status, error } = seen;
  const note = `Its status was still "${status}" when it had ended.`;
  if (error === null && !failures.test(status)) return { status: 'completed', error, note };
  return { status: 'failed', error: error ?? note, note };
}

/**
 * The state of a prompt according to the history of its conversation; undefined if the history does not hold the
 * prompt.
 */
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
  // The last message may be a part of the answer only.
  const answer = ended?.data?.result ?? own.filter((event) => event.type === 'agent.message').at(-1)?.data?.text;
  const reason = ended?.data?.error;
  return {
    promptId,
    status: ended ? (endStatuses[ended.type] ?? 'running') : 'running',
    result: typeof answer === 'string' ? answer : null,
    error: typeof reason === 'string' ? reason : null,
    queuedAt: queued.createdAt ?? null,
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
    events.filter(({ type }) => type === 'prompt.queued'),
  ).find((event) => {
    const { promptId: of } = event;
    return isQueued(event, prompt) && (of == null || (promptId === null && !knownPromptIds.includes(of)));
  });
}

/**
 * The events of one prompt, for events without a prompt id. The prompts of a conversation run one after another, so the
 * order shows which prompt an event belongs to.
 */
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
