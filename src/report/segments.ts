/** What an item did from when to when. */
import type { ItemTimes } from '../../workflows/fanout/types.js';
import type { Segment, SegmentKind } from './page-data.js';

/** What begins at each time. Answered forks collect files first and then end. */
const begins: readonly (readonly [SegmentKind, keyof ItemTimes])[] = [
  ['queued', 'queuedAt'],
  ['booting', 'forkedAt'],
  ['preparing', 'usableAt'],
  ['prompting', 'promptedAt'],
  ['ending', 'answeredAt'],
  ['ending', 'endingAt'],
];

/**
 * The stretches of an item's life without gaps, in ms after `startMs`; empty ones are left out, and neighbours of one kind
 * are one. A time that is missing belongs to the stretch before it; an item that has not ended lasts until `untilMs`.
 */
export function segmentsOf(times: ItemTimes, startMs: number, untilMs: number): Segment[] {
  const known: { kind: SegmentKind; from: number }[] = [];
  for (const [kind, name] of begins) {
    const at = Date.parse(times[name] ?? '');
    if (Number.isNaN(at)) continue;
    // Clocks of two machines: nothing ends before it began.
    const from = Math.max(at - startMs, known.at(-1)?.from ?? 0);
    if (known.at(-1)?.kind !== kind) known.push({ kind, from });
  }
  const ended = Date.parse(times.endedAt ?? '');
  const end = (Number.isNaN(ended) ? untilMs : ended) - startMs;
  return known
    .map(({ kind, from }, at) => ({ kind, from, to: Math.max(from, known[at + 1]?.from ?? end) }))
    .filter(({ from, to }) => to > from);
}
