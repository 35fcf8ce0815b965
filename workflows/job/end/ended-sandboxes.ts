/** What a job tells cleanups about its sandboxes at its end. */
import { upsertMemo } from '@temporalio/workflow';
import { type EndedSandbox, endedKey, type SandboxEnding } from '../../../src/protocol/ended-sandbox.js';
import type { EndedSandboxesMemo } from '../../../src/protocol/memos.js';
import { sandboxNameOf } from '../idempotency-key.js';
import type { JobState } from '../job-state.js';

/** The sandboxes of a job that has ended, for its memo. Reads only the state of the job. */
export function endedSandboxes(job: JobState): EndedSandboxesMemo {
  const {
    input,
    sandbox,
    carried: { generation, lost, reachedAtMs },
  } = job;
  const { ended: endedAtMs = Date.now() } = reachedAtMs;
  const ended = lost.map(({ id, name }): [string, EndedSandbox] => [endedKey(id), { name, end: 'left', endedAtMs }]);
  // A person may have renamed the sandbox. A fork without a name inherits the name of that moment.
  const name = input.source.kind === 'existing' ? null : sandboxNameOf(input, generation);
  if (sandbox !== null) ended.push([endedKey(sandbox.id), { name, end: endingOf(job), endedAtMs }]);
  return Object.fromEntries(ended);
}

/** Tells cleanups that an item keeps its fork. Writes nothing if the fork is to be stopped or deleted. */
export function recordKeptFork(job: JobState): void {
  if (job.input.end === 'keep' && job.sandbox !== null) upsertMemo({ ...endedSandboxes(job) });
}

/** If `left` names the sandbox, the job did not end it, or not as it was asked to. */
function endingOf({ input, sandbox, deletion, carried: { stop, left } }: JobState): SandboxEnding {
  const isOver = (ended: { readonly status: string } | null) =>
    ended?.status === 'completed' || ended?.status === 'gone';
  if (isOver(deletion)) return 'deleted';
  if (left.some(({ kind, sandboxId }) => kind === 'sandbox' && sandboxId === sandbox?.id)) return 'left';
  if (isOver(stop)) return 'stopped';
  return input.end === 'keep' ? 'kept' : 'left';
}
