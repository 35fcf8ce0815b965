/** A single job as a scenario: how to run it, and how to read its result. */

import { vi } from 'vitest';
import { jobWorkflowId } from '../../../../src/addresses/addresses.js';
import type { JobInput, JobResult } from '../../../../workflows/index.js';
import { resetToBeginning } from '../../../workflows/job/reset-job.js';
import { progressOf } from '../../../workflows/job-progress.js';
import { deployment, type Stand, shortTiming } from '../../../workflows/workflow-harness.js';
import type { World } from '../world.js';
import type { Ended, RunOptions, Scenario } from './scenario.js';

/** The sandbox that a job starts with. */
interface Given {
  readonly sandboxId: string;
  readonly othersPromptIds?: readonly string[];
}
type Handle = Awaited<ReturnType<Stand['start']>>;

export interface JobScenario
  extends Partial<Pick<Scenario, 'keeps' | 'makes' | 'always' | 'expected' | 'lens' | 'rowsAt' | 'forks'>> {
  readonly name: string;
  readonly input: (world: Pick<World, 'sourceId'>, id: string, given: string | undefined) => Partial<JobInput>;
  /** The sandbox that the job starts with. */
  readonly given?: (world: World) => Promise<Given>;
  readonly deadlineMs?: number;
  readonly during?: (handle: Handle) => Promise<unknown>;
  /** True if the workflow is reset to its beginning as soon as the service has made its sandbox. */
  readonly isReset?: boolean;
}

export const matrixTiming = { ...shortTiming, cleanUpMs: 4_000, commandSilenceMs: 15_000 };

export const toScenario = (scenario: JobScenario): Scenario => ({
  expected: 'completed',
  makes: 1,
  ...scenario,
  workflow: 'createThenPrompt',
  async prepare(world, options) {
    const { sandboxId: given, othersPromptIds } = (await scenario.given?.(world)) ?? {};
    const workflowId = jobWorkflowId(deployment, options.id);
    return {
      workflowId,
      given: given === undefined ? [] : [given],
      othersPromptIds,
      sourceId: options.sourceId,
      isReset: scenario.isReset,
      isOf: (tag) => tag.workflowId === workflowId,
      owns: ({ id, name }) => id === given || name.startsWith(`${workflowId}-`),
      run: () => runJob(world, scenario, options, given),
    };
  },
});

async function runJob(world: World, scenario: JobScenario, options: RunOptions, given: string | undefined) {
  const { id, deadlineMs, taskQueue } = options;
  const input: Partial<JobInput> = {
    onUnknownOutcome: 'abandon',
    ...scenario.input({ sourceId: options.sourceId ?? world.sourceId }, id, given),
    jobId: id,
    deadlineMs: Math.min(deadlineMs, scenario.deadlineMs ?? deadlineMs),
    timing: matrixTiming,
  };
  const handle = await world.stand.start(input, { taskQueue });
  // A job that ends before the interference is a valid run too.
  scenario.during?.(handle).catch(() => undefined);
  const last = scenario.isReset ? await resetOnceMade(world.stand, handle) : handle;
  const result = await last.result();
  return { ...sayingOf(result), outcome: result.outcome };
}

/** The sandboxes in the result of a job. */
export function sayingOf(result: JobResult): Omit<Ended, 'outcome'> {
  const { sandboxId, stop, deletion, left } = result;
  return {
    jobs: [result],
    left: left.flatMap((one) => [one.sandboxId ?? [], one.sandboxName ?? []].flat()),
    saysArchived: sandboxId !== null && stop?.status === 'completed' ? [sandboxId] : [],
    saysDeleted: sandboxId !== null && deletion?.status === 'completed' ? [sandboxId] : [],
  };
}

/** Resolves when the job follows its prompt, or can no longer do so. */
async function following(handle: Handle): Promise<void> {
  for (;;) {
    const { phase } = await progressOf(handle);
    if (phase === 'following' || phase === 'ended') return;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

/** Resets a job to its beginning when its sandbox exists. @returns the new run */
async function resetOnceMade(stand: Stand, handle: Handle): Promise<Pick<Handle, 'result'>> {
  const { workflowId } = handle;
  await vi.waitUntil(() => stand.service.books.sandboxes().some(({ name }) => name.startsWith(`${workflowId}-`)), {
    timeout: 60_000,
  });
  return resetToBeginning(stand, handle);
}

/** Cancels a job that follows its prompt. */
export async function cancelledMidway(handle: Handle): Promise<void> {
  await following(handle);
  await handle.cancel();
}
