/**
 * The codes of errors that sandflow itself throws, each with its kind. docs/errors.md says how to fix each problem; a
 * test compares the codes. No dependencies: workflow code may import this file.
 */

/**
 * - `usage`: the request or the configuration cannot be carried out, and an unchanged repetition does not help. Exit
 *   code 2.
 * - `unavailable`: something that is needed is missing or does not answer. Exit code 3.
 * - `outcome`: the requested work did not end as requested. Exit code 1.
 */
export type ErrorKind = 'usage' | 'unavailable' | 'outcome';

export const sandflowErrors = {
  // Requests
  bad_usage: 'usage',
  bad_argument: 'usage',
  bad_job_id: 'usage',
  bad_job_input: 'usage',
  bad_stop_request: 'usage',
  bad_escalation: 'usage',
  bad_items: 'usage',
  bad_fanout_input: 'usage',
  bad_policy: 'usage',
  bad_result_key: 'usage',
  bad_secret_name: 'usage',
  bad_payloads: 'usage',
  refused: 'usage',
  not_a_job: 'usage',
  not_a_fanout: 'usage',
  job_not_found: 'usage',
  job_ended: 'usage',
  job_runs: 'usage',
  not_continuable: 'usage',
  job_differs: 'usage',
  fanout_not_found: 'usage',
  fanout_ended: 'usage',
  fanout_runs: 'usage',
  fanout_differs: 'usage',
  snapshot_not_found: 'usage',
  bad_schedule: 'usage',
  schedule_exists: 'usage',
  schedule_not_found: 'usage',

  // Configuration and files
  bad_configuration: 'usage',
  bad_api_key: 'usage',
  bad_search_attributes: 'usage',
  bad_notify_secrets: 'usage',
  agent_not_isolated: 'usage',
  home_not_writable: 'usage',
  home_not_trusted: 'usage',
  file_not_trusted: 'usage',
  no_webhook_secret: 'usage',
  webhook_secret_unknown: 'usage',
  webhook_duplicate: 'usage',
  secret_file_unwritable: 'usage',
  download_not_written: 'usage',
  stack_in_use: 'usage',
  port_in_use: 'usage',
  directory_in_use: 'usage',
  metrics_not_served: 'usage',
  already_listening: 'usage',
  not_listening: 'usage',

  // Encryption
  keys_not_announced: 'usage',
  encryption_key_unknown: 'usage',
  not_decryptable: 'usage',
  not_encrypted: 'usage',

  // Temporal, the service and the stack
  temporal_unreachable: 'unavailable',
  temporal_api_missing: 'usage',
  temporal_server_missing: 'unavailable',
  temporal_start_failed: 'unavailable',
  go_missing: 'unavailable',
  go_build_failed: 'unavailable',
  no_worker: 'unavailable',
  service_unreachable: 'unavailable',
  connection_failed: 'unavailable',
  timeout: 'unavailable',
  unexpected_response: 'unavailable',
  list_incomplete: 'unavailable',
  not_the_service: 'unavailable',
  child_failed: 'unavailable',
  supervisor_failed: 'unavailable',
  supervisor_unresponsive: 'unavailable',
  stack_differs: 'usage',
  stack_of_other_version: 'usage',

  // What is stored
  disk_full: 'unavailable',
  file_not_writable: 'usage',
  database_unusable: 'unavailable',
  database_of_other_version: 'usage',
  store_refused: 'usage',
  store_unreachable: 'unavailable',
  secret_store_unwritable: 'usage',
  result_store_unwritable: 'usage',
  secret_not_found: 'usage',
  result_too_large: 'usage',
  result_not_found: 'usage',
  result_of_other_version: 'usage',

  // Stops
  stop_busy: 'unavailable',
  stop_lost: 'unavailable',
  stop_not_found: 'usage',

  // The requested work did not end as requested
  fanout_lost: 'outcome',
} as const satisfies Readonly<Record<string, ErrorKind>>;

/** A code of sandflow's own. Codes of the service are in `errorCodes`. */
export type SandflowErrorCode = keyof typeof sandflowErrors;

/** @returns undefined for a code that is not sandflow's own */
export function errorKindOf(code: string): ErrorKind | undefined {
  return Object.hasOwn(sandflowErrors, code) ? sandflowErrors[code as SandflowErrorCode] : undefined;
}
