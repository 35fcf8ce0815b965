/**
 * sandflow's own error codes in the results of jobs, items, batches, stops and cleanups, each with its class.
 * docs/errors.md says what each means and how to fix the problem; a test compares them. No dependencies: workflow code may
 * import this file.
 */
import type { ErrorCode } from '../contract/workflow-safe/error-codes.js';
import { notSentCode, outcomeUnknownCode } from '../contract/workflow-safe/service-failure.js';

/**
 * Whose failure it is:
 * - `agent`: the agent reported a failure, was interrupted, or worked until the deadline.
 * - `check`: a check refused what the agent left.
 * - `provider`: the service says that the provider of the agent cannot be used.
 * - `machine`: there was no machine, or the sandbox failed, or somebody stopped or deleted it.
 * - `service`: the service refused a call for now, was unavailable, or its answer could not be read.
 * - `setup`: the setup script, a command before the prompts, the source, or a setting that the service refuses for good.
 * - `cancelled`: a person ended it, or a limit that a person gave to the batch.
 * - `sandflow`: an activity, the result store or a workflow of sandflow itself.
 */
export const failureClasses = [
  'agent',
  'check',
  'provider',
  'machine',
  'service',
  'setup',
  'cancelled',
  'sandflow',
] as const;
export type FailureClass = (typeof failureClasses)[number];

export const resultErrors = {
  cancelled: 'cancelled',
  deadline_exceeded: 'cancelled',
  clean_up_unfinished: 'machine',
  setup_failed: 'setup',
  prompt_failed: 'agent',
  prompt_interrupted: 'agent',
  command_failed: 'setup',
  check_failed: 'check',
  check_repeated: 'check',
  check_not_started: 'setup',
  after_failed: 'setup',
  sandbox_cancelled: 'machine',
  sandbox_error: 'machine',
  sandbox_gone: 'machine',
  sandbox_stopped: 'machine',
  sandbox_leased: 'machine',
  sandbox_claimed: 'machine',
  [outcomeUnknownCode]: 'service',
  [notSentCode]: 'cancelled',
  activity_failed: 'sandflow',
  activity_timeout: 'sandflow',
  answer_too_large: 'service',
  record_missing: 'sandflow',
  failed_fast: 'cancelled',
  budget_spent: 'cancelled',
  item_lost: 'sandflow',
  prepare_lost: 'sandflow',
  results_not_assembled: 'sandflow',
  source_keeps_nothing: 'setup',
  source_in_use: 'setup',
  source_not_ready: 'setup',
  source_not_hydrated: 'setup',
  source_stale: 'setup',
  source_unknown: 'setup',
  source_changed: 'setup',
  plan_deadline: 'service',
  stop_not_accepted: 'service',
  stop_not_ended: 'machine',
  notify_failed: 'setup',
} as const satisfies Readonly<Record<string, FailureClass>>;

export type ResultErrorCode = keyof typeof resultErrors;

/** The code in a result: one of sandflow's own, or one of the service. */
export type JobErrorCode = ResultErrorCode | ErrorCode;
