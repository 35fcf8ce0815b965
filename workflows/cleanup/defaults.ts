/** Default settings of a cleanup. Pure. */
import type { CleanupCounts, CleanupSettings } from './types.js';

export const defaultCleanupSettings: CleanupSettings = {
  settleMs: 2_000,
  planDeadlineMs: 7_200_000,
  concurrency: 5,
  chunkSize: 50,
  actionDeadlineMs: 900_000,
  deletionAttempts: 3,
  lookFirstMs: 500,
  lookMaxMs: 30_000,
  readLagMs: 90_000,
  maxHistoryEvents: null,
};

export const noCounts: CleanupCounts = {
  stopped: 0,
  deleted: 0,
  gone: 0,
  skipped: 0,
  failed: 0,
  not_confirmed: 0,
  not_reached: 0,
};
