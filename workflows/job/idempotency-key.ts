/**
 * The two identifiers of a sandbox that a job creates: the idempotency key of the call and the sandbox's name. Retries,
 * crashes and resets of the job do not change them. Each generation has its own.
 */
import { workflowInfo } from '@temporalio/workflow';
import { executionOf, ownedSandboxName } from '../../src/addresses/addresses.js';
import type { JobInput } from '../../src/protocol/job/job-input.js';

const ownStep = 'main';

export function idempotencyKeyOf({ origin }: JobInput, generation: number): string {
  return `${origin?.key ?? workflowInfo().firstExecutionRunId}-${origin?.step ?? ownStep}-${generation}`;
}

/** The name contains the id of the workflow that owns the sandbox. */
export function sandboxNameOf({ deployment, jobId, origin }: JobInput, generation: number): string {
  return ownedSandboxName({
    deployment,
    jobId: origin?.batchId ?? jobId,
    execution: origin?.execution ?? executionOf(workflowInfo().firstExecutionRunId),
    step: origin?.step ?? ownStep,
    generation,
  });
}
