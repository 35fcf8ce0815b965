/** How long things take in the local service, in milliseconds unless the name says otherwise. */
export interface LocalServiceTimings {
  /** From accepting a create to storing it, in ms; meanwhile the key is `idempotency_in_progress`. */
  readonly acceptMs: number;
  /** From create or resume to usable. */
  readonly bootMs: number;
  /** From stop to the first archival attempt. */
  readonly archiveMs: number;
  /** Between a failed archival attempt and the next. */
  readonly stopRetryMs: number;
  /** From usable to hydrated for a restored sandbox; 0 makes the restore eager, so that both happen at once. */
  readonly hydrationMs: number;
  /** Between two samples of the processes of a usable sandbox. */
  readonly processSampleMs: number;
  /** How long the last sample of a sandbox is kept. */
  readonly processSampleKeptMs: number;
  /** From an accepted delete to its execution. */
  readonly deleteMs: number;
  /** From the end of a stop to the deletion of its snapshot data. */
  readonly dataExpiryMs: number;
  /** How long an idempotency key stays valid (specification, "Limits": 24 hours). */
  readonly idempotencyKeyMs: number;
  /** After this long the key of a create that failed before the sandbox existed is released. */
  readonly idempotencyReleaseMs: number;
  /** The longest that a webhook receiver may take to answer. */
  readonly webhookTimeoutMs: number;
  /** Delay after the first failed delivery; each further one is twice the one before (assumption A-webhook-retry). */
  readonly webhookRetryMs: number;
  /** How long completed and exhausted deliveries, and the call book, are kept. */
  readonly recordsMs: number;
  /** Maximum time for a request to arrive. */
  readonly requestTimeoutMs: number;
  /** Interval of the removal of expired records. */
  readonly housekeepingMs: number;
}

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** Short where a person waits, as the specification has it ("Limits") elsewhere. */
export const defaultTimings: LocalServiceTimings = {
  acceptMs: 0,
  bootMs: 400,
  archiveMs: 200,
  stopRetryMs: 2_000,
  hydrationMs: 300,
  processSampleMs: 30_000,
  processSampleKeptMs: 7 * dayMs,
  deleteMs: 50,
  dataExpiryMs: 14 * dayMs,
  idempotencyKeyMs: dayMs,
  idempotencyReleaseMs: 120_000,
  webhookTimeoutMs: 5_000,
  webhookRetryMs: 1_000,
  recordsMs: 30 * dayMs,
  requestTimeoutMs: 30_000,
  housekeepingMs: hourMs,
};
