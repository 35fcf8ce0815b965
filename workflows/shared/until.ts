/**
 * Waits for a sandbox. An event or the safety timer wakes the wait, whichever comes first. Works in any workflow that
 * records its `sandboxEvent` signals in an `EventInbox`.
 *
 * An event may be wrong or out of date, so after each event `read` reads the service and decides whether the wait ends.
 * If the caller's next call would detect a wrong event anyway, use `believe` to avoid this read.
 */
import type { SandboxEventType } from '../../src/contract/workflow-safe/states.js';
import type { JobTiming } from '../../src/protocol/job/job-input.js';
import type { Wake } from '../../src/protocol/job/job-result.js';
import type { SandboxEvent } from '../../src/protocol/messages.js';
import type { EventInbox, InboxMark } from './event-inbox.js';
import { countWaitEnd, observeWake } from './metrics.js';
import { conditionUntil } from './shared-timer.js';
import { safetyPollMs } from './wait-intervals.js';

export interface UntilOptions<T> {
  readonly inbox: EventInbox;
  /** Name of the awaited condition, shown to people and in the record of wakes. */
  readonly waitedFor: string;
  readonly wakeOn: readonly SandboxEventType[];
  /** Only events after this mark count. Take it before the call whose effect you wait for. */
  readonly since: InboxMark;
  /** Reads the service. Returns undefined if the wait must continue. */
  readonly read: () => Promise<T | undefined>;
  /**
   * Returns a result if the event alone is enough for it, or undefined if the service must be read. Default: the
   * service is always read.
   */
  readonly believe?: (event: SandboxEvent) => T | undefined;
  /** Reads once before the wait; use it if the caller has not just read. Default: false. */
  readonly readFirst?: boolean;
  /** Ends the wait with undefined after this time. Default: no limit. */
  readonly limitMs?: number;
  /** Intervals of the safety polls. */
  readonly timing: JobTiming;
  /** If `when` returns true, the wait ends with the error of `by`. Default: never. */
  readonly leave?: { readonly when: () => boolean; readonly by: () => Error };
  /** Called at each wake with its cause. */
  readonly onWake?: (wake: Wake) => void;
}

/**
 * Waits until `read` or `believe` returns a result.
 * @returns that result; undefined once `limitMs` has passed
 * @throws what `read` throws, or the error of `leave.by`
 */
export function until<T>(sandboxId: string, options: UntilOptions<T> & { readonly limitMs?: undefined }): Promise<T>;
export function until<T>(sandboxId: string, options: UntilOptions<T>): Promise<T | undefined>;
export async function until<T>(sandboxId: string, options: UntilOptions<T>): Promise<T | undefined> {
  const { inbox, wakeOn, waitedFor, read, believe, timing } = options;
  const beganMs = Date.now();
  const limitAtMs = options.limitMs === undefined ? Number.POSITIVE_INFINITY : beganMs + options.limitMs;
  let since = options.since;
  let lookedAtMs = beganMs;
  if (options.readFirst) {
    const found = await read();
    if (found !== undefined) return found;
  }
  for (let polls = 0; ; ) {
    const pollAtMs = Date.now() + safetyPollMs(timing, polls, inbox.missedInARow);
    const arrived = () => inbox.next(sandboxId, wakeOn, since);
    const isLeft = () => options.leave?.when() === true;
    const isOn = () => arrived() !== undefined || isLeft();
    const summary = `${waitedFor}: woken by a webhook, or by this timer`;
    if (!arrived()) await conditionUntil(isOn, Math.min(pollAtMs, limitAtMs), summary);
    const news = arrived();
    if (options.leave && !news && isLeft()) throw options.leave.by();
    const isOver = !news && Date.now() >= limitAtMs;
    const by = news ? 'webhook' : isOver ? 'deadline' : 'safety_poll';
    const wokeAtMs = Date.now();
    const lagMs = news ? Math.max(0, wokeAtMs - Date.parse(news.event.createdAt)) : null;
    options.onWake?.({
      waitedFor,
      by,
      event: news?.event.type ?? null,
      lagMs,
      waitedMs: wokeAtMs - beganMs,
      at: new Date(wokeAtMs).toISOString(),
    });
    if (lagMs !== null) observeWake('webhook', lagMs);
    if (isOver) observeWake('deadline', wokeAtMs - limitAtMs);
    if (news) since = news.mark;
    else polls += 1;
    const found = (news && believe?.(news.event)) ?? (await read());
    if (found !== undefined && by !== 'deadline') {
      inbox.recordEnd(by);
      countWaitEnd(by);
      // What the poll found may have been there since the look before.
      if (by === 'safety_poll') observeWake(by, wokeAtMs - lookedAtMs);
    }
    lookedAtMs = wokeAtMs;
    if (found !== undefined || isOver) return found;
  }
}
