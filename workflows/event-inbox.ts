/**
 * Events of sandboxes as they come: late, doubled, out of order, and sometimes before the workflow knows the id of
 * its own sandbox. Drops what it has seen, forgets what is not asked for.
 */
import type { SandboxEvent } from './messages.js';

/** A place in the stream of events: those recorded after it are newer. */
export type InboxMark = number;

interface Recorded {
  readonly position: number;
  readonly event: SandboxEvent;
}

/** What an inbox hands on when its workflow goes on as new. Marks stay good. */
export interface CarriedInbox {
  readonly recorded: readonly Recorded[];
  readonly position: number;
}

const keepAtMost = 500;
/** What is handed on is one payload with all the rest; older events have done what they could. */
const carryAtMost = 100;

export class EventInbox {
  private recorded: Recorded[] = [];
  private readonly seen = new Set<string>();
  private position = 0;

  constructor(carried?: CarriedInbox) {
    if (!carried) return;
    this.recorded = [...carried.recorded];
    this.position = carried.position;
    for (const { event } of carried.recorded) this.seen.add(event.id);
  }

  /** Records an event, unless it was seen before. */
  record(event: SandboxEvent): void {
    if (this.seen.has(event.id)) return;
    this.seen.add(event.id);
    this.position += 1;
    this.recorded.push({ position: this.position, event });
    if (this.recorded.length <= keepAtMost) return;
    const [oldest] = this.recorded.splice(0, 1);
    if (oldest) this.seen.delete(oldest.event.id);
  }

  carry(): CarriedInbox {
    return { recorded: this.recorded.slice(-carryAtMost), position: this.position };
  }

  /** Take it before the call whose consequence is waited for: its event can overtake its answer (trap S8). */
  mark(): InboxMark {
    return this.position;
  }

  /** The oldest event of this sandbox and one of these types after the mark, with the mark that leaves it behind. */
  next(
    sandboxId: string,
    types: readonly string[],
    since: InboxMark,
  ): { readonly event: SandboxEvent; readonly mark: InboxMark } | undefined {
    const found = this.recorded.find(
      ({ position, event }) => position > since && event.sandboxId === sandboxId && types.includes(event.type),
    );
    return found && { event: found.event, mark: found.position };
  }
}
