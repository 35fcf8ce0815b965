import { ApplicationFailure, executeChild, proxyActivities } from '@temporalio/workflow';
import type { SandflowActivities } from '../../../../activities/index.js';
import { createThenPrompt } from '../../../../workflows/index.js';
import { ownJob } from '../../../../workflows/waiting.js';

export * from '../../../../workflows/index.js';

const { runCommand, stopSandbox } = proxyActivities<SandflowActivities>({
  startToCloseTimeout: '60 seconds',
  heartbeatTimeout: '10 seconds',
});

/** Runs a job as a child, then a command in its sandbox, and returns what both said. */
export async function fix(deployment: string, jobId: string, prompt: string): Promise<readonly string[]> {
  const job = ownJob({ deployment, jobId, prompts: [{ prompt }], end: 'keep' });
  const { outcome, sandboxId, prompts, error } = await executeChild(createThenPrompt, job);
  if (outcome !== 'completed' || sandboxId === null) {
    throw ApplicationFailure.nonRetryable(`The job ended as ${outcome}: ${error?.message}`);
  }
  const { stdout } = await runCommand({ sandboxId, body: { command: 'echo checked' } });
  await stopSandbox({ sandboxId });
  return [prompts[0]?.result ?? '', stdout];
}
