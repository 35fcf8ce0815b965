/** Reads the history of a sandbox, or of one of its conversations, oldest first: whole, or after one of its events. */
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
  /** Called with the number of unreadable events, if there are any. */
  readonly onLeftOut?: (events: number) => void;
}

/** The events that end a prompt, and the statuses that they give it. */
export const endStatuses: Readonly<Record<string, string>> = {
  'prompt.completed': 'completed',
  'prompt.failed': 'failed',
  'prompt.interrupted': 'interrupted',
};

/** No known service sends smaller pages, so a shorter answer is the last page. */
const smallestPage = 100;
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

/** Assumption: paging by `after`. A service without it sends the first page again, which ends the loop. */
export async function readHistory(
  client: SandboxClient,
  sandboxId: string,
  options: HistoryOptions,
): Promise<SandboxHistoryEvent[]> {
  const { conversationId, attempt, throughCancel = false, onLeftOut } = options;
  const filter: ListEventsQuery = conversationId === null ? {} : { conversation: conversationId };
  const byId = new Map<string, SandboxHistoryEvent>();
  let bytes = 0;
  const onBodyRead = (size: number) => {
    bytes += size;
  };
  let { after } = options;
  for (let page = 0; page < maxPages; page += 1) {
    const query = after === undefined ? filter : { ...filter, after };
    let leftOut = 0;
    const onRowsLeftOut = (rows: number) => {
      leftOut = rows;
    };
    const reading = { timeoutMs: timeLimitOf(options), onRowsLeftOut, onBodyRead };
    const { events } = await attempt.call((signal) =>
      client.listEvents(sandboxId, query, throughCancel ? reading : { ...reading, signal }),
    );
    if (leftOut > 0) onLeftOut?.(leftOut);
    const known = byId.size;
    // A service may ignore `after`, or include that event itself. It then sends older events again, and these must not
    // follow newer ones.
    const from = events.findIndex(({ id }) => id === after) + 1;
    for (const event of events.slice(from)) byId.set(event.id, event);
    after = events.at(-1)?.id;
    if (events.length + leftOut < smallestPage || byId.size === known || bytes > maxListBytes) break;
  }
  return [...byId.values()];
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
