/** Marks the sandbox that a job keeps on purpose: cleanups read the memo of its workflow and skip that sandbox. */
import { upsertMemo } from '@temporalio/workflow';
import type { JobState } from '../state.js';

/** The memo of a workflow that keeps its sandbox. */
export interface KeptMemo {
  /** Id of the kept sandbox. Any other sandbox that the job created and lost is an orphan. */
  readonly kept: string;
}

export function markKept({ input }: JobState, sandboxId: string): void {
  const memo: KeptMemo = { kept: sandboxId };
  // The name of somebody else's sandbox identifies no job, or its own.
  if (input.source.kind !== 'existing') upsertMemo({ ...memo });
}
