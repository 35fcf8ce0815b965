/** What workflows write into their memos, so that lists can show it without a query. */
import type { EndedSandbox } from './ended-sandbox.js';
import type { FailureClass } from './result-error-codes.js';

/** The start of the first run: Temporal knows only the start of the newest one. */
export interface StartMemo {
  /** ISO 8601 time. Absent in the first run, unless it was reset. */
  readonly startedAt?: string;
}

/** The outcome: for Temporal, every named outcome is `completed`. */
export interface OutcomeMemo {
  /** Null until the workflow has ended. */
  readonly outcome: string | null;
  /** Whose failure that is. Absent, or null: nobody's, or unknown. */
  readonly failureClass?: FailureClass | null;
  /** What the job or batch lacks although its outcome does not tell it, in words. Absent: nothing. */
  readonly shortfall?: string;
}

/** What a batch writes at its end. Absent in a batch that has not ended. */
export interface BatchEndMemo extends Pick<OutcomeMemo, 'failureClass'> {
  readonly counts?: { readonly completed: number; readonly items: number };
}

/** Whether summaries of activities may contain texts. The caller that starts the workflow sets it. */
export interface TextInSummariesMemo {
  /** Absent, or true: they show texts. */
  readonly textInSummaries?: boolean;
}

/**
 * The sandboxes that a job knows at its end, by `endedKey` of their ids; for cleanups. An item writes it only if it keeps
 * its fork: its summary tells the rest.
 */
export type EndedSandboxesMemo = Readonly<Record<string, EndedSandbox>>;
