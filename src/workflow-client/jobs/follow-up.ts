/** Builds the input of a job that follows up on an earlier one: in its sandbox and its conversation. */
import { type Client, WorkflowFailedError } from '@temporalio/client';
import { SandflowError } from '../../errors/sandflow-error.js';
import type { JobInput, PromptStep } from '../../protocol/job/job-input.js';
import type { JobResult } from '../../protocol/job/job-result.js';
import { describeJob, type JobAddress, jobHandle } from './job-client.js';
import { type EarlierJob, inputOfEarlier } from './rerun-job.js';

/** What the follow-up does not take from the earlier job. */
export interface FollowUp extends Pick<PromptStep, 'prompt' | 'provider' | 'model' | 'reasoningEffort'> {
  readonly newJobId: string;
  /** Files to collect. Default: none. */
  readonly collect?: readonly string[];
  /** Default: as the earlier job; `stop` if that job was to delete the sandbox and did not. */
  readonly end?: JobInput['end'];
}

/**
 * Reads an ended job. The same follow-up of the same job is the same input.
 * @returns what `startJob` takes
 * @throws SandflowError `job_not_found`, also if Temporal no longer has the input; `not_a_job`; `job_runs`;
 * `not_continuable` if the job left no sandbox or no single conversation
 */
export async function followUpOf(client: Client, job: JobAddress, given: FollowUp): Promise<EarlierJob> {
  const { status } = await describeJob(client, job).catch((error: unknown) => {
    if (!(error instanceof SandflowError) || error.code !== 'not_a_job') throw error;
    const how = 'sandflow run "…" --sandbox ID --conversation ID, with the ids in its results.jsonl';
    const message = `"${job.jobId}" is a batch, not a job. To follow up on one of its items: ${how}.`;
    throw new SandflowError('not_a_job', message, { cause: error });
  });
  if (status.name === 'RUNNING') {
    const message = `The job "${job.jobId}" has not ended. Send it the prompt: sandflow jobs prompt ${job.jobId} "…".`;
    throw new SandflowError('job_runs', message);
  }
  const result = await resultOf(client, job);
  const { sandboxId, conversationId } = placeOf(result);
  const { input: earlier, labels } = await inputOfEarlier(client, job);
  const input: JobInput = {
    ...earlier,
    jobId: given.newJobId,
    source: { kind: 'existing', sandboxId },
    put: [],
    commands: undefined,
    checks: undefined,
    rounds: undefined,
    after: undefined,
    always: undefined,
    prompts: [stepOf(earlier.prompts.at(-1), given)],
    conversations: 'one',
    conversationId,
    collect: given.collect ?? [],
    collectDiff: undefined,
    end: given.end ?? (earlier.end === 'delete' ? 'stop' : earlier.end),
  };
  return { input, labels };
}

async function resultOf(client: Client, job: JobAddress): Promise<JobResult> {
  try {
    return await jobHandle(client, job).result();
  } catch (error) {
    if (!(error instanceof WorkflowFailedError)) throw error;
    throw notContinuable(job.jobId, 'was ended in Temporal and has no result', error);
  }
}

/**
 * The sandbox and the conversation that a job left.
 * @throws SandflowError `not_continuable`
 */
function placeOf({ jobId, sandboxId, deletion, prompts }: JobResult): { sandboxId: string; conversationId: string } {
  if (sandboxId === null) throw notContinuable(jobId, 'had no sandbox');
  // A deletion that failed has left the sandbox.
  if (deletion !== null && deletion.error === null) {
    throw notContinuable(jobId, `deleted its sandbox ${sandboxId}; \`--end stop\` or \`keep\` would have left it`);
  }
  const [conversationId, ...others] = new Set(prompts.flatMap((prompt) => prompt.conversationId ?? []));
  if (conversationId === undefined) throw notContinuable(jobId, 'began no conversation');
  if (others.length > 0) {
    const ids = [conversationId, ...others].join(', ');
    const choose = `sandflow run "…" --sandbox ${sandboxId} --conversation ${conversationId}`;
    throw notContinuable(jobId, `had several conversations: ${ids}. Choose one: ${choose}`);
  }
  return { sandboxId, conversationId };
}

/** A chosen provider has its own models, and a chosen model its own levels. */
function stepOf(earlier: PromptStep | undefined, { prompt, provider, model, reasoningEffort }: FollowUp): PromptStep {
  const inherits = provider === undefined;
  return {
    ...earlier,
    prompt,
    provider: provider ?? earlier?.provider,
    model: model ?? (inherits ? earlier?.model : undefined),
    reasoningEffort: reasoningEffort ?? (inherits && model === undefined ? earlier?.reasoningEffort : undefined),
  };
}

function notContinuable(jobId: string, why: string, cause?: unknown): SandflowError {
  return new SandflowError('not_continuable', `The job "${jobId}" cannot be continued: it ${why}.`, { cause });
}
