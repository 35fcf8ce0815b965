/**
 * Writes the outcome of a job or batch into its memo, so that lists can show it. For Temporal, every named outcome is
 * `completed`.
 */
import { patched, upsertMemo, workflowInfo } from '@temporalio/workflow';

/** The part of a memo that holds the outcome. */
export interface OutcomeMemo {
  /** Null until the workflow has ended. */
  readonly outcome: string | null;
}

/**
 * Records the outcome. The memo usually has an `outcome` of null until then, and such a workflow needs no patch. It has
 * none after another change of the memo, because the SDK drops every null, and in a workflow that others started.
 */
export function recordOutcome(outcome: string): void {
  const memo: OutcomeMemo = { outcome };
  const isExpected = 'outcome' in (workflowInfo().memo ?? {});
  if (isExpected || patched('every outcome is recorded')) upsertMemo({ ...memo });
}
