/** Durations in a policy: `90s`, `30m`, `12h`, `7d`, `2w`, `1d12h`. Pure. */

const unitsMs = { s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;
type Unit = keyof typeof unitsMs;

/** What a duration of a policy looks like. */
export const durationPattern = /^(?:\d+(?:\.\d+)?[smhdw])+$/;
const part = /(\d+(?:\.\d+)?)([smhdw])/g;

/** @returns ms; undefined where `text` is no duration, or longer than a date can tell */
export function readDurationMs(text: string): number | undefined {
  if (!durationPattern.test(text)) return undefined;
  const ms = [...text.matchAll(part)].reduce((sum, [, count, unit]) => sum + Number(count) * unitsMs[unit as Unit], 0);
  return ms <= 100 * 366 * unitsMs.d ? Math.round(ms) : undefined;
}
