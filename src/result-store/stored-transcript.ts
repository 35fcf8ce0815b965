/** The stored transcript of a job. `src/addresses/transcript-places.ts` has its key. */
import type { SandboxHistoryEvent } from '../contract/records/sandbox-records.js';

/** The history of the conversations of a job, as it was before the sandbox ended. */
export interface StoredTranscript {
  readonly sandboxId: string;
  /** When the history was read, as an ISO 8601 time. */
  readonly readAt: string;
  /** False if events were left out, because the history was too long, or has pages that could not be reached. */
  readonly complete: boolean;
  /** Number of events that could not be read. Absent if there were none. */
  readonly unreadRows?: number;
  /** Oldest first. Texts longer than 64 Ki characters are cut. */
  readonly events: readonly SandboxHistoryEvent[];
}
