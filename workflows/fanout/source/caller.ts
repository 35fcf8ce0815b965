/** The state with which a batch makes calls for its source. */
import type { SandboxView } from '../../../src/contract/workflow-safe/sandbox-view.js';
import { jobSettingsWith } from '../../../src/protocol/job/job-settings-with.js';
import { JobState } from '../../job/job-state.js';
import { confirmSandboxMissing, readSandbox } from '../../job/sandbox/wait-until-usable.js';
import type { BatchState } from '../batch/batch-state.js';

/** The state of a job in the source sandbox, so that the steps of a job can lease, read and end the sandbox. */
export function sourceJob(batch: BatchState, sandboxId: string): JobState {
  const { deployment, batchId, policy, notify, timing } = batch.input;
  return new JobState({
    deployment,
    jobId: batchId,
    source: { kind: 'existing', sandboxId },
    ...jobSettingsWith({
      end: 'stop',
      deadlineMs: policy.deadlineMs,
      ttlSeconds: policy.ttlSeconds,
      onUnknownOutcome: 'abandon',
      maxGenerations: 1,
      notify,
      escalate: policy.escalate,
      timing,
    }),
  });
}

/** Reads the source; null only if it has been missing for longer than a read may lag. */
export async function readLasting(job: JobState, sandboxId: string): Promise<SandboxView | null> {
  const sandbox = await readSandbox(job, sandboxId);
  return sandbox ?? confirmSandboxMissing(job, sandboxId);
}
