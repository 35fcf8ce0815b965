/**
 * Waits for a sandbox: woken by an event or by the safety timer, whichever comes first. For any workflow that hands
 * its `sandboxEvent` signals to an `EventInbox`.
 *
 * An event is a hint and the service is the truth, so a wait ends by what `read` returns. Where the next call finds
 * out anyway whether the hint was right, `believe` saves the read.
 */
import { condition } from '@temporalio/workflow';
import type { SandboxEventType } from '../../src/contract/states.js';
import type { JobTiming, Wake } from '../job/types.js';
import type { SandboxEvent } from '../messages.js';
import type { EventInbox, InboxMark } from './event-inbox.js';
import { safetyPollMs } from './timing.js';

export interface UntilOptions<T> {
  readonly inbox: EventInbox;
  /** A word for what is waited for, for people and for the record of wakes. */
  readonly waitedFor: string;
  readonly wakeOn: readonly SandboxEventType[];
  /** Events after it count: taken before the call that the wait follows. */
  readonly since: InboxMark;
  /** Asks the service. Undefined: go on waiting. */
  readonly read: () => Promise<T | undefined>;
  /** What an event alone is good for. Undefined: ask the service. */
  readonly believe?: (event: SandboxEvent) => T | undefined;
  /** Reads once before it waits, where the caller has not just read. Default false. */
  readonly readFirst?: boolean;
  /** Ends the wait with undefined after so long. Default: never. */
  readonly limitMs?: number;
  /** How often the service is asked for want of events. */
  readonly timing: JobTiming;
  /** True when the wait is to be left, by the error that `by` makes. Default: never. */
  readonly leave?: { readonly when: () => boolean; readonly by: () => Error };
  /** Told of each wake and what it was by. Default: nobody. */
  readonly onWake?: (wake: Wake) => void;
}

/** @returns what `read` or `believe` gave; undefined when `limitMs` ran out */
export async function until<T>(sandboxId: string, options: UntilOptions<T>): Promise<T | undefined> {
  const { inbox, wakeOn, waitedFor, read, believe, timing } = options;
  const beganMs = Date.now();
  const limitAtMs = options.limitMs === undefined ? Number.POSITIVE_INFINITY : beganMs + options.limitMs;
  let since = options.since;
  if (options.readFirst) {
    const found = await read();
    if (found !== undefined) return found;
  }
  for (let polls = 0; ; ) {
    const waitMs = Math.min(safetyPollMs(timing, polls), limitAtMs - Date.now());
    const arrived = () => inbox.next(sandboxId, wakeOn, since);
    const isLeft = () => options.leave?.when() === true;
    if (!arrived()) {
      const summary = `${waitedFor}: woken by a webhook, or by this timer`;
      await condition(() => arrived() !== undefined || isLeft(), Math.max(1, waitMs), { summary });
    }
    const news = arrived();
    if (options.leave && !news && isLeft()) throw options.leave.by();
    const isOver = !news && Date.now() >= limitAtMs;
    const by = news ? 'webhook' : isOver ? 'deadline' : 'safety_poll';
    options.onWake?.({
      waitedFor,
      by,
      event: news?.event.type ?? null,
      lagMs: news ? Math.max(0, Date.now() - Date.parse(news.event.createdAt)) : null,
      waitedMs: Date.now() - beganMs,
      at: new Date().toISOString(),
    });
    if (news) since = news.mark;
    else polls += 1;
    const found = (news && believe?.(news.event)) ?? (await read());
    if (found !== undefined || isOver) return found;
  }
}
