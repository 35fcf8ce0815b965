/** The exit codes of the command line: of what has ended, and of each error. */
import { SandflowError } from '../errors/sandflow-error.js';
import { type ErrorKind, errorKindOf } from '../errors/sandflow-error-codes.js';
import { othersIn } from '../protocol/failure-class.js';
import type { FanoutProgress } from '../protocol/fanout/fanout-progress.js';
import { numberIn, systemCodeOf, valueIn } from './error-fields.js';
import { pathProblems } from './path-problems.js';
import { ServiceRefusal } from './service-refusal.js';

/** Each exit code with its line on the help page. docs/configuration.md says more. */
const rows = {
  done: [0, 'the job or batch completed and left nothing behind, or the command succeeded'],
  otherOutcome: [1, 'the job or batch ended with another outcome, left something behind, or a file is missing'],
  usage: [
    2,
    'invalid usage or configuration, an id that does not exist, or the service rejected the key; nothing was started',
  ],
  unreachable: [
    3,
    'Temporal or the service is unreachable, throttles or returns errors, or a disk is full; try again later',
  ],
  watchDeadline: [4, '--watch-deadline passed; the job or batch is still running'],
  unverified: [5, 'the job is unverified: its checks did not pass'],
  othersFailure: [6, 'like 1, but failed only by a machine, the service or sandflow: the same work may succeed later'],
  internal: [70, 'an unexpected error: a bug in sandflow'],
  detached: [130, 'ended by Ctrl-C; the job or batch is still running, if it was started'],
} as const;

type Rows = typeof rows;

export const exitCodes = Object.fromEntries(Object.entries(rows).map(([name, [code]]) => [name, code])) as {
  readonly [Name in keyof Rows]: Rows[Name][0];
};

/** Those of all commands. */
export const exitCodesHelp = `
Exit codes:
${Object.values(rows)
  .map(([code, text]) => `  ${String(code).padEnd(4)} ${text}\n`)
  .join('')}`;

/** Why a command stopped watching before the end: Ctrl-C, or `--watch-deadline`. */
export type Unfinished = { readonly kind: 'detached' } | { readonly kind: 'deadline' };

/** How a job, batch or cleanup has ended, or why a command stopped watching it before. */
type SeenEnd =
  /** `isDone` is true if a person need not look at it: it went as asked, lacks nothing and left nothing behind. */
  | { readonly kind: 'ended'; readonly isDone: boolean; readonly isOfOthers?: boolean; readonly isUnverified?: boolean }
  | Unfinished;

export function exitCodeOfEnd(end: SeenEnd): number {
  switch (end.kind) {
    case 'ended':
      if (end.isDone) return exitCodes.done;
      if (end.isUnverified) return exitCodes.unverified;
      return end.isOfOthers ? exitCodes.othersFailure : exitCodes.otherOutcome;
    case 'detached':
      return exitCodes.detached;
    case 'deadline':
      return exitCodes.watchDeadline;
  }
}

/** True if what was watched has ended; false for a command that stopped watching it before. */
export function isOfEnd(exitCode: number): boolean {
  const { done, otherOutcome, unverified, othersFailure } = exitCodes;
  return ([done, otherOutcome, unverified, othersFailure] as readonly number[]).includes(exitCode);
}

/** True if all items ended by themselves, those that failed by others, and nobody need look after anything else. */
export function isFailedByOthers(ended: Pick<FanoutProgress, 'outcome' | 'counts' | 'shortfall' | 'error'>): boolean {
  const { items, completed, failed, byClass } = ended.counts;
  const isAll = completed + failed === items && failed > 0 && othersIn(byClass) === failed;
  return ended.outcome === 'partly_failed' && isAll && ended.shortfall === null && ended.error === null;
}

const exitCodeOfKind: Readonly<Record<ErrorKind, number>> = {
  usage: exitCodes.usage,
  unavailable: exitCodes.unreachable,
  outcome: exitCodes.otherOutcome,
};

/** Names of Temporal's errors. Importing the client for its classes would slow down every command. */
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

/** System error codes for a path that cannot be used. Repeating the command does not help. */
const pathCodes: ReadonlySet<string> = new Set(Object.keys(pathProblems));

/** Never throws. Returns `internal` for an unexpected error. */
export function exitCodeOf(error: unknown): number {
  const status = numberIn(error, 'status');
  if (error instanceof ServiceRefusal) return error.mayPass ? exitCodes.unreachable : exitCodes.usage;
  const own = error instanceof SandflowError ? errorKindOf(error.code) : undefined;
  if (own) return exitCodeOfKind[own];
  const systemCode = systemCodeOf(error);
  if (systemCode !== undefined && pathCodes.has(systemCode)) return exitCodes.usage;
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
