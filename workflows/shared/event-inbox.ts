/**
 * Events of sandboxes as they come: late, doubled, out of order, and sometimes before the workflow knows the id of
 * its own sandbox. Drops what it has seen, forgets what is not asked for.
 */
import type { SandboxEvent } from '../messages.js';

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

  /** @param isFair whether a full inbox drops of the sandbox with the most events, asked only then; if not, the oldest */
  constructor(
    carried?: CarriedInbox,
    private readonly isFair: () => boolean = () => true,
  ) {
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
    const dropped = this.isFair() ? placeToDrop(this.recorded) : 0;
    const [gone] = this.recorded.splice(dropped, 1);
    if (gone) this.seen.delete(gone.event.id);
  }

  carry(): CarriedInbox {
    const recorded = [...this.recorded];
    while (recorded.length > carryAtMost) recorded.splice(placeToDrop(recorded), 1);
    return { recorded, position: this.position };
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

/** The oldest event of the sandbox that has sent the most: one that only has the name of ours pushes out nothing but its own. */
function placeToDrop(recorded: readonly Recorded[]): number {
  const counts = new Map<string, number>();
  for (const { event } of recorded) counts.set(event.sandboxId, (counts.get(event.sandboxId) ?? 0) + 1);
  const most = Math.max(...counts.values());
  return recorded.findIndex(({ event }) => counts.get(event.sandboxId) === most);
}
