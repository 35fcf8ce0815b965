/** Who makes the calls that concern the source of a batch. */
import { JobRun } from '../../job/state.js';
import type { BatchRun } from '../batch/state.js';

/** The calls that concern the source are made as a job that works in it makes them. */
export function sourceJob(run: BatchRun, sandboxId: string): JobRun {
  const { deployment, batchId, policy, notify, timing } = run.input;
  return new JobRun({
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
