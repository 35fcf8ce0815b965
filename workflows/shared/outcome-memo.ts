/**
 * Writes the outcome of a job or batch into its memo, so that lists can show it. For Temporal, every named outcome is
 * `completed`.
 */
import { upsertMemo, workflowInfo } from '@temporalio/workflow';

/** The part of a memo that holds the outcome. */
export interface OutcomeMemo {
  /** Null until the workflow has ended. */
  readonly outcome: string | null;
}

/**
 * Records the outcome, but only if the memo had an `outcome` at the start. So histories of earlier versions replay
 * unchanged.
 */
export function recordOutcome(outcome: string): void {
  const memo: OutcomeMemo = { outcome };
  if ('outcome' in (workflowInfo().memo ?? {})) upsertMemo({ ...memo });
}
