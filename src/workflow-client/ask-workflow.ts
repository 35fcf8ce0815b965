/** Sends requests to the workflow of a job or a batch. Errors say how to fix the problem. */
import {
  type Client,
  QueryNotRegisteredError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
} from '@temporalio/client';
import { jobWorkflowId } from '../addresses/addresses.js';
import { SandflowError } from '../errors/sandflow-error.js';
import { workflowTypes } from '../protocol/messages.js';
import { withAnswerTimeout } from '../temporal/calls.js';
import { hasNoPoller, isClosing, isSlow, isTemporalUnreachable, reasonOf } from '../temporal/errors.js';
import { describeReadable } from '../temporal/readable-memos.js';

/** Temporal answers by itself what it knows of a workflow, and needs no worker. */
const describeMs = 5_000;

/** A job or a batch. */
export interface AskedWorkflow {
  readonly kind: 'job' | 'batch';
  readonly deployment: string;
  readonly id: string;
  /** The id of the update that is sent, if one is. */
  readonly updateId?: string;
}

/**
 * @param firstTimeoutMs how long to wait before the request is repeated, in ms; by default it is not repeated
 * @throws SandflowError as `explainError` says
 */
export async function askWorkflow<T>(
  client: Client,
  asked: AskedWorkflow,
  ask: () => Promise<T>,
  firstTimeoutMs?: number,
): Promise<T> {
  try {
    return await withAnswerTimeout(client, ask, firstTimeoutMs);
  } catch (error) {
    throw await explainError(error, client, asked);
  }
}

/**
 * Converts an error of a request into an error that says how to fix the problem.
 * @returns `refused`, `no_worker`, `temporal_unreachable`, or that the workflow is missing, has ended or is of the other kind; other errors
 *   unchanged
 */
export async function explainError(error: unknown, client: Client, asked: AskedWorkflow): Promise<unknown> {
  const { kind, deployment, id, updateId } = asked;
  const there = () => describeReadable(client, jobWorkflowId(deployment, id)).catch(() => undefined);
  if (error instanceof WorkflowUpdateFailedError) {
    return new SandflowError('refused', `The ${kind} "${id}" refused the request: ${reasonOf(error)}`, {
      cause: error,
    });
  }
  if (error instanceof WorkflowNotFoundError || (kind === 'batch' && isClosing(error))) {
    // Temporal answers `not found` for a missing workflow and for an ended one. The text of the answer is not stable.
    return (await there()) ? endedError(asked, error) : notFoundError(asked, error);
  }
  // The SDK throws this for every query that fails, so the type of the workflow decides.
  if (error instanceof QueryNotRegisteredError) {
    const other = kind === 'job' ? workflowTypes.forkFanout : workflowTypes.createThenPrompt;
    return (await there())?.type === other ? otherKindError(asked, error) : error;
  }
  const isUnpolled = hasNoPoller(error);
  if (!isUnpolled && !isSlow(error)) return error;
  const later =
    updateId === undefined
      ? ''
      : ` It may still get the request then. To repeat the request and have it done once, give it the same id: --update-id ${updateId}`;
  // A connection that went silent looks the same, and a worker would not help.
  if (!isUnpolled && (await isTemporalSilent(client, asked))) {
    const silent = `Temporal does not answer, so whether the ${kind} "${id}" goes on is not known. Check the network.`;
    return new SandflowError('temporal_unreachable', `${silent}${later}`, { cause: error });
  }
  const unanswered = `The ${kind} "${id}" did not answer in time: no worker takes its tasks. Start one with \`sandflow worker\`.`;
  return new SandflowError('no_worker', `${unanswered}${later}`, { cause: error });
}

async function isTemporalSilent(client: Client, { deployment, id }: AskedWorkflow): Promise<boolean> {
  const describe = () => describeReadable(client, jobWorkflowId(deployment, id));
  return client.withDeadline(Date.now() + describeMs, describe).then(
    () => false,
    (error: unknown) => isTemporalUnreachable(error),
  );
}

export function notFoundError({ kind, deployment, id }: AskedWorkflow, cause?: unknown): SandflowError {
  const [code, list] =
    kind === 'job' ? (['job_not_found', 'jobs'] as const) : (['fanout_not_found', 'fanout'] as const);
  const message = `There is no ${kind} "${id}" in the deployment "${deployment}". \`sandflow ${list} list\` lists them.`;
  return new SandflowError(code, message, { cause });
}

/** The error for a request to a job whose id belongs to a batch, or the other way round. */
export function otherKindError({ kind, id }: AskedWorkflow, cause?: unknown): SandflowError {
  if (kind === 'job') {
    const message = `"${id}" is a batch, not a job: see \`sandflow fanout show ${id}\`, or choose another id.`;
    return new SandflowError('not_a_job', message, { cause });
  }
  const message = `"${id}" is a job, not a batch: see \`sandflow jobs show ${id}\`, or choose another id.`;
  return new SandflowError('not_a_fanout', message, { cause });
}

/** The error for a request to a workflow that has ended. */
export function endedError({ kind, id }: AskedWorkflow, cause?: unknown): SandflowError {
  if (kind === 'job') {
    const message = `The job "${id}" has ended. \`sandflow jobs show ${id}\` shows its result, \`sandflow continue ${id} "…"\` goes on in its conversation.`;
    return new SandflowError('job_ended', message, { cause });
  }
  const message = `The batch "${id}" has ended. \`sandflow fanout show ${id}\` shows its result, \`sandflow fanout resume ${id}\` continues it.`;
  return new SandflowError('fanout_ended', message, { cause });
}
