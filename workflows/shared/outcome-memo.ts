/** The outcome of a job or batch in its memo, so that lists can show it: Temporal calls every named outcome `completed`. */
import { upsertMemo, workflowInfo } from '@temporalio/workflow';

/** The part of a memo that holds the outcome. */
export interface OutcomeMemo {
  /** Null until the workflow has ended. */
  readonly outcome: string | null;
}

/**
 * Records the outcome. Only a workflow that was started with an `outcome` in its memo does, so histories of earlier
 * versions replay unchanged.
 */
export function recordOutcome(outcome: string): void {
  const memo: OutcomeMemo = { outcome };
  if ('outcome' in (workflowInfo().memo ?? {})) upsertMemo({ ...memo });
}
