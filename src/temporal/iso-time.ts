import type { Client } from '@temporalio/client';

/** @returns a time of Temporal's API as an ISO 8601 time; null if it is not set */
export function isoTime(time: { readonly seconds?: unknown } | null | undefined): string | null {
  const seconds = Number(time?.seconds ?? Number.NaN);
  return Number.isFinite(seconds) && seconds > 0 ? new Date(seconds * 1_000).toISOString() : null;
}

type Timestamp = NonNullable<Parameters<Client['workflowService']['listScheduleMatchingTimes']>[0]['startTime']>;

/**
 * A time in ms since the epoch as Temporal's API takes it, in whole seconds. Its type demands an object for the number,
 * but the service takes the number itself.
 */
export const timestampOf = (ms: number): Timestamp => ({
  seconds: Math.floor(ms / 1_000) as unknown as Timestamp['seconds'],
});
