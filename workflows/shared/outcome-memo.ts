/**
 * Writes the outcome of a job or batch into its memo, so that lists can show it. For Temporal, every named outcome is
 * `completed`.
 */
import { upsertMemo } from '@temporalio/workflow';
import type { BatchEndMemo, EndedSandboxesMemo, OutcomeMemo } from '../../src/protocol/memos.js';
import type { HowItEnded } from '../../src/protocol/shortfall.js';

/** @param more the sandboxes of a job, or the counts of a batch; one write holds all, because each write is an event */
export function recordOutcome(
  { outcome, shortfall, failureClass = null }: Pick<OutcomeMemo, 'failureClass'> & HowItEnded,
  more: EndedSandboxesMemo | BatchEndMemo = {},
): void {
  const memo: OutcomeMemo = { outcome, ...(failureClass && { failureClass }), ...(shortfall && { shortfall }) };
  upsertMemo({ ...more, ...memo });
}
