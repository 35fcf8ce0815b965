/** Parses and formats durations, counts and sizes. */
import { durationPattern, readDurationMs } from '../texts/duration.js';
import { UsageError } from './usage-error.js';

const dayMs = 86_400_000;
const isoDate = /^\d{4}-\d{2}-\d{2}(?:T[\d:.]+(?:Z|[+-]\d{2}:?\d{2})?)?$/;

/** Two years, in ms: the longest wait, because no data is kept for longer. */
const longestWaitMs = 732 * dayMs;
/** A hundred years, for durations that are not waits: a time in the past, or a total. */
export const anyLength = { mostMs: 36_525 * dayMs };
/** A timer of Node is limited to 24 days; a longer one would end at once. */
export const ofThisProcess = { mostMs: 24 * dayMs };

/**
 * Reads `90s`, `30m`, `2h`, `1h30m`, `500ms`, `7d`, `2w`.
 * @param limit `mostMs`: the longest that is accepted, in ms. Default: two years
 * @returns ms, at least 1; undefined for an option that is not given
 * @throws UsageError naming `option`
 */
export function parseDurationMs(text: string, option: string, limit?: { readonly mostMs: number }): number;
export function parseDurationMs(
  text: string | undefined,
  option: string,
  limit?: { readonly mostMs: number },
): number | undefined;
export function parseDurationMs(
  text: string | undefined,
  option: string,
  { mostMs } = { mostMs: longestWaitMs },
): number | undefined {
  if (text === undefined) return undefined;
  const ms = durationPattern.test(text) ? (readDurationMs(text) ?? Number.POSITIVE_INFINITY) : Number.NaN;
  if (ms < 1) throw new UsageError(`${option}: ${text} is too short. Use a value like 90s, 30m, 2h or 1h30m.`);
  if (Number.isNaN(ms)) {
    throw new UsageError(`${option}: "${text}" is not a duration. Use a value like 90s, 30m, 2h or 1h30m.`);
  }
  if (ms > mostMs) {
    const most = `${Math.floor(mostMs / dayMs)}d`;
    throw new UsageError(
      `${option}: ${text} is too long. The limit is ${most}. Use a value like 90s, 30m, 2h or 1h30m.`,
    );
  }
  return ms;
}

/**
 * Reads `--since`: a duration before now, or an ISO 8601 date or time.
 * @returns undefined for an option that is not given
 * @throws UsageError
 */
export function parseSince(text: string | undefined, nowMs: number): Date | undefined {
  if (text === undefined) return undefined;
  const at = durationPattern.test(text)
    ? nowMs - parseDurationMs(text, '--since', anyLength)
    : isoDate.test(text)
      ? Date.parse(text)
      : Number.NaN;
  const date = new Date(at);
  if (!Number.isNaN(date.getTime())) return date;
  throw new UsageError(
    `--since: "${text}" is neither a duration, like 12h or 1d, nor a date, like 2026-03-17 or 2026-03-17T22:00Z.`,
  );
}

/** Reads `--ttl`, rounded up to whole seconds. @throws UsageError */
export function parseTtlSeconds(text: string, option = '--ttl'): number {
  const ms = parseDurationMs(text, option);
  // The service takes whole seconds.
  if (ms < 1_000) throw new UsageError(`${option} must be at least 1s.`);
  return Math.ceil(ms / 1_000);
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

/** Formats how long ago something was. Two days and more are shown in whole days. */
export function formatAge(ms: number): string {
  if (Number.isNaN(ms)) return '?';
  const past = Math.max(0, ms);
  // An age in fractions of a second would look exact; clocks differ by more.
  if (past < 60_000) return `${Math.floor(past / 1_000)} s`;
  return past < 2 * dayMs ? formatDuration(Math.floor(past / 1_000) * 1_000) : `${Math.floor(past / dayMs)} d`;
}

/** How long ago an ISO 8601 time was; empty if it is unknown. */
export function ageText(at: string | null | undefined, nowMs: number): string {
  return at == null ? '' : formatAge(nowMs - Date.parse(at));
}

/** `1 item`, `2 items`. */
export function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** Reads a whole number. @throws UsageError naming `option` */
export function parseCount(text: string, option: string, least: number, most: number): number {
  const count = /^\d+$/.test(text) ? Number(text) : Number.NaN;
  if (!(count >= least && count <= most)) {
    throw new UsageError(`${option} must be a whole number from ${least} to ${most}, not "${text}".`);
  }
  return count;
}

/** `12 bytes`, `3.4 kB`, `5.6 MB`, `7.8 GB`. */
export function formatBytes(bytes: number): string {
  if (bytes < 1_000) return plural(bytes, 'byte');
  if (bytes < 1_000_000) return `${(bytes / 1_000).toFixed(1)} kB`;
  return bytes < 1_000_000_000 ? `${(bytes / 1_000_000).toFixed(1)} MB` : `${(bytes / 1_000_000_000).toFixed(1)} GB`;
}
