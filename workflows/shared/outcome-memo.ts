/**
 * Writes the outcome of a job or batch into its memo, so that lists can show it. For Temporal, every named outcome is
 * `completed`.
 */
import { upsertMemo } from '@temporalio/workflow';
import type { OutcomeMemo } from '../../src/protocol/memos.js';

export function recordOutcome(outcome: string): void {
  const memo: OutcomeMemo = { outcome };
  upsertMemo({ ...memo });
}
