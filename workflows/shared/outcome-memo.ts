/**
 * Writes the outcome of a job or batch into its memo, so that lists can show it. For Temporal, every named outcome is
 * `completed`.
 */
import { upsertMemo } from '@temporalio/workflow';
import type { EndedSandboxesMemo, OutcomeMemo } from '../../src/protocol/memos.js';

/** @param sandboxes of a job; one write holds all, because each write is an event */
export function recordOutcome(
  { outcome, shortfall }: { readonly outcome: string; readonly shortfall: string | null },
  sandboxes: EndedSandboxesMemo = {},
): void {
  const memo: OutcomeMemo = { outcome, ...(shortfall !== null && { shortfall }) };
  upsertMemo({ ...sandboxes, ...memo });
}
