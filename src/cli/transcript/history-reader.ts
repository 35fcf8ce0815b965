/**
 * Reads the history of a job's sandbox while somebody watches. Each read asks only for new events. If the service
 * refuses a read, the next one comes later.
 */
import type { SandboxClient } from '../../client/index.js';
import type { SandboxHistoryEvent } from '../../contract/records/sandbox-records.js';
import { shortEvent } from '../../contract/records/short-event.js';
import { longestUntoldPauseMs } from '../../contract/workflow-safe/service-failure.js';
import { backOffMs, requestedPauseMs } from '../connect/back-off.js';
import type { KnownOfJob } from './entry.js';

const pageSize = 1_000;
/** No known service sends smaller pages, so a shorter answer is the last page. */
const smallestPage = 100;
const pagesAtOnce = 10;
/** If the events of a read are longer than this in total, in characters of JSON, no further page is read. */
const maxLengthAtOnce = 16 * 1024 * 1024;
const timeoutMs = 10_000;
const pauses = { firstMs: 2_000, longestMs: 60_000 };

export interface HistoryRead {
  /** The events since the last call. */
  readonly events: readonly SandboxHistoryEvent[];
  /**
   * False if there may be newer events: there are more pages, or the service did not answer or requested a pause.
   */
  readonly isCurrent: boolean;
}

export interface HistoryReader {
  /** Reads the events after the last known one. Never throws. */
  readOn(
    job: { readonly sandboxId: string | null } & Pick<KnownOfJob, 'prompts'>,
    signal: AbortSignal,
  ): Promise<HistoryRead>;
  /** When the next call may ask the service, in ms since the epoch. */
  readonly quietUntilMs: () => number;
}

/** @param service the current client; it is replaced after a reconnect */
export function createHistoryReader(service: () => Pick<SandboxClient, 'listEvents'>): HistoryReader {
  /** The last known event, by sandbox and conversation. If a job has several conversations, all are read together. */
  const cursors = new Map<string, string>();
  let failures = 0;
  let quietUntilMs = 0;

  /** Adds to `found`, so that the pages before a failure are not lost. @returns false if there are more pages */
  async function readPages(
    found: SandboxHistoryEvent[],
    { sandboxId, conversation }: { readonly sandboxId: string; readonly conversation: string | undefined },
    signal: AbortSignal,
  ): Promise<boolean> {
    const place = `${sandboxId} ${conversation ?? ''}`;
    let length = 0;
    for (let page = 0; page < pagesAtOnce && length < maxLengthAtOnce; page += 1) {
      const after = cursors.get(place);
      const client = service();
      const { events } = await client.listEvents(
        sandboxId,
        { conversation, after, limit: pageSize },
        { signal, timeoutMs },
      );
      const last = events.at(-1)?.id;
      for (const event of events) {
        const short = shortEvent(event);
        length += JSON.stringify(short).length;
        found.push(short);
      }
      // A service without paging sends all events again. The caller drops those that it already has.
      if (last === undefined || last === after) return true;
      cursors.set(place, last);
      if (events.length < smallestPage) return true;
    }
    return false;
  }

  return {
    quietUntilMs: () => quietUntilMs,
    async readOn({ sandboxId, prompts }, signal) {
      const ids = [...new Set(prompts.flatMap(({ conversationId }) => conversationId ?? []))];
      if (sandboxId === null || ids.length === 0) return { events: [], isCurrent: true };
      if (Date.now() < quietUntilMs) return { events: [], isCurrent: false };
      const events: SandboxHistoryEvent[] = [];
      try {
        const conversation = ids.length === 1 ? ids[0] : undefined;
        const isCurrent = await readPages(events, { sandboxId, conversation }, signal);
        failures = 0;
        return { events, isCurrent };
      } catch (error) {
        const askedMs = Math.min(requestedPauseMs(error), longestUntoldPauseMs);
        quietUntilMs = Date.now() + Math.max(askedMs, backOffMs(failures, pauses));
        failures += 1;
        return { events, isCurrent: false };
      }
    },
  };
}
