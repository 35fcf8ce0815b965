/**
 * Writes the outcome of a job or batch into its memo, so that lists can show it. For Temporal, every named outcome is
 * `completed`.
 */
import { upsertMemo } from '@temporalio/workflow';
import type { BatchEndMemo, EndedSandboxesMemo, OutcomeMemo } from '../../src/protocol/memos.js';

/** @param more the sandboxes of a job, or the counts of a batch; one write holds all, because each write is an event */
export function recordOutcome(
  { outcome, shortfall }: { readonly outcome: string; readonly shortfall: string | null },
  more: EndedSandboxesMemo | BatchEndMemo = {},
): void {
  const memo: OutcomeMemo = { outcome, ...(shortfall !== null && { shortfall }) };
  upsertMemo({ ...more, ...memo });
}
