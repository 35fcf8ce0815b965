/**
 * sandflow's own error codes in the results of jobs, items, batches, stops and cleanups. Each has its meaning and the
 * way to fix the problem. A test compares them with docs/errors.md. No dependencies: workflow code may import this
 * file.
 */
import type { ErrorCode } from '../contract/workflow-safe/error-codes.js';
import { notSentCode, outcomeUnknownCode } from '../contract/workflow-safe/service-failure.js';

export const resultErrors = {
  cancelled: 'It was cancelled.',
  deadline_exceeded: 'The deadline passed. Raise `--deadline`.',
  clean_up_unfinished:
    'Some work could not be ended in time, or a sandbox was not deleted because a file of it could not be collected. `left` lists it. End it yourself.',
  setup_failed: 'The setup script failed. The message says why.',
  prompt_failed: 'The agent failed. The message contains what it reported.',
  prompt_interrupted: 'Another caller interrupted the prompt.',
  command_failed: 'A command ended with an exit code other than 0. The message contains the end of its output.',
  sandbox_cancelled: 'The service found no machine. Try again later, or use another `--type`.',
  sandbox_error: 'The service reports that the sandbox failed. The message says why.',
  sandbox_gone: 'The sandbox was deleted while the job ran.',
  sandbox_stopped: 'The sandbox was stopped while the job ran.',
  sandbox_leased: 'Another job uses the sandbox. Wait until it has ended.',
  sandbox_claimed: 'A stop, a deletion or a cleanup holds the sandbox. Wait until it has ended.',
  [outcomeUnknownCode]:
    'sandflow cannot determine whether a call took effect. Check this, then decide with `sandflow jobs resolve`.',
  [notSentCode]: 'The call was not sent, because the job ended first.',
  activity_failed: 'A step failed for an unexpected reason, which the message contains. See the log of the worker.',
  activity_timeout: 'A step exceeded its time limit. See the log of the worker.',
  answer_too_large: 'The answer of the service exceeds the size limit of Temporal.',
  record_missing: 'The record of a prompt, written before it was sent, is missing from the result store.',
  failed_fast: 'An item failed, and the batch ends at the first failure (`--fail-fast`).',
  budget_spent: 'The remaining budget is too small for another item. Raise `--budget` and resume the batch.',
  item_lost: 'The workflow of the item was ended in Temporal. Resume the batch.',
  prepare_lost: 'The job that prepared the source was ended in Temporal. Resume the batch.',
  results_not_assembled:
    '`results.jsonl` could not be written to the result store. The results of the items are stored there separately.',
  source_keeps_nothing: 'The source keeps no snapshots, so it cannot be forked. Create it with snapshots on.',
  source_in_use: 'Another agent or job uses the source. Wait until it has ended, or pass `--allow-stale`.',
  source_not_ready: 'The source is in a state that cannot be forked. The message names the state.',
  source_not_hydrated: 'The source is still copying its snapshot. Wait until it is hydrated.',
  source_stale: 'The source changed after its last snapshot. Stop it first, or pass `--allow-stale`.',
  source_unknown: 'The service does not report when the source was last saved. Stop it first, or pass `--allow-stale`.',
  source_changed:
    'The source may have changed since the first fork of the batch. Run the other items as a new batch, from the source as it is now.',
  plan_deadline: 'The plan of the cleanup exceeded its time limit. Run the cleanup again.',
  stop_not_accepted: 'The service did not accept the stop by the deadline. `sandflow stops explain` says why.',
  stop_not_ended: 'The sandbox was not archived by the deadline. `sandflow stops explain` says why.',
  notify_failed: 'The notification could not be delivered. The message contains the answer of the listener.',
} as const satisfies Readonly<Record<string, string>>;

export type ResultErrorCode = keyof typeof resultErrors;

/** The code in a result: one of sandflow's own, or one of the service. */
export type JobErrorCode = ResultErrorCode | ErrorCode;
