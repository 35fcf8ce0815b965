/** Durations as people write them in options, files, policies and escalations. No dependencies: workflow code may import this file. */

const unitsMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;
type Unit = keyof typeof unitsMs;

/** The format: `500ms`, `90s`, `30m`, `12h`, `7d`, `2w`, `1d12h`. */
export const durationPattern = /^(?:\d+(?:\.\d+)?(?:ms|[smhdw]))+$/;
const part = /(\d+(?:\.\d+)?)(ms|[smhdw])/g;

/** @returns ms; undefined if `text` is not a duration, or the duration is longer than a hundred years */
export function readDurationMs(text: string): number | undefined {
  if (!durationPattern.test(text)) return undefined;
  const ms = [...text.matchAll(part)].reduce((sum, [, count, unit]) => sum + Number(count) * unitsMs[unit as Unit], 0);
  return ms <= 100 * 366 * unitsMs.d ? Math.round(ms) : undefined;
}

/** Writes ms as `readDurationMs` reads them: `30m`, `1h30m`, `2d`. Parts of a second are rounded up. */
export function durationText(ms: number): string {
  let rest = Math.ceil(ms / 1_000) * 1_000;
  let text = '';
  for (const unit of ['d', 'h', 'm', 's'] as const) {
    const count = Math.floor(rest / unitsMs[unit]);
    rest -= count * unitsMs[unit];
    if (count > 0) text += `${count}${unit}`;
  }
  return text === '' ? '0s' : text;
}
