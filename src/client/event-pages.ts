/**
 * Reads the history of a sandbox page by page. The specification shows neither its order nor how it is paged, so this
 * takes the usual forms of both. Assumptions: `A-events`, `A-event-ids`.
 */
import type { SandboxHistoryEvent } from '../contract/records/sandbox-records.js';
import { endStatuses } from '../contract/workflow-safe/states.js';
import type { ListEventsQuery, WorkCalls } from './areas/work-calls.js';
import type { CallOptions } from './call-options.js';
import { ApiError, ListIncompleteError } from './errors.js';

/** What a page adds to the pages before it. */
export interface EventPage {
  /** The new events, oldest first, whatever the order of the answer is. */
  readonly events: readonly SandboxHistoryEvent[];
  /** True if they are older than those of the pages before. */
  readonly isOlder: boolean;
  /** Number of rows that could not be read. */
  readonly unreadRows: number;
  /** The query of the next page; undefined after the last one. */
  readonly next: ListEventsQuery | undefined;
  /** True if the service says that there is more. Without `next`, it does not give it. */
  readonly saysMore: boolean;
}

type Read = (
  query: ListEventsQuery,
  options: Pick<CallOptions, 'onRowsLeftOut'>,
) => ReturnType<WorkCalls['listEvents']>;

/** No known service sends smaller pages, so a shorter answer is the last page, unless it says that there is more. */
const smallestPage = 100;
/** The times of two events may differ by less than this against their order, in ms. */
const clockSkewMs = 1_000;

/**
 * Reads pages until there is no next one, or nothing new comes: a service without paging sends the first one again. The
 * caller ends a read that takes too long.
 * @param query the first query
 * @param read reads one page. Its errors are thrown
 */
export async function* eventPages(query: ListEventsQuery, read: Read): AsyncGenerator<EventPage> {
  const known = new Set<string>();
  let rest: ListEventsQuery | undefined = query;
  let isPromised = false;
  for (let page = 0; rest !== undefined; page += 1) {
    const asked: ListEventsQuery = rest;
    let unreadRows = 0;
    const onRowsLeftOut = (rows: number) => {
      unreadRows = rows;
    };
    let isPart = false;
    const answer: Awaited<ReturnType<Read>> | undefined = await read(asked, { onRowsLeftOut }).catch(
      (error: unknown) => {
        if (error instanceof ListIncompleteError) {
          isPart = true;
          return error.part as Awaited<ReturnType<Read>>;
        }
        // Nothing has said that there is more.
        if (page > 0 && !isPromised && isRefusal(error)) return undefined;
        throw error;
      },
    );
    if (answer === undefined) return;
    const isNewestFirst = beginsWithNewest(answer.events);
    const isOlder = isNewestFirst && page > 0;
    const events = isNewestFirst ? answer.events.toReversed() : answer.events;
    // A service may ignore `after`, or include that event itself. It then sends older events again, and these must not
    // follow newer ones.
    const later = isOlder ? events : events.slice(events.findIndex(({ id }) => id === asked.after) + 1);
    const fresh = later.filter(({ id }) => !known.has(id) && known.add(id));
    const { next, saysMore } = isPart
      ? { next: undefined, saysMore: true }
      : nextOf(answer, asked, answer.events.length + unreadRows);
    isPromised = saysMore || (isPromised && fresh.length === 0 && events.length > 0);
    const goesOn = fresh.length > 0 || (unreadRows > 0 && next?.cursor !== undefined);
    rest = goesOn ? next : undefined;
    // A page that comes again has the same unreadable rows.
    const isNew = page === 0 || goesOn;
    yield { events: fresh, isOlder, unreadRows: isNew ? unreadRows : 0, next: rest, saysMore: isPromised };
  }
}

/** Statuses with which a service refuses a parameter. */
const refusals: ReadonlySet<number> = new Set([400, 404, 410, 416, 422]);

function isRefusal(error: unknown): boolean {
  return error instanceof ApiError && error.typed && refusals.has(error.status);
}

/** @param rows number of rows of the answer */
function nextOf(
  answer: Awaited<ReturnType<Read>>,
  { after, cursor, ...filter }: ListEventsQuery,
  rows: number,
): { readonly next: ListEventsQuery | undefined; readonly saysMore: boolean } {
  const named = [answer.nextCursor, answer.next_cursor, answer.cursor, answer.next].find(isCursor);
  if (named !== undefined && named !== cursor) return { next: { ...filter, cursor: named }, saysMore: true };
  // A `total` may count the events of all conversations.
  const isFirst = after === undefined && cursor === undefined && filter.conversation === undefined;
  const isTotalLarger = isFirst && typeof answer.total === 'number' && answer.total > rows;
  const saysMore = answer.hasMore === true || answer.has_more === true || isTotalLarger;
  const last = answer.events.at(-1)?.id;
  const isFull = saysMore || rows >= smallestPage;
  return { next: isFull && last !== undefined ? { ...filter, after: last } : undefined, saysMore };
}

/** The address of a page is none. */
function isCursor(value: unknown): value is string {
  return typeof value === 'string' && value !== '' && !value.includes('/');
}

function beginsWithNewest(events: readonly SandboxHistoryEvent[]): boolean {
  const [first, last] = [events[0], events.at(-1)];
  if (first === undefined || last === undefined) return false;
  const times = events.map(({ createdAt }) => Date.parse(createdAt ?? '')).filter((ms) => !Number.isNaN(ms));
  if (times.some((ms, at) => ms > (times[at - 1] ?? ms))) return false;
  if ((times[0] ?? 0) - (times.at(-1) ?? 0) >= clockSkewMs) return true;
  // A history begins with a prompt. Without times that differ, only an end before any begin shows the order.
  return last.type === 'prompt.queued' && endStatuses[first.type] !== undefined;
}
