/**
 * The assumptions that sandflow makes where the specification is silent. Each has a stable id. Rows of the endpoint
 * table and answers of the local service (`assumptionsHeader`) name these ids. docs/maintainers/assumptions.md lists the same
 * assumptions. No dependencies.
 */
export const assumptions = {
  'A-access-refusals':
    'A teammate may not read snapshots, nor the events, prompts and processes of a private sandbox, because they show its content.',
  'A-agent-logins':
    'A prompt gets the login of its provider in variables if the environment of the sandbox passes the credentials of agents. No other process gets it.',
  'A-answer-types': 'Status and `type` of an answer if the specification shows neither.',
  'A-api-key-create': 'Body of POST /api-keys/scoped, and `apiKey` and `secret` in the answer.',
  'A-api-key-paths': 'POST /api-keys/{apiKeyId}/rotate and DELETE /api-keys/{apiKeyId} rotate and revoke a key.',
  'A-api-key-row':
    'Fields of a listed key beyond id, name, usage.requests and resources.total; actions and presets of the catalog.',
  'A-api-key-usage': '`usage.requests` and `resources` of GET /api-keys/{apiKeyId}/usage.',
  'A-auto-stop-renewal':
    'An update with the auto-stop that the sandbox has restarts it: `archiveAfter` moves. If it does not move, or the answer is `no_changes`, a job sets an auto-stop that is one second shorter, and then the same one again.',
  'A-cancelled-key':
    'A create or fork that fails after it was accepted becomes cancelled, and its idempotency key continues to name that sandbox.',
  'A-command': 'Body and result of POST …/commands.',
  'A-confirmation': 'A delete without its confirming header is refused with 400 `confirmation_required`.',
  'A-create-fields': '`name` and `environment` in the body of a create.',
  'A-conversation': 'A prompt with neither `new` nor `conversationId` continues the latest conversation.',
  'A-created-by': '`createdBy` is the login of the account that created the sandbox.',
  'A-creator-logins':
    'A sandbox holds its creator’s logins if its environment passes any or has secret files. Plain variables do not count.',
  'A-data-retention': 'The data-retention policy and the body that changes it.',
  'A-deleted-key':
    'The idempotency key of a sandbox that was deleted continues to name it. The answer shows it as archived, without its data.',
  'A-deletion-operation':
    'The record of a deletion, and the field of its id in the answer to a delete. A key that may delete may also read the deletion.',
  'A-desktop':
    '`url` in the answer of POST …/desktop is a page for browsers, or else a WebSocket with the VNC protocol. It stays public until `publicAccess: false`, or until the desktop ends. `desktopUrl` is shown while the desktop runs, when one sandbox is read by a key with the action `desktop`. A sandbox without a desktop answers 409 `desktop_not_available`.',
  'A-env-contents':
    'The .env-style text supports comments, `export` and quotes, but no expansion. A malformed line is refused with 400.',
  'A-environment-default':
    'Every account has a default environment from the start. It passes everything, and a create without an environment uses it.',
  'A-error-codes': 'Codes of refusals without a listed code, such as `invalid_request`.',
  'A-environment-list': '`environments` in the answer of GET /environments.',
  'A-environment-update':
    'Identical content creates no version. The default changes only when another environment becomes the default.',
  'A-environment-upgrade':
    'Active sandboxes are usable, starting or in error. A sandbox that cannot be upgraded counts as failed. A sandbox that needs no upgrade is not counted.',
  'A-event-ids':
    'The id of an event is `sev_` and 24 hex digits. Only `after` uses it. The client takes any short text and any whole number, also for the ids of prompts and conversations.',
  'A-events':
    'Events of the history, oldest first, and the query parameters besides `conversation`. An answer with fewer than 100 events is the last page. `after` continues after the event with that id. The client also reads a history with the newest event first, times that are numbers or absent, and pages that are told by `nextCursor`, `cursor`, `next`, `hasMore` or `total`.',
  'A-failing-stop':
    'A resume also ends a stop while the sandbox is still archiving, and continues on its disk. A stop with a `lastAttemptAt` that has not ended has failed at least once. A sandbox whose stop fails can be deleted. Between two attempts it accepts commands, files and prompts; the next attempt ends them.',
  'A-file-limit': 'A file that is read or written as JSON has at most 32 MiB. A larger file is refused with 413.',
  'A-files': 'Query, body and answers of reading and writing a file.',
  'A-fork':
    'Body of a fork and `sourceSandboxId` in its answer. A fork of a sandbox that is archiving or in error answers 409 `fork_failed`.',
  'A-fork-conversations':
    'A fork accepts prompts in the conversations of its source, because its disk holds what agents keep of them. A prompt that names no conversation begins a new one.',
  'A-fork-moment':
    'A fork of a usable sandbox copies the disk just before the answer. With snapshots off, this copy is not kept as a snapshot.',
  'A-header-family':
    'The names of the service’s own headers begin with `X-Svc-`: those of deliveries, and the one that confirms a delete. The bridge takes deliveries with another family, because their signature proves whose they are; `SANDBOX_API_HEADER_PREFIX` names it for deletes.',
  'A-hosted-url':
    '`url` of GET …/{sandboxId} has the `_token` of all hosted URLs of the sandbox, for a key with the action `host`. Port 3000 is at the same host name with `3000-` before it, or `box-3000-` in the older form.',
  'A-idempotency-body':
    'For an idempotency key, two bodies are the same if their JSON is equal. The order of keys does not matter.',
  'A-init-state':
    'A sandbox is `init` from its create or fork until the service begins to boot it, and then `provisioning`. A resume begins with `provisioning`.',
  'A-interrupt': '`interrupted`, the number of prompts that were stopped.',
  'A-key-creation':
    'While key creation is off, the code is `scoped_key_creation_disabled`. A key that is older than scopes counts as admin-scoped.',
  'A-key-presets': 'The actions of the presets read-only, full-sandbox and ci.',
  'A-late-calls': 'A call without an answer takes effect within 30 s after it was given up, or not at all.',
  'A-legacy-base': 'The legacy surface of the local service is at /legacy/v1, next to /v1.',
  'A-limited-keys':
    'A key that is limited to environments takes the default only from an environment that it reaches. It lets no environment pass more of the account, by a flag `pass…` or by a repository. The name of a next snapshot is not taken from a sandbox that its key does not reach by then.',
  'A-limits': 'The limits record, and the numbers in it.',
  'A-list-order': 'A list of sandboxes begins with the oldest.',
  'A-list-price': 'A dollar buys 36,000 machine-seconds.',
  'A-local-webhook-urls': 'The local service also accepts loopback http addresses for webhooks, unless it is strict.',
  'A-machine':
    'vCPUs and memory of the machine sizes. A machine of the local service has the provider `baremetal` and the address 127.0.0.1.',
  'A-machine-variables':
    'All processes of a sandbox get the variables and secrets of its environment. A variable overrides a secret with the same name.',
  'A-model-names': 'A prompt shows its model by the name that was sent.',
  'A-names': 'A name has 1 to 100 characters and no control characters.',
  'A-paging':
    'A list of sandboxes is complete unless `limit` is given. With `limit`, the next request sends `nextCursor` as `cursor`. Any other cursor is refused with 400.',
  'A-posix-shell':
    'A POSIX shell runs commands. Its utilities (`mkdir`, `mkfifo`, `tee`) are installed, and `/tmp` is on the sandbox’s disk.',
  'A-process-samples':
    'A sandbox with monitoring off keeps no process sample. Without a sample, `sampledAt` is null. A process that no command started has no `commandId`.',
  'A-prompt-id': '`promptId` in the answer to a prompt.',
  'A-prompt-record':
    'The record of a prompt, under `prompt`, and the words for its status. Without it, the history shows the end of a prompt.',
  'A-prompt-states':
    'The first queued prompt moves a sandbox to running, and the end of the last prompt moves it to idle. So a sandbox that is usable and not running for longer than a read may lag has no prompt left, not even a waiting one. Prompts of one conversation run in order.',
  'A-provider-models':
    'The rows of GET /provider-models. A model that they do not list is accepted without a reasoning effort, or refused with `invalid_request`, as the settings of the local service say.',
  'A-rate-limits': 'The numbers behind the 429 codes are settings of the local service.',
  'A-raw-bytes': 'Query of a download. A file is sent unchanged, and a folder as tar.gz, with names relative to it.',
  'A-read-lag': 'A read shows every change after 90 s at most. Until then, a 404 proves nothing.',
  'A-refusal-urls':
    'A refusal names the page that removes its cause in its details, as an https URL in a field whose name ends in `Url`.',
  'A-repo-clone':
    'A create that is not made from a snapshot clones the selected repositories into folders of the home, in the state `cloning`. A failed clone or blocking script is `error`. Other scripts run before the setup script of the create.',
  'A-repo-host-login':
    'A sandbox whose environment passes the repository-host login has it in variables that git reads, for the address of that host only.',
  'A-repo-selection':
    'A selected repository is added to the default environment, as a new version of that environment.',
  'A-repos': 'Repositories, and the body that selects one.',
  'A-request-form':
    'A create and a fork may have the fields that sandflow adds (`name`, `ttlSeconds`), and any text is an idempotency key. `SANDBOX_API_OMIT` and `SANDBOX_API_UUID_KEYS` are for a service that refuses them.',
  'A-resume': 'Body and answer of a resume. A resume of a usable sandbox changes nothing.',
  'A-retry-after': '`Retry-After`, in seconds, may come with 429 and 503.',
  'A-sandbox-variables':
    'A sandbox has its own credential in `SANDBOX_API_KEY` and the base URL in `SANDBOX_API_URL`, if its environment passes sandbox credentials.',
  'A-secret-files':
    'Secret files are below the home, are readable only by their owner, and are written at every start. Any other path is refused with 400.',
  'A-secrets': 'Secrets are set and unset by name, and only names and times are returned.',
  'A-sharing': '`sandbox` and `message` in the answer of share, and the type of the answer of unshare.',
  'A-snapshot-access':
    'Everyone who sees a sandbox sees its snapshots, and only its creator reads and deletes them. A list omits snapshots whose data was deleted.',
  'A-snapshot-before':
    'When the latest snapshot of a sandbox is deleted, the previous one becomes the latest, if there is one.',
  'A-snapshot-delete':
    'A snapshot is deleted like a sandbox: with the confirming header, the answer 202 and an operation.',
  'A-snapshot-name': '`snapshotName` of an update names the latest snapshot, or the next one if there is none.',
  'A-snapshot-record': 'The record of a snapshot.',
  'A-periodic-snapshots':
    'A usable sandbox is saved at intervals that the specification does not show. The local service does so only if `snapshotEveryMs` is set. This does not change `updatedAt`.',
  'A-snapshots-kept':
    'Every snapshot is kept until it is deleted or its data expires. The copy of a disk for a fork is removed once a later snapshot has taken its place.',
  'A-snapshot-status': 'A stop queues a snapshot. A resume that comes first cancels it.',
  'A-snapshot-tree': 'Query and entries of the tree of a snapshot.',
  'A-sshkey':
    'Body of POST …/sshkey, and `sshEndpoint` in its answer. A new key replaces the previous one of the same API key, and ends with that API key.',
  'A-standing':
    'Create, fork and resume need an account or organization in good standing. A trial has only small and default machines.',
  'A-stop-answer': 'The field of a stop’s id in the answer. For an archived sandbox, this is the id of the last stop.',
  'A-stop-read':
    'The top-level `id` of GET …/stops/{stopId} is the id of the stop. The client also accepts the id of the sandbox.',
  'A-stop-states':
    'A stop of a sandbox that is still being created answers `machine_not_running`. A stop of a sandbox in error is accepted. With snapshots off, a stop keeps nothing.',
  'A-sunset-year': 'The Sunset header names the next October 31 on the clock of the service.',
  'A-usage': 'The answer of GET …/usage has the shape of `cost`.',
  'A-webhook-record': 'Fields of a webhook beyond id, name, url and events, and the answer to its deletion.',
  'A-webhook-retry': 'A delivery is retried after 1, 2, 4, 8, 16, 32 and 64 s.',
} as const satisfies Readonly<Record<string, string>>;

/** The stable id of an assumption. */
export type AssumptionId = keyof typeof assumptions;

/** Header of the local service's answers. It lists the ids of the assumptions that an answer relies on, with commas. */
export const assumptionsHeader = 'x-svc-assumptions';
