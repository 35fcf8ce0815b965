/**
 * The codes of errors that sandflow itself throws, each with its kind and the way to fix the problem. A test compares
 * them with docs/errors.md. No dependencies: workflow code may import this file.
 */

/**
 * - `usage`: the request or the configuration cannot be carried out, and an unchanged repetition does not help. Exit
 *   code 2.
 * - `unavailable`: something that is needed is missing or does not answer. Exit code 3.
 * - `outcome`: the requested work did not end as requested. Exit code 1.
 */
export type ErrorKind = 'usage' | 'unavailable' | 'outcome';

interface ErrorEntry {
  readonly kind: ErrorKind;
  /** How to fix the problem. */
  readonly fix: string;
}

const usage = (fix: string) => ({ kind: 'usage', fix }) as const;
const unavailable = (fix: string) => ({ kind: 'unavailable', fix }) as const;
const outcome = (fix: string) => ({ kind: 'outcome', fix }) as const;

export const sandflowErrors = {
  // Requests
  bad_usage: usage('Correct the command. `--help` lists its options.'),
  bad_argument: usage('Correct the argument that the message names.'),
  bad_job_id: usage('Use a job id in the format that the message describes.'),
  bad_job_input: usage('Correct the field that the message names.'),
  bad_stop_request: usage('Correct the field that the message names.'),
  bad_items: usage('Correct the item at the file, line and column that the message names.'),
  bad_fanout_input: usage('Correct the field of the batch that the message names.'),
  bad_policy: usage('Correct the policy. `sandflow cleanup validate` checks it.'),
  bad_result_key: usage('Use a key that the result store returned.'),
  bad_secret_name: usage('Use a name in the format that the message describes.'),
  bad_payloads: usage('Send payloads in the format of the Temporal UI and CLI.'),
  refused: usage('The running workflow refused the request. The message says why.'),
  not_a_job: usage('The id belongs to a batch. Use `sandflow fanout`.'),
  not_a_fanout: usage('The id belongs to a job. Use another id.'),
  job_not_found: usage('Check the id. `sandflow jobs list` shows the jobs that Temporal still has.'),
  job_ended: usage(
    'The job has ended. `sandflow jobs show` shows its result, `sandflow continue` goes on in its conversation, and `--again` starts a new job.',
  ),
  job_runs: usage('Send the prompt to the job with `sandflow jobs prompt`, or wait until it has ended.'),
  not_continuable: usage('Start a new job with `sandflow run`. The message says what the earlier job did not leave.'),
  job_differs: usage(
    'Choose another id. This id belongs to a job with other prompts or options; `--reuse` prints that job.',
  ),
  fanout_not_found: usage('Check the id. `sandflow fanout list` shows the batches that Temporal still has.'),
  fanout_ended: usage('The batch has ended. `sandflow fanout resume` runs the missing and failed items.'),
  fanout_runs: usage('Wait until the batch has ended, or cancel it first.'),
  fanout_differs: usage('Use another id. This id belongs to a batch with other items or another source.'),
  snapshot_not_found: usage(
    'Check the name: `sandflow api GET /snapshots` lists the snapshots. `--no-check` starts without this check.',
  ),
  schedule_not_found: usage('Check the name. `sandflow cleanup schedule list` shows the schedules.'),

  // Configuration and files
  bad_configuration: usage('Correct the setting that the message names ([configuration.md](configuration.md)).'),
  bad_api_key: usage('Set a key that is valid in an HTTP header: one line, without spaces.'),
  bad_notify_command: usage('Shorten the command, or move it into a script.'),
  bad_notify_commands: usage(
    'Correct the file of notify commands. It must be a JSON object that maps ids to commands.',
  ),
  bad_notify_secrets: usage('Correct the file of notification secrets. Each line must be one `whsec_…` secret.'),
  agent_not_isolated: usage(
    'Install bubblewrap. To run the agent without isolation, set `"isolation": "plain"` next to its `command` ([security.md](security.md)).',
  ),
  home_not_writable: usage('Set `SANDFLOW_HOME` to a directory that you may write to.'),
  home_not_trusted: usage(
    'Another user owns the directory that the message names, or may write to it. Check that its content is yours, then correct its owner and mode ([security.md](security.md)).',
  ),
  file_not_trusted: usage(
    'Another user may have written the file that the message names. Check its content. Then correct its owner and mode, or remove the file.',
  ),
  no_webhook_secret: usage('Run `sandflow webhooks connect`, or set `SANDBOX_WEBHOOK_SECRET`.'),
  webhook_secret_unknown: usage('Run `sandflow webhooks rotate` to create a new secret.'),
  webhook_duplicate: usage('Delete the duplicate webhook with `sandflow webhooks delete`.'),
  secret_file_unwritable: usage('Correct the owner and mode of the file’s directory.'),
  download_not_written: usage('Correct the owner and mode of the target’s directory, or choose another one.'),
  stack_in_use: usage('Wait until the open jobs and commands have ended, or use `sandflow down --force`.'),
  port_in_use: usage('Choose another port with `--port`, or end the process that uses it.'),
  directory_in_use: usage('Stop the local service that uses the directory, or choose another directory.'),
  metrics_not_served: usage('Choose a free address for `--metrics`.'),
  already_listening: usage('Call `listen()` only once.'),
  not_listening: usage('Call `listen()` first.'),

  // Encryption
  keys_not_announced: usage(
    'First start a worker of the deployment with the same keys ([encryption.md](encryption.md)).',
  ),
  encryption_key_unknown: usage('Add the key that the message names to the key file.'),
  not_decryptable: usage(
    'The payload was changed or truncated, or this key file has another key with the same id. Compare the key files.',
  ),
  not_encrypted: usage('Configure the sender with the keys, or set `SANDFLOW_REQUIRE_ENCRYPTED=false`.'),

  // Something that is needed is missing or does not answer
  temporal_unreachable: unavailable('Start the Temporal server, or correct `TEMPORAL_ADDRESS`.'),
  temporal_server_missing: unavailable('Install the Temporal CLI or Go, or set `TEMPORAL_ADDRESS`.'),
  temporal_start_failed: unavailable('Read the log that the message names.'),
  go_missing: unavailable('Install Go, or the Temporal CLI.'),
  go_build_failed: unavailable('Read the output of the build, or install the Temporal CLI instead.'),
  no_worker: unavailable('Start a worker with `sandflow worker`.'),
  service_unreachable: unavailable('Check `SANDBOX_API_URL`, the network and the service.'),
  connection_failed: unavailable('Check the base URL and the network.'),
  timeout: unavailable('The call may have taken effect. Check this, then try again.'),
  unexpected_response: unavailable(
    'Check that `SANDBOX_API_URL` is the address of the service, and check the proxies in between.',
  ),
  not_the_service: unavailable('Correct `SANDBOX_API_URL`. Another server answers at this address.'),
  child_failed: unavailable('Read the log that the message names.'),
  supervisor_failed: unavailable('Read the log that the message names.'),
  supervisor_unresponsive: unavailable('Stop the process that the message names, then run the command again.'),
  stack_differs: usage('End the running stack with `sandflow down`, or use another `SANDFLOW_HOME`.'),
  lock_timeout: unavailable('Stop the process that holds the lock, then run the command again.'),
  disk_full: unavailable('Free some space on the disk of the file that the message names.'),
  file_not_writable: usage('Correct the owner and mode of the directory.'),
  database_unusable: unavailable('Check the file and restore it, or choose another directory.'),
  database_of_other_version: usage('Use the version that wrote the database, or choose another or an empty directory.'),
  secret_store_unwritable: usage('Correct the owner and mode of the directory.'),
  result_store_unwritable: usage(
    'Correct the owner and mode of the directory, or set SANDFLOW_RESULTS to another one.',
  ),
  secret_not_found: usage('The secret was removed from the store. Create it again.'),
  result_too_large: usage('Use a smaller file, or let the sandbox get it by other means.'),
  result_not_found: usage('Set `SANDFLOW_RESULTS` to the same directory for commands and workers.'),
  stop_busy: unavailable('Try again later.'),
  stop_lost: unavailable('Request the stop again.'),
  stop_not_found: usage('Temporal no longer has the request. Request the stop again.'),

  // The requested work did not end as requested
  fanout_lost: outcome('The batch’s workflow was ended in Temporal. `sandflow fanout resume` continues the batch.'),
} as const satisfies Readonly<Record<string, ErrorEntry>>;

/** A code of sandflow's own. Codes of the service are in `errorCodes`. */
export type SandflowErrorCode = keyof typeof sandflowErrors;

/** @returns undefined for a code that is not sandflow's own */
export function sandflowErrorOf(code: string): ErrorEntry | undefined {
  return Object.hasOwn(sandflowErrors, code) ? sandflowErrors[code as SandflowErrorCode] : undefined;
}
