/**
 * The codes of errors that sandflow itself throws, each with its kind and how to fix the problem. docs/errors.md lists
 * the same codes, and a test compares the two. No dependencies: workflow code may import this file.
 */

/**
 * - `usage`: the request or the configuration cannot be carried out. Exit code 2.
 * - `unavailable`: something that is needed is missing or does not answer. Exit code 3.
 * - `outcome`: the requested work did not end as requested. Exit code 1.
 */
export type ErrorKind = 'usage' | 'unavailable' | 'outcome';

interface ErrorEntry {
  readonly kind: ErrorKind;
  /** How to fix the problem. */
  readonly mend: string;
}

const usage = (mend: string) => ({ kind: 'usage', mend }) as const;
const unavailable = (mend: string) => ({ kind: 'unavailable', mend }) as const;
const outcome = (mend: string) => ({ kind: 'outcome', mend }) as const;

export const sandflowErrors = {
  // Requests
  bad_usage: usage('Correct the command; `--help` lists its options.'),
  bad_argument: usage('Correct the argument that the message names.'),
  bad_job_id: usage('Choose a job id within the grammar that the message gives.'),
  bad_job_input: usage('Correct the field that the message names.'),
  bad_stop_request: usage('Correct the field that the message names.'),
  bad_items: usage('Correct the item at the file, line and column of the message.'),
  bad_fanout_input: usage('Correct the field of the batch that the message names.'),
  bad_policy: usage('Correct the policy; `sandflow cleanup validate` checks it.'),
  bad_result_key: usage('Use a key that the result store returned.'),
  bad_secret_name: usage('Choose a name within the grammar that the message gives.'),
  bad_payloads: usage('Send payloads in the format of the Temporal UI and CLI.'),
  refused: usage('The running workflow refused the request; the message says why.'),
  not_a_job: usage('The id belongs to a batch: use `sandflow fanout`.'),
  not_a_fanout: usage('The id belongs to a job: choose another one.'),
  job_not_found: usage('`sandflow jobs list` shows the jobs that Temporal remembers.'),
  job_ended: usage('`sandflow jobs show` shows its result; `--again` starts a new job.'),
  fanout_not_found: usage('`sandflow fanout list` shows the batches that Temporal remembers.'),
  fanout_ended: usage('`sandflow fanout resume` runs the missing and failed items.'),
  fanout_runs: usage('Wait for the batch, or cancel it first.'),
  fanout_differs: usage('Use another id: this one belongs to a batch with other items or another source.'),
  schedule_not_found: usage('`sandflow cleanup schedule list` shows the schedules.'),

  // Configuration and files
  bad_configuration: usage('Correct the setting that the message names ([configuration.md](configuration.md)).'),
  bad_api_key: usage('Set a key that can be sent as a header: one line, no spaces.'),
  bad_notify_command: usage('Shorten the command, or keep it in a script.'),
  bad_notify_commands: usage('Correct the file of notify commands: a JSON object of ids and commands.'),
  bad_notify_secrets: usage('Correct the file of notification secrets: one `whsec_…` per line.'),
  agent_not_isolated: usage(
    'Install bubblewrap, or write `"isolation": "plain"` beside the agent’s `command`; [security.md](security.md) says what that means.',
  ),
  home_not_writable: usage('Set `SANDFLOW_HOME` to a directory that you may write to.'),
  home_not_trusted: usage(
    'Others own the directory that the message names, or may write to it. Check that its content is yours, then correct its owner and mode ([security.md](security.md)).',
  ),
  file_not_trusted: usage(
    'Others may have written the file that the message names. Check it, then correct its owner and mode, or remove it.',
  ),
  no_webhook_secret: usage('Run `sandflow webhooks ensure`, or set `SANDBOX_WEBHOOK_SECRET`.'),
  webhook_secret_unknown: usage('Run `sandflow webhooks rotate` for a new secret.'),
  webhook_duplicate: usage('Delete the duplicate webhook with `sandflow webhooks delete`.'),
  secret_file_unwritable: usage('Correct the owner and mode of the file’s directory.'),
  download_not_written: usage('Correct the owner and mode of the target’s directory, or choose another one.'),
  stack_in_use: usage('Wait for the open jobs and the commands, or use `sandflow down --force`.'),
  port_in_use: usage('Choose another port with `--port`, or end the process that uses it.'),
  directory_in_use: usage('End the local service that uses the directory, or choose another one.'),
  metrics_not_served: usage('Choose a free address for `--metrics`.'),
  already_listening: usage('Call `listen()` once.'),
  not_listening: usage('Call `listen()` first.'),

  // Encryption
  keys_not_announced: usage('Start a worker of the deployment with the keys first ([encryption.md](encryption.md)).'),
  encryption_key_unknown: usage('Add the key that the message names to the key file.'),
  not_decryptable: usage(
    'The payload was changed or cut, or this key file has another key with the same id: compare the key files.',
  ),
  not_encrypted: usage('Give the sender the keys, or set `SANDFLOW_REQUIRE_ENCRYPTED=false`.'),

  // Something that is needed is missing or does not answer
  temporal_unreachable: unavailable('Start the Temporal server, or correct `TEMPORAL_ADDRESS`.'),
  temporal_server_missing: unavailable('Install the Temporal CLI or Go, or set `TEMPORAL_ADDRESS`.'),
  temporal_start_failed: unavailable('Read the log that the message names.'),
  go_missing: unavailable('Install Go, or the Temporal CLI.'),
  go_build_failed: unavailable('Read the output of the build, or install the Temporal CLI instead.'),
  no_worker: unavailable('Start a worker with `sandflow worker`.'),
  service_unreachable: unavailable('Check `SANDBOX_API_URL`, the network and the service.'),
  connection_failed: unavailable('Check the base URL and the network.'),
  timeout: unavailable('Try again. The first call may have taken effect.'),
  unexpected_response: unavailable(
    'Check that `SANDBOX_API_URL` is the address of the service, and check the proxies in between.',
  ),
  not_the_service: unavailable('Correct `SANDBOX_API_URL`: something else answers there.'),
  child_failed: unavailable('Read the log that the message names.'),
  supervisor_failed: unavailable('Read the log that the message names.'),
  supervisor_unresponsive: unavailable('End the process that the message names, and run the command again.'),
  stack_differs: unavailable('End the running stack with `sandflow down`, or use another `SANDFLOW_HOME`.'),
  lock_timeout: unavailable('End the process that holds the lock, and run the command again.'),
  file_not_writable: unavailable('Correct the owner and mode of the directory.'),
  database_unusable: unavailable('Check the file and restore it, or choose another directory.'),
  database_too_new: unavailable('Update sandflow, or choose another directory.'),
  secret_store_unwritable: unavailable('Correct the owner and mode of the directory.'),
  secret_not_found: unavailable('The secret was removed from the store. Create it again.'),
  result_not_found: unavailable('Share the result store, `SANDFLOW_RESULTS`, between commands and workers.'),
  stop_busy: unavailable('Try again later.'),
  stop_lost: unavailable('Request the stop again.'),
  stop_not_found: unavailable('Temporal no longer has the request. Request the stop again.'),

  // The requested work did not end as requested
  fanout_lost: outcome(
    'Somebody ended the batch’s workflow in Temporal. `sandflow fanout resume` continues the batch.',
  ),
} as const satisfies Readonly<Record<string, ErrorEntry>>;

/** A code of sandflow's own. Codes of the service are in `errorCodes`. */
export type SandflowErrorCode = keyof typeof sandflowErrors;

/** @returns undefined for a code that is not sandflow's own */
export function sandflowErrorOf(code: string): ErrorEntry | undefined {
  return Object.hasOwn(sandflowErrors, code) ? sandflowErrors[code as SandflowErrorCode] : undefined;
}
