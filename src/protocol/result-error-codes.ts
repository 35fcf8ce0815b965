/**
 * sandflow's own error codes in the results of jobs, items, batches, stops and cleanups. Each has its class, and its
 * meaning with the way to fix the problem. A test compares them with docs/errors.md. No dependencies: workflow code may
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
  cancelled: ['cancelled', 'It was cancelled.'],
  deadline_exceeded: ['cancelled', 'The deadline passed. Raise `--deadline`.'],
  clean_up_unfinished: [
    'machine',
    'Some work could not be ended in time, or a sandbox was not deleted because a file of it could not be collected. `left` lists it. End it yourself.',
  ],
  setup_failed: ['setup', 'The setup script failed. The message says why.'],
  prompt_failed: ['agent', 'The agent failed. The message contains what it reported.'],
  prompt_interrupted: ['agent', 'Another caller interrupted the prompt.'],
  command_failed: [
    'setup',
    'A command ended with an exit code other than 0. The message contains the end of its output.',
  ],
  sandbox_cancelled: ['machine', 'The service found no machine. Try again later, or use another `--type`.'],
  sandbox_error: ['machine', 'The service reports that the sandbox failed. The message says why.'],
  sandbox_gone: ['machine', 'The sandbox was deleted while the job ran.'],
  sandbox_stopped: ['machine', 'The sandbox was stopped while the job ran.'],
  sandbox_leased: ['machine', 'Another job uses the sandbox. Wait until it has ended.'],
  sandbox_claimed: ['machine', 'A stop, a deletion or a cleanup holds the sandbox. Wait until it has ended.'],
  [outcomeUnknownCode]: [
    'service',
    'sandflow cannot determine whether a call took effect. Check this, then decide with `sandflow jobs resolve`.',
  ],
  [notSentCode]: ['cancelled', 'The call was not sent, because the job ended first.'],
  activity_failed: [
    'sandflow',
    'A step failed for an unexpected reason, which the message contains. See the log of the worker.',
  ],
  activity_timeout: ['sandflow', 'A step exceeded its time limit. See the log of the worker.'],
  answer_too_large: ['service', 'The answer of the service exceeds the size limit of Temporal.'],
  record_missing: ['sandflow', 'The record of a prompt, written before it was sent, is missing from the result store.'],
  failed_fast: ['cancelled', 'An item failed, and the batch ends at the first failure (`--fail-fast`).'],
  budget_spent: [
    'cancelled',
    'The remaining budget is too small for another item. Raise `--budget` and resume the batch.',
  ],
  item_lost: ['sandflow', 'The workflow of the item was ended in Temporal. Resume the batch.'],
  prepare_lost: ['sandflow', 'The job that prepared the source was ended in Temporal. Resume the batch.'],
  results_not_assembled: [
    'sandflow',
    '`results.jsonl` could not be written to the result store. The results of the items are stored there separately.',
  ],
  source_keeps_nothing: [
    'setup',
    'The source keeps no snapshots, so it cannot be forked. Create it with snapshots on.',
  ],
  source_in_use: ['setup', 'Another agent or job uses the source. Wait until it has ended, or pass `--allow-stale`.'],
  source_not_ready: ['setup', 'The source is in a state that cannot be forked. The message names the state.'],
  source_not_hydrated: ['setup', 'The source is still copying its snapshot. Wait until it is hydrated.'],
  source_stale: ['setup', 'The source changed after its last snapshot. Stop it first, or pass `--allow-stale`.'],
  source_unknown: [
    'setup',
    'The service does not report when the source was last saved. Stop it first, or pass `--allow-stale`.',
  ],
  source_changed: [
    'setup',
    'The source may have changed since the first fork of the batch. Run the other items as a new batch, from the source as it is now.',
  ],
  plan_deadline: ['service', 'The plan of the cleanup exceeded its time limit. Run the cleanup again.'],
  stop_not_accepted: [
    'service',
    'The service did not accept the stop by the deadline. `sandflow stops explain` says why.',
  ],
  stop_not_ended: ['machine', 'The sandbox was not archived by the deadline. `sandflow stops explain` says why.'],
  notify_failed: ['setup', 'The notification could not be delivered. The message contains the answer of the listener.'],
} as const satisfies Readonly<Record<string, readonly [FailureClass, string]>>;

export type ResultErrorCode = keyof typeof resultErrors;

/** The code in a result: one of sandflow's own, or one of the service. */
export type JobErrorCode = ResultErrorCode | ErrorCode;
