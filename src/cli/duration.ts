/** Parses and formats durations. */
import { UsageError } from './usage-error.js';

const unitsMs = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const;
type Unit = keyof typeof unitsMs;

const whole = /^(?:\d+(?:\.\d+)?(?:ms|s|m|h|d))+$/;
const part = /(\d+(?:\.\d+)?)(ms|s|m|h|d)/g;

/**
 * Reads `90s`, `30m`, `2h`, `1h30m`, `500ms`, `7d`.
 * @returns ms, at least 1
 * @throws UsageError naming `option`
 */
export function parseDurationMs(text: string, option: string): number {
  const ms = whole.test(text)
    ? [...text.matchAll(part)].reduce((sum, [, count, unit]) => sum + Number(count) * unitsMs[unit as Unit], 0)
    : Number.NaN;
  if (!Number.isSafeInteger(Math.round(ms)) || Math.round(ms) < 1) {
    throw new UsageError(`${option}: "${text}" is not a duration. Use a form like 90s, 30m, 2h or 1h30m.`);
  }
  return Math.round(ms);
}

/** Formats ms: `350 ms`, `12 s`, `3 m 5 s`, `2 h 10 m`. */
export function formatDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 10_000) return `${(ms / 1_000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1_000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return seconds % 60 ? `${minutes} m ${seconds % 60} s` : `${minutes} m`;
  const hours = Math.floor(minutes / 60);
  return minutes % 60 ? `${hours} h ${minutes % 60} m` : `${hours} h`;
}
