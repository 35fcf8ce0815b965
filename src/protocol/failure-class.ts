/**
 * Whose failure an ending is: from codes, outcomes and phases, never from texts. No dependencies: workflow code may
 * import this file.
 */
import {
  currentErrorCode,
  type ErrorCode,
  type ErrorMeaning,
  errorCodes,
  errorMeaning,
} from '../contract/workflow-safe/error-codes.js';
import { errorKindOf } from '../errors/sandflow-error-codes.js';
import type { JobPhase } from './job/job-phases.js';
import { type FailureClass, resultErrors } from './result-error-codes.js';

/** A code of the service has the class of its meaning, but for these. */
const serviceCodes: Readonly<Partial<Record<ErrorCode, FailureClass>>> = {
  provider_not_configured: 'provider',
  machine_not_running: 'machine',
  sandbox_not_promptable: 'machine',
  resume_failed: 'machine',
  fork_failed: 'machine',
  // Only sandflow itself could have sent such a request.
  invalid_json: 'sandflow',
  no_changes: 'sandflow',
  idempotency_key_reused: 'sandflow',
};
const classOfMeaning: Readonly<Record<ErrorMeaning, FailureClass>> = {
  permanent: 'setup',
  wait_out: 'service',
  few_tries: 'service',
  throttled_shortly: 'service',
  throttled_for_long: 'service',
  blocked: 'service',
  unavailable: 'service',
  unreadable: 'service',
};

/** Codes of `sandflowErrors` that tell of the service. The others tell of sandflow and its stores. */
const aboutService: ReadonlySet<string> = new Set([
  'service_unreachable',
  'connection_failed',
  'timeout',
  'unexpected_response',
  'list_incomplete',
  'not_the_service',
]);

/** Outcomes that decide whatever the code: a code may tell what else went wrong at the end. */
const decidingOutcomes: ReadonlyMap<string, FailureClass | null> = new Map([
  ['completed', null],
  ['cancelled', 'cancelled'],
  ['not_started', 'cancelled'],
]);
/** Outcomes without a code: of old results, and of what stores no error. */
const outcomes: ReadonlyMap<string, FailureClass> = new Map([
  ['prompt_failed', 'agent'],
  ['unverified', 'check'],
  ['sandbox_failed', 'machine'],
  ['sandbox_cancelled', 'machine'],
  ['rejected', 'service'],
  ['deadline_exceeded', 'cancelled'],
  ['outcome_unknown', 'service'],
  ['failed_fast', 'cancelled'],
  ['budget_spent', 'cancelled'],
  ['source_failed', 'setup'],
]);

/** Whose time it was that the deadline ended. */
const classOfPhase: Readonly<Record<JobPhase | 'blocked', FailureClass>> = {
  blocked: 'service',
  creating: 'machine',
  resuming: 'machine',
  waiting_for_sandbox: 'machine',
  waiting_for_archive: 'machine',
  waiting_for_setup: 'setup',
  putting_files: 'service',
  running_commands: 'setup',
  prompting: 'service',
  following: 'agent',
  collecting_files: 'service',
  interrupting: 'service',
  stopping: 'service',
  deleting: 'service',
  ended: 'service',
};

interface ClassifiedEnding {
  /** Of a job, an item, a batch, a stop or a cleanup. */
  readonly outcome: string;
  readonly error: { readonly code: string; readonly status?: number | null } | null;
  /** What a job did when its deadline passed. Default: unknown, and the class is that of a limit that a person gave. */
  readonly deadlineIn?: JobPhase | 'blocked';
}

/**
 * @returns null for what completed, and where neither outcome nor code tells of a failure: a batch of which some items
 *   failed has its classes in `counts.byClass`
 */
export function failureClassOf({ outcome, error, deadlineIn }: ClassifiedEnding): FailureClass | null {
  const decided = decidingOutcomes.get(outcome);
  if (decided !== undefined) return decided;
  if (outcome === 'deadline_exceeded' && deadlineIn !== undefined) return classOfPhase[deadlineIn];
  return error === null ? (outcomes.get(outcome) ?? null) : classOfCode(error);
}

function classOfCode({ code, status = null }: NonNullable<ClassifiedEnding['error']>): FailureClass {
  if (Object.hasOwn(resultErrors, code)) return resultErrors[code as keyof typeof resultErrors][0];
  if (aboutService.has(code)) return 'service';
  if (errorKindOf(code) !== undefined) return 'sandflow';
  const listed = currentErrorCode(code) as ErrorCode;
  const isListed = Object.hasOwn(errorCodes, listed);
  const given = status ?? (isListed ? errorCodes[listed].statuses[0] : 503);
  const isOfListed = isListed && errorCodes[listed].statuses.some((known) => known === given);
  return (isOfListed ? serviceCodes[listed] : undefined) ?? classOfMeaning[errorMeaning(given, code)];
}
