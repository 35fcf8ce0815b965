/** The caller of requests that concern the source of a batch. */
import { JobState } from '../../job/state.js';
import type { BatchState } from '../batch/state.js';

/** The state of a job in the source sandbox, so that the steps of a job can lease, read and end the sandbox. */
export function sourceJob(run: BatchState, sandboxId: string): JobState {
  const { deployment, batchId, policy, notify, timing } = run.input;
  return new JobState({
    deployment,
    jobId: batchId,
    source: { kind: 'existing', sandboxId },
    waitFor: 'usable',
    put: [],
    prompts: [],
    conversations: 'one',
    collect: [],
    end: 'stop',
    deadlineMs: policy.deadlineMs,
    ttlSeconds: policy.ttlSeconds,
    onUnknownOutcome: 'abandon',
    maxGenerations: 1,
    notify,
    timing,
  });
}
