/** Runs the plain job of the bench with the product. */
import { randomBytes } from 'node:crypto';
import type { JobInput } from '../../src/protocol/job/job-input.js';
import { type JobHandle, startJob } from '../../src/workflow-client/jobs/job-client.js';
import type { Stand } from '../stand.js';

export const deployment = 'bench';

export function jobInput(over: Partial<JobInput>): JobInput {
  return {
    deployment,
    jobId: `j${randomBytes(6).toString('hex')}`,
    source: { kind: 'create', body: {} },
    waitFor: 'usable',
    put: [],
    prompts: [{ prompt: shellPrompt('true') }],
    conversations: 'one',
    collect: [],
    end: 'stop',
    deadlineMs: 24 * 3_600_000,
    ttlSeconds: 24 * 3_600,
    onUnknownOutcome: 'abandon',
    maxGenerations: 1,
    ...over,
  };
}

/** A prompt whose shell command the built-in agent of the local service runs. */
export function shellPrompt(command: string): string {
  return `Please run this.\n\`\`\`sh\n${command}\n\`\`\``;
}

export async function startPlainJob(stand: Stand, over: Partial<JobInput>): Promise<JobHandle> {
  const { handle } = await startJob(stand.client, jobInput(over), { taskQueue: stand.taskQueue });
  return handle;
}

/** Runs a job to its end. */
export async function runPlainJob(stand: Stand, over: Partial<JobInput>): Promise<JobHandle> {
  const handle = await startPlainJob(stand, over);
  const { outcome, error } = await handle.result();
  if (outcome !== 'completed') throw new Error(`A job ended as ${outcome}: ${error?.message}`);
  return handle;
}

/** Calls `each` for every number below `count`, with at most `atOnce` calls at the same time. */
export async function inParallel(count: number, atOnce: number, each: (index: number) => Promise<void>): Promise<void> {
  let next = 0;
  const lane = async () => {
    for (let index = next++; index < count; index = next++) await each(index);
  };
  await Promise.all(Array.from({ length: Math.min(count, atOnce) }, lane));
}
