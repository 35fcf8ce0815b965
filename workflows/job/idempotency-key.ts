/**
 * What identifies a sandbox that a job creates: the idempotency key of the call, and the sandbox's name. Both are the same for every
 * retry, crash and reset of the job, and differ from generation to generation.
 */
import { workflowInfo } from '@temporalio/workflow';
import { executionOf, ownedSandboxName } from '../../src/contract/addresses.js';
import type { JobState } from './state.js';

const ownStep = 'main';

export function idempotencyKeyOf({ input: { origin } }: JobState, generation: number): string {
  return `${origin?.key ?? workflowInfo().firstExecutionRunId}-${origin?.step ?? ownStep}-${generation}`;
}

/** The name is the address of the workflow that owns the sandbox. */
export function sandboxNameOf(run: JobState, generation: number): string {
  const { deployment, jobId, origin } = run.input;
  return ownedSandboxName({
    deployment,
    jobId: origin?.batchId ?? jobId,
    execution: origin?.execution ?? executionOf(workflowInfo().firstExecutionRunId),
    step: origin?.step ?? ownStep,
    generation,
  });
}
