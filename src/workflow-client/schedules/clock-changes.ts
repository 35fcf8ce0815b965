/** The days on which the clock of a time zone changes, and the times of a schedule that are odd then. Pure. */

/** One change of the clock of a time zone. */
export interface ClockChange {
  /** When it changes, in ms since the epoch. */
  readonly atMs: number;
  /** Minutes between UTC and the zone before the change, and after it. */
  readonly beforeMinutes: number;
  readonly afterMinutes: number;
}

/** A local time that a change of the clock skips, or that comes twice. */
export interface OddMinute {
  /** `missing`: the clock skips it. `twice`: the clock shows it twice. */
  readonly kind: 'missing' | 'twice';
  /** Local date and time, such as `2027-03-28 02:30`. */
  readonly local: string;
  /** The moments at which the clock shows it, as ISO 8601 times in UTC: none, or two. */
  readonly moments: readonly string[];
}

/** A minute as the clock of a time zone shows it. */
export interface LocalMinute {
  readonly year: number;
  /** 1 to 12. */
  readonly month: number;
  readonly day: number;
  /** 0 is Sunday. */
  readonly weekday: number;
  readonly hour: number;
  readonly minute: number;
}

const minuteMs = 60_000;
const dayMs = 86_400_000;

/** The changes of the clock of `zone` within a span, in order. */
export function clockChanges(zone: string, fromMs: number, toMs: number): ClockChange[] {
  const offset = offsetIn(zone);
  const found: ClockChange[] = [];
  for (let dayStart = fromMs; dayStart < toMs; dayStart += dayMs) {
    let [low, high] = [dayStart, Math.min(dayStart + dayMs, toMs)];
    const [beforeMinutes, afterMinutes] = [offset(low), offset(high)];
    if (beforeMinutes === afterMinutes) continue;
    while (high - low > minuteMs) {
      const middle = low + Math.floor((high - low) / (2 * minuteMs)) * minuteMs;
      if (offset(middle) === beforeMinutes) low = middle;
      else high = middle;
    }
    found.push({ atMs: high - (high % minuteMs), beforeMinutes, afterMinutes });
  }
  return found;
}

/** The minutes at which a schedule would run, and that a change skips or repeats. */
export function oddMinutes(change: ClockChange, runsAt: (local: LocalMinute) => boolean): OddMinute[] {
  const { atMs, beforeMinutes, afterMinutes } = change;
  const kind = afterMinutes > beforeMinutes ? 'missing' : 'twice';
  const firstMs = atMs + Math.min(beforeMinutes, afterMinutes) * minuteMs;
  const offsets = kind === 'missing' ? [] : [beforeMinutes, afterMinutes];
  return Array.from({ length: Math.abs(afterMinutes - beforeMinutes) }, (_, at) => firstMs + at * minuteMs)
    .filter((localMs) => runsAt(localMinuteOf(localMs)))
    .map((localMs) => ({
      kind,
      local: new Date(localMs).toISOString().slice(0, 16).replace('T', ' '),
      moments: offsets.map((minutes) => new Date(localMs - minutes * minuteMs).toISOString()),
    }));
}

/** @param localMs the local time, as if it were UTC, in ms since the epoch */
function localMinuteOf(localMs: number): LocalMinute {
  const local = new Date(localMs);
  return {
    year: local.getUTCFullYear(),
    month: local.getUTCMonth() + 1,
    day: local.getUTCDate(),
    weekday: local.getUTCDay(),
    hour: local.getUTCHours(),
    minute: local.getUTCMinutes(),
  };
}

/** Minutes between UTC and the zone at a time. */
function offsetIn(zone: string): (atMs: number) => number {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    hourCycle: 'h23',
    ...{ year: 'numeric', month: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', second: 'numeric' },
  });
  return (atMs) => {
    const parts = Object.fromEntries(format.formatToParts(atMs).map(({ type, value }) => [type, Number(value)]));
    const { year = 0, month = 1, day = 1, hour = 0, minute = 0, second = 0 } = parts;
    const localMs = Date.UTC(year, month - 1, day, hour, minute, second);
    return Math.round((localMs - Math.floor(atMs / 1_000) * 1_000) / minuteMs);
  };
}
