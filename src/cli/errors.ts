/** Turns an error into a message, an exit code, and the `error` of `--json`. */
import type { JobError } from '../../workflows/job/types.js';
import { SandflowError } from '../contract/sandflow-error.js';
import { type ErrorKind, sandflowErrorOf } from '../contract/sandflow-error-codes.js';
import { ServiceRefusal } from './connect/service-refusal.js';
import { exitCodes } from './exit-codes.js';

export interface Failure {
  readonly exitCode: number;
  readonly error: JobError;
}

const exitCodeOfKind: Readonly<Record<ErrorKind, number>> = {
  usage: exitCodes.usage,
  unavailable: exitCodes.unreachable,
  outcome: exitCodes.otherOutcome,
};

/** Temporal's errors by name: importing its client would slow every command. */
const temporalErrors: ReadonlySet<string> = new Set([
  'ServiceError',
  'TransportError',
  'WorkflowFailedError',
  'WorkflowNotFoundError',
  'WorkflowUpdateFailedError',
  'WorkflowUpdateRPCTimeoutOrCancelledError',
  'QueryNotRegisteredError',
  'QueryRejectedError',
  'ScheduleNotFoundError',
]);

/** Never throws. An unexpected error has the code `internal`. */
export function failureOf(error: unknown): Failure {
  const status = numberIn(error, 'status');
  const exitCode = exitCodeOf(error, status);
  return {
    exitCode,
    error: {
      code: codeOf(error, exitCode),
      message: messageOf(error),
      status: status ?? null,
      requestId: stringIn(error, 'requestId') ?? null,
      details: recordIn(error, 'details') ?? null,
    },
  };
}

function codeOf(error: unknown, exitCode: number): string {
  if (error instanceof SandflowError) return error.code;
  if (exitCode === exitCodes.internal) return 'internal';
  return stringIn(error, 'code') ?? 'unexpected';
}

function exitCodeOf(error: unknown, status: number | undefined): number {
  if (error instanceof ServiceRefusal) return error.mayPass ? exitCodes.unreachable : exitCodes.usage;
  const own = error instanceof SandflowError ? sandflowErrorOf(error.code) : undefined;
  if (own) return exitCodeOfKind[own.kind];
  const systemCode = systemCodeOf(error);
  if (systemCode === 'EADDRINUSE' || systemCode === 'EACCES') return exitCodes.usage;
  if (status !== undefined && status >= 400 && status < 500 && status !== 408 && status !== 429) return exitCodes.usage;
  const isPlanned = error instanceof SandflowError || systemCode !== undefined || isOfTemporal(error);
  return isPlanned ? exitCodes.unreachable : exitCodes.internal;
}

function isOfTemporal(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  // A gRPC error has a numeric code, and details.
  const isAnswer = typeof valueIn(error, 'code') === 'number' && typeof valueIn(error, 'details') === 'string';
  return temporalErrors.has(error.name) || isAnswer || isOfTemporal(error.cause);
}

function messageOf(error: unknown): string {
  if (systemCodeOf(error) === 'EADDRINUSE') {
    const port = numberIn(error, 'port');
    return `Port${port === undefined ? '' : ` ${port}`} is in use. Choose another with --port, or end the program that uses it.`;
  }
  if (!(error instanceof Error)) return String(error);
  if (error instanceof SandflowError) return error.message;
  // Temporal's client hides the reason in a chain of causes: the innermost is the most specific.
  const cause = innermost(error);
  return cause === error || cause.message === '' ? error.message : `${error.message}: ${cause.message}`;
}

function innermost(error: Error): Error {
  return error.cause instanceof Error ? innermost(error.cause) : error;
}

/** An error code of the system or the network, such as `ENOSPC`. Node's own `ERR_…` codes are defects of the caller. */
function systemCodeOf(error: unknown): string | undefined {
  const code = stringIn(error, 'code');
  if (code !== undefined && /^(?:E[A-Z0-9]+|UND_ERR_\w+|ERR_(?:TLS|SSL)_\w+)$/.test(code)) return code;
  return error instanceof Error && error.cause ? systemCodeOf(error.cause) : undefined;
}

function valueIn(holder: unknown, key: string): unknown {
  return typeof holder === 'object' && holder !== null && key in holder
    ? (holder as Readonly<Record<string, unknown>>)[key]
    : undefined;
}

function stringIn(holder: unknown, key: string): string | undefined {
  const value = valueIn(holder, key);
  return typeof value === 'string' ? value : undefined;
}

function numberIn(holder: unknown, key: string): number | undefined {
  const value = valueIn(holder, key);
  return typeof value === 'number' ? value : undefined;
}

function recordIn(holder: unknown, key: string): Readonly<Record<string, unknown>> | undefined {
  const value = valueIn(holder, key);
  return typeof value === 'object' && value !== null ? (value as Readonly<Record<string, unknown>>) : undefined;
}
