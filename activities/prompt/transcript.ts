/**
 * Stores the history of a job's conversations in the result store, so that it can be read after the sandbox was
 * deleted. See docs/maintainers/decisions/0034-a-transcript-is-stored-at-the-end.md.
 */
import { eventPages } from '../../src/client/event-pages.js';
import type { SandboxClient } from '../../src/client/index.js';
import type { SandboxHistoryEvent } from '../../src/contract/records/sandbox-records.js';
import { shortEvent } from '../../src/contract/records/short-event.js';
import { endStatuses } from '../../src/contract/workflow-safe/states.js';
import type { ResultStore } from '../../src/result-store/index.js';
import { storedJson } from '../../src/result-store/stored-json.js';
import type { StoredTranscript } from '../../src/result-store/stored-transcript.js';
import { type Attempt, repeatable } from '../retry/attempt.js';
import { putWithin } from '../store/put-within.js';

export interface TranscriptRequest {
  readonly sandboxId: string;
  /** The conversations of the job. Others may prompt in the same sandbox. */
  readonly conversationIds: readonly string[];
  /** Key of the transcript in the result store. */
  readonly key: string;
  /** Time limit of the reads, in ms, and also of the write to the store. The end of the sandbox waits for both. */
  readonly timeoutMs: number;
}

/** The largest page that the service gives: the history of most jobs takes one call. */
const pageSize = 1_000;
const maxPages = 5;
/** The longest transcript, in characters of JSON. */
const maxLength = 4 * 1024 * 1024;
/** If two attempts of an activity could not store the transcript, later attempts do not try again. */
const maxAttempts = 2;

/** Stores the transcript of a sandbox that the job keeps. Safe to repeat. A failure stores nothing. */
export function storeTranscriptActivity(client: SandboxClient, results: ResultStore) {
  return (request: TranscriptRequest): Promise<null> =>
    repeatable(async (attempt) => {
      await storeTranscript({ client, results, attempt }, request);
      return null;
    });
}

export interface TranscriptTools {
  readonly client: Pick<SandboxClient, 'listEvents'>;
  readonly results: Pick<ResultStore, 'put'>;
  readonly attempt: Pick<Attempt, 'attempt' | 'call'>;
}

/** Reads the history and stores it. Never throws: the end of a sandbox must not depend on it. */
export async function storeTranscript(tools: TranscriptTools, request: TranscriptRequest): Promise<void> {
  if (tools.attempt.attempt > maxAttempts) return;
  try {
    const transcript = await readTranscript(tools, request);
    if (transcript.events.length === 0) return;
    await putWithin(request.timeoutMs, tools.results, { key: request.key, content: storedJson(transcript) });
  } catch {
    // The job's own result still has its prompts and answers.
  }
}

async function readTranscript(
  { client, attempt }: TranscriptTools,
  { sandboxId, conversationIds, timeoutMs }: TranscriptRequest,
): Promise<StoredTranscript> {
  const untilMs = Date.now() + timeoutMs;
  const [conversation] = conversationIds;
  const filter = conversationIds.length === 1 ? { conversation } : {};
  let found: SandboxHistoryEvent[] = [];
  let length = 0;
  let unreadRows = 0;
  let pages = 0;
  let complete = false;
  const read = eventPages({ ...filter, limit: pageSize }, (query, counting) =>
    attempt.call((signal) =>
      client.listEvents(sandboxId, query, { ...counting, signal, timeoutMs: Math.max(1, untilMs - Date.now()) }),
    ),
  );
  for await (const { events, next, saysMore, ...page } of read) {
    const shorts: SandboxHistoryEvent[] = [];
    for (const event of events) {
      if (length >= maxLength || !isOf(conversationIds, event)) continue;
      const short = shortEvent(event);
      length += JSON.stringify(short).length;
      shorts.push(short);
    }
    found = page.isOlder ? [...shorts, ...found] : [...found, ...shorts];
    pages += 1;
    unreadRows += page.unreadRows;
    const isShort = events.length < pageSize && isEnd(events.at(-1));
    complete = length < maxLength && !saysMore && (next === undefined || isShort);
    if (complete || length >= maxLength || pages === maxPages) break;
  }
  const unread = unreadRows > 0 ? { unreadRows } : {};
  return { sandboxId, readAt: new Date().toISOString(), complete, ...unread, events: found };
}

/** True if it was the last event of a prompt. A job that ends sends no further prompt. */
function isEnd(event: SandboxHistoryEvent | undefined): boolean {
  return endStatuses[event?.type ?? ''] !== undefined;
}

function isOf(conversationIds: readonly string[], { conversationId }: SandboxHistoryEvent): boolean {
  if (conversationId == null) return conversationIds.length === 1;
  return conversationIds.includes(conversationId);
}
