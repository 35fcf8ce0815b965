/**
 * Whose failure an ending is: from codes, outcomes and phases, never from texts. No dependencies: workflow code may
 * import this file.
 */
import { currentErrorCode, type ErrorCode, errorCodes, errorMeaning } from '../contract/workflow-safe/error-codes.js';
import { errorKindOf } from '../errors/sandflow-error-codes.js';
import type { JobPhase } from './job/job-phases.js';
import { type FailureClass, failureClasses, type ResultErrorCode, resultErrors } from './result-error-codes.js';

type Ended = Record<'outcome', string> & Partial<Record<'errorCode' | 'failureClass', string | null>>;
export type ByClass = Readonly<Partial<Record<FailureClass, number>>>;

/** Codes of `sandflowErrors` that tell of the service. The others in results tell of sandflow and its stores. */
const ofService: ReadonlySet<string> = new Set([
  'connection_failed',
  'timeout',
  'unexpected_response',
  'list_incomplete',
]);
/** Outcomes that are no codes too. */
const ofOutcome = {
  sandbox_failed: 'machine',
  rejected: 'service',
  unverified: 'check',
  source_failed: 'setup',
} as const;
/** Whose time it was that the deadline ended. In every other phase it was that of the service. */
const ofPhase: Readonly<Partial<Record<JobPhase | 'blocked', FailureClass>>> = {
  creating: 'machine',
  resuming: 'machine',
  waiting_for_sandbox: 'machine',
  waiting_for_archive: 'machine',
  waiting_for_setup: 'setup',
  running_commands: 'setup',
  following: 'agent',
  checking: 'check',
};

/**
 * @param ending.outcome of a job, an item, a batch, a stop or a cleanup
 * @param ending.deadlineIn what a job did when its deadline passed. Default: unknown, and the deadline counts as a limit
 *   that a person gave
 * @returns null for what completed, and where nothing tells of a failure: a batch has the classes of its items in
 *   `counts.byClass`
 */
export function failureClassOf({
  outcome,
  error,
  deadlineIn,
}: {
  readonly outcome: string;
  readonly error: { readonly code: string; readonly status?: number | null } | null;
  readonly deadlineIn?: JobPhase | 'blocked' | undefined;
}): FailureClass | null {
  // These decide whatever the code: it may tell what else went wrong at the end.
  if (outcome === 'completed') return null;
  if (outcome === 'cancelled' || outcome === 'not_started') return 'cancelled';
  if (outcome === 'deadline_exceeded' && deadlineIn !== undefined) return ofPhase[deadlineIn] ?? 'service';
  const { code, status = null } = error ?? { code: outcome };
  if (Object.hasOwn(resultErrors, code)) return resultErrors[code as ResultErrorCode];
  if (error === null) return Object.hasOwn(ofOutcome, code) ? ofOutcome[code as keyof typeof ofOutcome] : null;
  if (ofService.has(code)) return 'service';
  if (errorKindOf(code) !== undefined) return 'sandflow';
  const known = currentErrorCode(code);
  const row = Object.hasOwn(errorCodes, known) ? errorCodes[known as ErrorCode] : undefined;
  const given = status ?? row?.statuses[0] ?? 503;
  const isOfRow = row?.statuses.some((listed) => listed === given);
  if (row && isOfRow && 'class' in row) return row.class;
  return errorMeaning(given, code) === 'permanent' ? 'setup' : 'service';
}

/** True for a failure that says nothing of the agent, nor of what a person has set. False without a class: of old results. */
export function isOfOthers(failureClass: string | null | undefined): boolean {
  return failureClass === 'machine' || failureClass === 'service' || failureClass === 'sandflow';
}

/** A person stopped or deleted the sandbox, or has to find out what happened: nobody else decides to do it again. */
const leftToPeople: ReadonlySet<string> = new Set(['outcome_unknown', 'sandbox_stopped', 'sandbox_gone']);

/** True for a failure of others after which the same work may be done again without asking a person. */
export function mayBeRepeated(failureClass: string | null | undefined, errorCode: string | null = null): boolean {
  return isOfOthers(failureClass) && !leftToPeople.has(errorCode ?? '');
}

/** True for such a failure that costs an item none of its retries. Who was blocked until the deadline would be again. */
export function isExcused({ outcome, errorCode, failureClass }: Ended): boolean {
  return mayBeRepeated(failureClass, errorCode) && !(outcome === 'deadline_exceeded' && failureClass === 'service');
}

/** How many of the failures are of others. */
export function othersIn({ machine = 0, service = 0, sandflow = 0 }: ByClass = {}): number {
  return machine + service + sandflow;
}

/** Counts each failure once; who was cancelled has not failed. */
export function classCounts(classes: readonly (FailureClass | null | undefined)[]): ByClass {
  const counts: Partial<Record<FailureClass, number>> = {};
  for (const one of classes) if (one && one !== 'cancelled') counts[one] = (counts[one] ?? 0) + 1;
  return counts;
}

/** Such as `2 agent, 1 machine`; empty without counts. */
export function classesText(byClass: ByClass = {}): string {
  return failureClasses.flatMap((one) => (byClass[one] ? [`${byClass[one]} ${one}`] : [])).join(', ');
}
