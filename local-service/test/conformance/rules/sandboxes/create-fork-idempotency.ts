import { section } from '../rule-record.js';

export const createRules = {
  ...section('POST /sandboxes and POST /sandboxes/{sandboxId}/fork', {
    'create.idempotency-header-optional': '`Idempotency-Key` is optional.',
    'create.from': '`from` is the name of a source snapshot.',
    'create.no-env': '`noEnv` creates a sandbox that is attached to no environment.',
    'create.ttl': '`ttlSeconds` sets auto-stop; null disables it.',
    'create.setup-script': '`setupScript` runs in the background.',
    'create.flags': '`snapshots` and `monitoring` are boolean flags.',
    'create.type': '`type` is the machine size.',
    'create.response': 'HTTP 202, type `sandbox.created`, the sandbox under `sandbox`.',
    'fork.response': 'Fork answers HTTP 202, type `sandbox.created`, with the new sandbox under `sandbox`.',
    'fork.copies': 'The fork has the files of its source, and a disk of its own.',
    'fork.from-archived': 'An archived sandbox can be forked.',
    'fork.from-usable': 'A usable sandbox can be forked.',
    'fork.idempotent': 'Fork takes an `Idempotency-Key`, with the behaviour of create.',
    'fork.type-and-ttl': 'A fork can set its machine size and its auto-stop.',
    'resume.type-and-ttl': 'A resume can set the machine size and the auto-stop.',
    'resume.restores': 'A resumed sandbox has the files that it was stopped with.',
  }),
  ...section('Errors, idempotency results', {
    'idempotency.same-sandbox': 'The same account, key and body return the original sandbox; no second one.',
    'idempotency.after-5xx': 'A retry after a lost 202 or a 5xx returns the original sandbox.',
    'idempotency.in-progress': 'A retry while the first is still being created: 409 `idempotency_in_progress`.',
    'idempotency.key-reused': 'The same key with another body: 409 `idempotency_key_reused`.',
    'idempotency.released': 'A create that failed before the sandbox existed releases its key within about 2 minutes.',
  }),
  ...section('Limits', {
    'idempotency.24-hours': 'Keys are retained 24 hours.',
    'idempotency.per-account': 'Keys are scoped per account.',
  }),
};
