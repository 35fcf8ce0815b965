/**
 * Reads the history of a job's sandbox while somebody watches. Each read asks only for new events. If the service
 * refuses a read, the next one comes later.
 */
import { eventPages } from '../../client/event-pages.js';
import type { ListEventsQuery, SandboxClient } from '../../client/index.js';
import type { SandboxHistoryEvent } from '../../contract/records/sandbox-records.js';
import { shortEvent } from '../../contract/records/short-event.js';
import { longestUntoldPauseMs } from '../../contract/workflow-safe/service-failure.js';
import { backOffMs, requestedPauseMs } from '../connect/back-off.js';
import type { KnownOfJob } from './entry.js';

const pageSize = 1_000;
const pagesAtOnce = 10;
/** If the events of a read are longer than this in total, in characters of JSON, no further page is read. */
const maxLengthAtOnce = 16 * 1024 * 1024;
const timeoutMs = 10_000;
const pauses = { firstMs: 2_000, longestMs: 60_000 };

export type HistoryReader = ReturnType<typeof createHistoryReader>;

/** @param service the current client; it is replaced after a reconnect */
export function createHistoryReader(service: () => Pick<SandboxClient, 'listEvents'>) {
  /** Where the next read begins, by sandbox and conversation. If a job has several conversations, all are read together. */
  const cursors = new Map<string, ListEventsQuery>();
  let failures = 0;
  let quietUntilMs = 0;

  /** Adds to `found`, so that the pages before a failure are not lost. @returns false if there are more pages */
  async function readPages(
    found: { readonly events: SandboxHistoryEvent[]; unreadRows: number },
    { sandboxId, conversation }: { readonly sandboxId: string; readonly conversation: string | undefined },
    signal: AbortSignal,
  ): Promise<boolean> {
    const place = `${sandboxId} ${conversation ?? ''}`;
    const filter = { conversation, limit: pageSize };
    let length = 0;
    let pages = 0;
    const read = eventPages(cursors.get(place) ?? filter, (query, counting) => {
      const client = service();
      return client.listEvents(sandboxId, query, { ...counting, signal, timeoutMs });
    });
    for await (const { events, isOlder, next, unreadRows } of read) {
      const shorts = events.map(shortEvent);
      for (const short of shorts) length += JSON.stringify(short).length;
      if (isOlder) found.events.unshift(...shorts);
      else found.events.push(...shorts);
      found.unreadRows += unreadRows;
      const newest = isOlder ? undefined : events.at(-1)?.id;
      if (next !== undefined) cursors.set(place, next);
      else if (newest !== undefined) cursors.set(place, { ...filter, after: newest });
      else if (isOlder) cursors.delete(place);
      pages += 1;
      if (next !== undefined && (pages === pagesAtOnce || length >= maxLengthAtOnce)) return false;
    }
    return true;
  }

  return {
    /** When the next call may ask the service, in ms since the epoch. */
    quietUntilMs: () => quietUntilMs,
    /**
     * Reads the events after the last known one. Never throws.
     * @returns `isCurrent`: false if there may be newer events: there are more pages, or the service did not answer or
     *   requested a pause; `unreadRows`: how many rows could not be read. A row that is read again counts again
     */
    async readOn(
      { sandboxId, prompts }: { readonly sandboxId: string | null } & Pick<KnownOfJob, 'prompts'>,
      signal: AbortSignal,
    ) {
      const ids = [...new Set(prompts.flatMap(({ conversationId }) => conversationId ?? []))];
      if (sandboxId === null || ids.length === 0) return { events: [], isCurrent: true, unreadRows: 0 };
      if (Date.now() < quietUntilMs) return { events: [], isCurrent: false, unreadRows: 0 };
      const found = { events: [] as SandboxHistoryEvent[], unreadRows: 0 };
      try {
        const conversation = ids.length === 1 ? ids[0] : undefined;
        const isCurrent = await readPages(found, { sandboxId, conversation }, signal);
        failures = 0;
        return { ...found, isCurrent };
      } catch (error) {
        const askedMs = Math.min(requestedPauseMs(error), longestUntoldPauseMs);
        quietUntilMs = Date.now() + Math.max(askedMs, backOffMs(failures, pauses));
        failures += 1;
        return { ...found, isCurrent: false };
      }
    },
  };
}
