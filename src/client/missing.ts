/** Tells that the service does not know a resource. */
import { ApiError } from './errors.js';

/** True for the service's own 404. That of a proxy says nothing of the resource. */
export function isMissing(error: unknown): error is ApiError {
  return error instanceof ApiError && error.status === 404 && error.typed;
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
