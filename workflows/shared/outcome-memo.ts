/**
 * Writes the outcome of a job or batch into its memo, so that lists can show it. For Temporal, every named outcome is
 * `completed`.
 */
import { upsertMemo } from '@temporalio/workflow';

/** The part of a memo that holds the outcome. */
export interface OutcomeMemo {
  /** Null until the workflow has ended. */
  readonly outcome: string | null;
}

/** Records the outcome. */
export function recordOutcome(outcome: string): void {
  const memo: OutcomeMemo = { outcome };
  upsertMemo({ ...memo });
}
