/** Errors of Temporal's client, translated for users of a stop. */
import {
  isGrpcServiceError,
  ServiceError,
  WorkflowFailedError,
  WorkflowNotFoundError,
  WorkflowUpdateFailedError,
  WorkflowUpdateRPCTimeoutOrCancelledError,
} from '@temporalio/client';
import { SandflowError } from '../../contract/sandflow-error.js';

const grpcDeadlineExceeded = 4;
const grpcNotFound = 5;
const grpcResourceExhausted = 8;
const grpcAborted = 10;

/** Thrown where an answer did not come in time: what the client itself throws then depends on its connection. */
export class AnswerTimeoutError extends Error {
  override readonly name = 'AnswerTimeoutError';

  constructor(cause: unknown) {
    super('no answer in time', { cause });
  }
}

/** True if the workflow did not answer in time. */
export function isSlow(error: unknown): boolean {
  if (error instanceof AnswerTimeoutError) return true;
  return error instanceof WorkflowUpdateRPCTimeoutOrCancelledError || grpcCode(error) === grpcDeadlineExceeded;
}

/** True if the workflow was ending, so the same request starts it again. */
export function isClosing(error: unknown): boolean {
  const code = grpcCode(error);
  return error instanceof WorkflowNotFoundError || code === grpcNotFound || code === grpcAborted;
}

/** True if the workflow has as many open updates as Temporal allows. */
export function isBusy(error: unknown): boolean {
  return grpcCode(error) === grpcResourceExhausted;
}

/** Converts an error of Temporal's client into one that says how to fix it; returns others unchanged. */
export function explainStopError(error: unknown, sandboxId: string): unknown {
  if (error instanceof WorkflowUpdateFailedError) {
    const why = error.cause?.message ?? error.message;
    return new SandflowError('refused', `The stop of ${sandboxId} was refused: ${why}`, { cause: error });
  }
  if (error instanceof WorkflowFailedError) {
    const why = error.cause?.message ?? error.message;
    const message = `The workflow that stopped ${sandboxId} was ended from outside: ${why}. Ask again to stop it.`;
    return new SandflowError('stop_lost', message, { cause: error });
  }
  if (isBusy(error)) {
    const message = `Too many requests to stop ${sandboxId} wait for the service to answer. Ask again later.`;
    return new SandflowError('stop_busy', message, { cause: error });
  }
  if (isSlow(error)) {
    const message = `The stop of ${sandboxId} did not answer in time: no worker takes its tasks. Start one with \`sandflow worker\`, then ask again.`;
    return new SandflowError('no_worker', message, { cause: error });
  }
  return error;
}

function grpcCode(error: unknown): number | undefined {
  if (error instanceof ServiceError) return grpcCode(error.cause);
  return isGrpcServiceError(error) ? error.code : undefined;
}
