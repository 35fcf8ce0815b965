/** Reads the history of a sandbox, or of one of its conversations, oldest first: whole, or after one of its events. */
import { eventPages } from '../../src/client/event-pages.js';
import { ApiError, type ListEventsQuery, type SandboxClient } from '../../src/client/index.js';
import type { SandboxHistoryEvent } from '../../src/contract/records/sandbox-records.js';
import { maxListBytes } from '../../src/contract/workflow-safe/limits.js';
import type { Attempt } from '../retry/attempt.js';

export interface HistoryOptions {
  /** Null for the whole sandbox. */
  readonly conversationId: string | null;
  /** Id of the event after which the read begins. Default: the whole history. */
  readonly after?: string;
  readonly attempt: Attempt;
  /** Time limit of each call, in ms. Default: the client's. */
  readonly timeoutMs?: number;
  /** When the last call must have ended, in ms since the epoch. Default: no limit. */
  readonly untilMs?: number;
  /** Continues if the activity is cancelled. Default: false. */
  readonly throughCancel?: boolean;
  /** Called after each read, with what could not be read. */
  readonly onUnread?: (unread: UnreadHistory) => void;
}

export interface UnreadHistory {
  /** Number of rows that could not be read. */
  readonly rows: number;
  /** True if there are pages that could not be reached, or that are too much to read. */
  readonly isCut: boolean;
}

/**
 * Limit of pages: 100,000 events if a page holds 1,000. Newer events are not read. Neither are those after the first
 * 128 MiB.
 */
const maxPages = 100;
/**
 * Statuses with which a service may refuse, or fail at, an unknown event id. If the status has another cause, the read
 * of the whole history will fail too.
 */
const refusals: ReadonlySet<number> = new Set([400, 404, 410, 422, 500, 501]);

/** Reads to the last page, whatever the order of the history is. A service that sends the first page again ends it. */
export async function readHistory(
  client: SandboxClient,
  sandboxId: string,
  options: HistoryOptions,
): Promise<SandboxHistoryEvent[]> {
  const { conversationId, attempt, throughCancel = false, onUnread } = options;
  let events: SandboxHistoryEvent[] = [];
  let rows = 0;
  let isCut = false;
  let pages = 0;
  let bytes = 0;
  const onBodyRead = (size: number) => {
    bytes += size;
  };
  const filter: ListEventsQuery = conversationId === null ? {} : { conversation: conversationId };
  const query = options.after === undefined ? filter : { ...filter, after: options.after };
  const read = eventPages(query, (asked, counting) =>
    client.listEvents(sandboxId, asked, {
      ...counting,
      eachPage: (readPage) => {
        const reading = { timeoutMs: timeLimitOf(options), onBodyRead };
        return attempt.call((signal) => readPage(throughCancel ? reading : { ...reading, signal }));
      },
    }),
  );
  for await (const page of read) {
    events = page.isOlder ? [...page.events, ...events] : [...events, ...page.events];
    rows += page.unreadRows;
    pages += 1;
    const isTooMuch = pages === maxPages || bytes > maxListBytes;
    isCut = page.next === undefined ? page.saysMore : isTooMuch;
    if (isTooMuch) break;
  }
  onUnread?.({ rows, isCut });
  return events;
}

/**
 * Reads the events after the event with the id `after`, so that the time of a read does not grow with the conversation.
 * The caller knows that there is a prompt after it. Returns null if the service refuses the id, or if its answer
 * contains no prompt. The caller must then read the whole history.
 */
export async function readHistoryAfter(
  client: SandboxClient,
  sandboxId: string,
  options: HistoryOptions & { readonly after: string },
): Promise<SandboxHistoryEvent[] | null> {
  try {
    const events = await readHistory(client, sandboxId, options);
    // A service without paging sends the whole history.
    const later = events.slice(events.findIndex(({ id }) => id === options.after) + 1);
    return later.some(({ type }) => type === 'prompt.queued') ? later : null;
  } catch (error) {
    if (error instanceof ApiError && refusals.has(error.status)) return null;
    throw error;
  }
}

function timeLimitOf({ timeoutMs, untilMs }: HistoryOptions): number | undefined {
  if (untilMs === undefined) return timeoutMs;
  return Math.max(1, Math.min(timeoutMs ?? Number.POSITIVE_INFINITY, untilMs - Date.now()));
}
