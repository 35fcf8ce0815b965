/** Tells what an answer without the resource means. */
import { ApiError, UnexpectedResponseError } from './errors.js';

/** True for the service's own 404. That of a proxy says nothing of the resource. */
export function isMissing(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === 404 && error.typed;
}

/** Statuses of a proxy, or of a gate before the service, that may pass. */
const passing: ReadonlySet<number> = new Set([401, 402, 407, 408, 425, 429]);

/**
 * True if the service has no such read, or answers it in another shape: a repeat would end the same. It says nothing of
 * the resource.
 */
export function isUnreadable(error: unknown): error is ApiError | UnexpectedResponseError {
  if (error instanceof UnexpectedResponseError) return true;
  if (!(error instanceof ApiError)) return false;
  const { status, typed, meaning } = error;
  return status === 501 || (typed ? meaning === 'permanent' : status >= 400 && status < 500 && !passing.has(status));
}

/** The value of a read, or null if the service reports that the resource does not exist. */
export async function orNullWhenMissing<T>(read: Promise<T>): Promise<T | null> {
  try {
    return await read;
  } catch (error) {
    if (isMissing(error)) return null;
    throw error;
  }
}
