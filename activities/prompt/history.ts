/** Reads the history of a sandbox, or of one of its conversations, oldest first and whole. */
import type { ListEventsQuery, SandboxClient } from '../../src/client/index.js';
import { idPatterns } from '../../src/contract/ids.js';
import type { SandboxHistoryEvent } from '../../src/contract/records.js';
import type { Attempt } from '../retry/attempt.js';

export interface HistoryOptions {
  /** Null for the whole sandbox. */
  readonly conversationId: string | null;
  readonly attempt: Attempt;
  /** Deadline of each call in ms. Default: the client's. */
  readonly timeoutMs?: number;
  /** Goes on when the activity is cancelled. Default false. */
  readonly throughCancel?: boolean;
  /** Told how many events could not be read, where there are any. */
  readonly onLeftOut?: (events: number) => void;
}

/** No service is known to send pages that are smaller, so a shorter answer is the last one. */
const smallestPage = 100;
/** 100,000 events where a page holds 1,000. What is older than that is read, and what is newer is not. */
const maxPages = 100;

/** Assumption: paging by `after`. A service that does not know it sends the first page again, and that ends it. */
export async function readHistory(
  client: SandboxClient,
  sandboxId: string,
  options: HistoryOptions,
): Promise<SandboxHistoryEvent[]> {
  const { conversationId, attempt, timeoutMs, throughCancel = false, onLeftOut } = options;
  const filter: ListEventsQuery = conversationId === null ? {} : { conversation: conversationId };
  const byId = new Map<string, SandboxHistoryEvent>();
  let after: string | undefined;
  for (let page = 0; page < maxPages; page += 1) {
    const query = after === undefined ? filter : { ...filter, after };
    let leftOut = 0;
    const onRowsLeftOut = (rows: number) => {
      leftOut = rows;
    };
    const reading = { timeoutMs, onRowsLeftOut };
    const { events } = await attempt.call((signal) =>
      client.listEvents(sandboxId, query, throughCancel ? reading : { ...reading, signal }),
    );
    if (leftOut > 0) onLeftOut?.(leftOut);
    const known = byId.size;
    for (const event of events) byId.set(event.id, event);
    after = events.at(-1)?.id;
    if (events.length + leftOut < smallestPage || byId.size === known || !idPatterns.sandboxEvent.test(after ?? ''))
      break;
  }
  return [...byId.values()];
}
