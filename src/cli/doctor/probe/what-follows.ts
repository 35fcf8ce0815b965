/** What follows if an assumption is refuted, and why the other assumptions are not tried. */
import type { AssumptionId } from '../../../contract/assumptions.js';

/** The setting that helps, or the promise that no longer holds. */
const consequences: Readonly<Partial<Record<AssumptionId | 'clock', string>>> = {
  clock: 'Synchronise the clock of this machine: deliveries are refused at 300 s or more.',
  'A-limits': 'A batch is not told before its start that its window is above the limit.',
  'A-provider-models': 'No model is checked before a start.',
  'A-environment-list': 'No environment is checked before a start.',
  'A-webhook-record': '`webhooks` and `doctor` do not see the registrations of the account.',
  'A-api-key-row': '`doctor` does not know an unrestricted key.',
  'A-request-form': 'Set it for every command and worker.',
  'A-create-fields': 'A job gets its events by the watch of its sandbox. A cleanup does not see whose a sandbox is.',
  'A-names': 'A job whose name is refused ends as rejected.',
  'A-read-lag': 'A job may take its sandbox for missing, and make another one.',
  'A-created-by': 'A rule of a cleanup with `creator` must name what a sandbox shows as `createdBy`.',
  'A-idempotency-body': 'A create whose answer is lost may make a second sandbox: that promise no longer holds.',
  'A-machine': 'Budgets in machine time are those of the specification, not of this service.',
  'A-auto-stop-renewal': 'A job makes the auto-stop shorter and longer again. If that does not help: a longer --ttl.',
  'A-files': '`--put`, `--get` and `cp` fail.',
  'A-command': '`exec`, `--command` and `--get-diff` fail.',
  'A-posix-shell': 'Commands of jobs fail: they need mkdir, mkfifo and tee.',
  'A-prompt-id': 'A job follows the history of the conversation instead.',
  'A-prompt-states': 'A job does not see the end of its prompts in the state of the sandbox.',
  'A-prompt-record': 'A job takes the end of a prompt from the state, and its answer from the history.',
  'A-model-names': 'A job knows its prompt by the name of the model without vendor and date.',
  'A-events': '`jobs logs` shows less. Without a promptId, a job may end as outcome_unknown.',
  'A-event-ids': 'A job reads a history from its beginning to its end.',
  'A-fork': 'Batches and `--fork` fail.',
  'A-stop-states': 'A job that ends while its sandbox is being created may not stop it.',
  'A-list-order': 'Nothing is lost: lists are in another order.',
  'A-paging': 'Commands over the whole account may see a part of it. Name sandboxes by their ids.',
  'A-stop-answer': 'A job takes the id of its stop from the record of the sandbox.',
  'A-stop-read': 'A job follows its stop by the record of the sandbox.',
  'A-snapshot-record': '`--from` is not checked before a start, and a cleanup sees no snapshots.',
  'A-confirmation': 'The service does not hold back a delete that nobody meant.',
  'A-header-family': 'Without SANDBOX_API_HEADER_PREFIX nothing is deleted: set it for every command and worker.',
  'A-deletion-operation': 'A job takes the id of `operation`, or waits until reads answer 404.',
  'A-deleted-key': 'A create that is repeated after its sandbox was deleted makes another one.',
  'A-retry-after': 'A job waits for pauses of its own.',
};

export const whatFollows = (id: string): string =>
  consequences[id as AssumptionId] ?? 'Nothing: no job, batch or command reads it.';

/** Reason → ids, separated by spaces. */
export const notTried = {
  'It needs a second account, an organization, or another standing of the account.':
    'A-access-refusals A-sharing A-snapshot-access A-standing A-refusal-urls',
  'It would change the environments, secrets, repositories, keys or logins of the account.':
    'A-agent-logins A-creator-logins A-env-contents A-environment-default A-environment-update A-environment-upgrade A-repo-clone A-repo-host-login A-repo-selection A-secret-files A-machine-variables A-sandbox-variables A-api-key-create A-api-key-paths A-key-presets A-api-key-usage A-key-creation A-limited-keys',
  'It needs a failure, or a limit that is exceeded.':
    'A-cancelled-key A-failing-stop A-error-codes A-late-calls A-rate-limits',
  'It would cost further prompts, a resume, more snapshots, time, or a file of 32 MiB.':
    'A-conversation A-fork-conversations A-interrupt A-file-limit A-fork-moment A-resume A-raw-bytes A-init-state A-snapshot-before A-snapshot-delete A-snapshot-name A-snapshots-kept A-snapshot-tree A-snapshot-status A-periodic-snapshots A-process-samples',
  'It would open the machine, or needs a receiver of deliveries.': 'A-desktop A-hosted-url A-sshkey A-webhook-retry',
  'It is about a bill, a year, or the local service.': 'A-list-price A-sunset-year A-legacy-base A-local-webhook-urls',
} as const;
