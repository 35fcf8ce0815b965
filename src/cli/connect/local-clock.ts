/** What commands say about the clock of a local service, which can be held and moved. */
import { programName } from '../program-name.js';
import { formatAge } from '../units.js';

export interface LocalClock {
  /** The time of the service, as ISO 8601. */
  readonly now: string;
  readonly held: boolean;
  /** How far the service is ahead of this machine, in ms; negative if it is behind. */
  readonly aheadMs: number;
}

/** Less than this is a slow answer, in ms. */
const leastMs = 60_000;

/** Null if the clock runs. */
export function heldText(clock: LocalClock | null): string | null {
  if (!clock?.held) return null;
  const effect = `sandboxes neither start nor stop, and jobs wait. \`${programName} local clock --release\` lets it run.`;
  return `The clock of the local service is held at ${clock.now}: ${effect}`;
}

/** Null if the clock agrees with that of this machine. */
export function movedText(clock: LocalClock | null): string | null {
  if (clock === null || Math.abs(clock.aheadMs) < leastMs) return null;
  const away = formatAge(Math.round(Math.abs(clock.aheadMs) / 60_000) * 60_000);
  return `The clock of the local service is ${away} ${clock.aheadMs < 0 ? 'behind' : 'ahead of'} that of this machine.`;
}
