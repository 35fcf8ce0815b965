/** Converts an error to a message, an exit code, and the `error` of `--json`. */

import { connectionProblemOf } from '../errors/connection-problem.js';
import { diskFull, isDiskFull } from '../errors/disk-full.js';
import { SandflowError } from '../errors/sandflow-error.js';
import type { JobError } from '../protocol/job/job-result.js';
import { missingApiOf } from '../temporal/missing-api.js';
import { numberIn, recordIn, stringIn } from './error-fields.js';
import { exitCodeOf, exitCodes } from './exit-codes.js';
import { pathProblemOf } from './path-problems.js';
import { asCalled } from './program-name.js';

export type Failure = ReturnType<typeof failureOf>;

/** An error that did not come from the service. */
export function plainError(code: string, message: string): JobError {
  return { code, message, status: null, requestId: null, details: null };
}

/** Never throws. An unexpected error has the code `internal`. */
export function failureOf(thrown: unknown) {
  const error = missingApiOf(thrown) ?? thrown;
  const exitCode = exitCodeOf(error);
  return {
    exitCode,
    error: {
      code: codeOf(error, exitCode),
      message: messageOf(error),
      status: numberIn(error, 'status') ?? null,
      requestId: stringIn(error, 'requestId') ?? null,
      details: recordIn(error, 'details') ?? null,
    },
  };
}

function codeOf(error: unknown, exitCode: number): string {
  if (error instanceof SandflowError) return error.code;
  if (isDiskFull(error)) return 'disk_full';
  if (exitCode === exitCodes.internal) return 'internal';
  return stringIn(error, 'code') ?? 'unexpected';
}

function messageOf(error: unknown): string {
  if (error instanceof SandflowError) return asCalled(error.message);
  if (isDiskFull(error)) return diskFull(stringIn(error, 'path') ?? 'a file', error).message;
  const problem = pathProblemOf(error);
  if (problem !== undefined) return problem;
  if (!(error instanceof Error)) return String(error);
  // Temporal's client has the reason in a chain of causes. The innermost cause is the most specific.
  const cause = innermost(error);
  const network = connectionProblemOf(cause);
  if (network) return `${error.message}: ${network.text}. ${network.mend}`;
  return cause === error || cause.message === '' ? error.message : `${error.message}: ${cause.message}`;
}

function innermost(error: Error): Error {
  return error.cause instanceof Error ? innermost(error.cause) : error;
}
