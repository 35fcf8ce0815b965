/** Marks what a job leaves behind on purpose: cleanups read the memo of its workflow, and leave that sandbox alone. */
import { upsertMemo } from '@temporalio/workflow';
import type { JobState } from '../state.js';

/** What is in the memo of a workflow that has kept its sandbox. */
export interface KeptMemo {
  /** Id of the sandbox: what else the job has made, and lost, is an orphan. */
  readonly kept: string;
}

export function markKept({ input }: JobState, sandboxId: string): void {
  const memo: KeptMemo = { kept: sandboxId };
  // The name of a sandbox of others leads to nobody, or to its own job.
  if (input.source.kind !== 'existing') upsertMemo({ ...memo });
}
