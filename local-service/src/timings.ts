const hourMs = 3_600_000;
const dayMs = 24 * hourMs;

/** Times for which a person waits are short. The others are those of the specification ("Limits"). */
export const defaultTimings = {
  /** From accepting a create to storing it, in ms; meanwhile a repeated key answers `idempotency_in_progress`. */
  acceptMs: 0,
  /** From create until the boot begins; meanwhile the sandbox is in the state `init` (assumption A-init-state). */
  initMs: 0,
  /** How long a boot takes, after a create or a resume. */
  bootMs: 400,
  /** How long the clone of one repository may take. */
  cloneMs: 900_000,
  /** From stop to the first archival attempt. */
  archiveMs: 200,
  /** How long a snapshot takes at least, in ms; meanwhile it is `in_progress`. */
  snapshotMs: 0,
  /** Between two snapshots of a usable sandbox. With 0, only stops and forks take snapshots. */
  snapshotEveryMs: 0,
  /** Between a failed archival attempt and the next. */
  stopRetryMs: 2_000,
  /**
   * From usable to hydrated, for a restored sandbox; more if its disk is not copied by then. With 0, the disk is copied
   * first, and the sandbox becomes usable and hydrated at once.
   */
  hydrationMs: 300,
  /** Between two samples of the processes of a usable sandbox. */
  processSampleMs: 30_000,
  /** How long the last sample of a sandbox is kept. */
  processSampleKeptMs: 7 * dayMs,
  /** From an accepted delete to its execution. */
  deleteMs: 50,
  /** From the end of a stop to the deletion of its snapshot data. */
  dataExpiryMs: 14 * dayMs,
  /** How long an idempotency key stays valid (specification, "Limits": 24 hours). */
  idempotencyKeyMs: dayMs,
  /** How long the key of a create stays in use if the create failed before the sandbox existed. */
  idempotencyReleaseMs: 120_000,
  /** How long a webhook receiver may take to answer. */
  webhookTimeoutMs: 5_000,
  /** Delay after the first failed delivery; each further delay is twice the one before (assumption A-webhook-retry). */
  webhookRetryMs: 1_000,
  /** How long completed and exhausted deliveries are kept. */
  recordsMs: 30 * dayMs,
  /** Maximum time for a request to arrive. */
  requestTimeoutMs: 30_000,
  /** Time between two removals of expired records. */
  housekeepingMs: hourMs,
};

/** How long things take in the local service, in milliseconds unless the name says otherwise. */
export type LocalServiceTimings = Readonly<typeof defaultTimings>;
