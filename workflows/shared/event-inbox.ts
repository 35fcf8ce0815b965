/**
 * Collects events of sandboxes, which may arrive late, twice, out of order, or before the workflow knows the id of its
 * own sandbox. Drops duplicates, and the events beyond its limit.
 */
import type { SandboxEvent } from '../../src/protocol/messages.js';

/** A position in the stream of events: events recorded after it are newer. */
export type InboxMark = number;

interface Recorded {
  readonly position: number;
  readonly event: SandboxEvent;
}

/** The state of an inbox that continue-as-new carries over. Marks stay valid. */
export interface CarriedInbox {
  readonly recorded: readonly Recorded[];
  readonly position: number;
}

const keepAtMost = 500;
/** These events share one payload with the rest of the state, and older events are no longer useful. */
const carryAtMost = 100;

export class EventInbox {
  private recorded: Recorded[] = [];
  private readonly seen = new Set<string>();
  private position = 0;
  /** The number of waits in a row that ended without an event. */
  private missed = 0;

  constructor(carried?: CarriedInbox) {
    if (!carried) return;
    this.recorded = [...carried.recorded];
    this.position = carried.position;
    for (const { event } of carried.recorded) this.seen.add(event.id);
  }

  /** Records an event. Safe to repeat: a known event changes nothing. */
  record(event: SandboxEvent): void {
    if (this.seen.has(event.id)) return;
    this.seen.add(event.id);
    this.position += 1;
    this.recorded.push({ position: this.position, event });
    if (this.recorded.length <= keepAtMost) return;
    const [gone] = this.recorded.splice(placeToDrop(this.recorded), 1);
    if (gone) this.seen.delete(gone.event.id);
  }

  /** Records whether an event ended a wait, or a safety poll did. */
  recordEnd(by: 'webhook' | 'safety_poll'): void {
    this.missed = by === 'webhook' ? 0 : this.missed + 1;
  }

  /** The number of waits in a row that ended without an event: webhooks are probably lost. */
  get missedInARow(): number {
    return this.missed;
  }

  carry(): CarriedInbox {
    const recorded = [...this.recorded];
    while (recorded.length > carryAtMost) recorded.splice(placeToDrop(recorded), 1);
    return { recorded, position: this.position };
  }

  /**
   * The current position. Take it before the call whose effect you wait for: the event can overtake the answer (trap
   * S8).
   */
  mark(): InboxMark {
    return this.position;
  }

  /** The oldest event of this sandbox with one of these types after the mark, and a mark right after that event. */
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

/**
 * The oldest event of the sandbox with the most events. So if another sandbox has the same name, its events displace
 * only each other.
 */
function placeToDrop(recorded: readonly Recorded[]): number {
  const counts = new Map<string, number>();
  for (const { event } of recorded) counts.set(event.sandboxId, (counts.get(event.sandboxId) ?? 0) + 1);
  const most = Math.max(...counts.values());
  return recorded.findIndex(({ event }) => counts.get(event.sandboxId) === most);
}
