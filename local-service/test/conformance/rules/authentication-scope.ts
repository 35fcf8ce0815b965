import { section, untestable } from './rule-record.js';

export const authenticationRules = {
  ...section('Authentication', {
    'auth.bearer': 'Every request carries `Authorization: Bearer` and a key.',
    'auth.secret-not-logged': 'A key is never logged.',
    'auth.not-committed': untestable(
      'A key must not be committed or baked into images.',
      'Advice to users about their own repositories and images.',
    ),
    'auth.missing': 'A missing token: 401 `unauthorized`.',
    'auth.invalid': 'An invalid token: 401 `unauthorized`.',
    'auth.forbidden': 'An authenticated key that is not allowed the action: 403 `forbidden` or a typed 403.',
    'auth.desktop-urls-secret': untestable(
      'Desktop and VNC URLs contain access tokens and are secrets.',
      'What callers do with a URL cannot be seen over HTTP; that ours keep it from workflows is tested in test/activities.',
    ),
    'auth.per-sandbox-key': 'A per-sandbox key is restricted to its sandbox.',
    'auth.account-reads': 'Account-wide reads need an account key.',
    'auth.retention-session': 'PATCH /account/data-retention refuses API keys and needs an interactive session.',
  }),
  ...section('Scope', {
    'scope.both-hold': 'A scoped key is granted a request only when the action and the target are both in its sets.',
    'scope.action-forbidden': 'An action that is not on the key: 403 `api_key_action_forbidden`.',
    'scope.sandbox-forbidden': 'A sandbox or environment that is not on the key: 403 `api_key_sandbox_forbidden`.',
    'scope.environment-set': 'A target in one of the key’s environments is granted.',
    'scope.default-deny': 'Default deny.',
    'scope.unknown-routes': 'Unknown routes are refused for scoped keys.',
    'scope.new-keys-expire': 'Every new key expires and has an explicit scope.',
    'scope.older-keys': 'Older keys stay account-wide and without expiry until reissued.',
    'scope.from-snapshot': 'Create from a named snapshot needs `sandbox.create` and `snapshot.read` on the source.',
    'scope.replace-snapshot':
      'Replacing a named snapshot needs access to its existing source and to the sandbox saved.',
    'scope.destination-environment': 'Choosing a destination environment grants no access to snapshots of others.',
    'scope.sandbox-create': '`sandbox.create` unlocks create.',
    'scope.sandbox-read': '`sandbox.read` unlocks list and inspect.',
    'scope.sandbox-update': '`sandbox.update` unlocks rename and other sandbox writes.',
    'scope.recover': untestable(
      '`sandbox.update` unlocks recover.',
      'The specification shows no endpoint that recovers a sandbox.',
    ),
    'scope.sandbox-stop': '`sandbox.stop` unlocks stop.',
    'scope.sandbox-resume': '`sandbox.resume` unlocks resume.',
    'scope.sandbox-fork': '`sandbox.fork` unlocks fork.',
    'scope.sandbox-delete': '`sandbox.delete` unlocks delete.',
    'scope.agent-prompt': '`agent.prompt` unlocks prompting.',
    'scope.exec': '`exec` unlocks commands.',
    'scope.files': '`file.read` and `file.write` unlock reading and writing files.',
    'scope.ssh': '`ssh` unlocks SSH.',
    'scope.desktop': '`desktop` unlocks the desktop stream.',
    'scope.host': untestable(
      '`host` unlocks hosting a port.',
      'The specification shows no endpoint that hosts a port.',
    ),
    'scope.snapshots': '`snapshot.read` and `snapshot.write` unlock snapshots.',
    'scope.environments': '`environment.read` and `environment.write` unlock environments.',
    'scope.account-read': '`account.read` unlocks /me, limits and listing keys.',
    'scope.organization-discovery': untestable(
      '`account.read` unlocks organization discovery.',
      'The specification shows no endpoint that discovers organizations.',
    ),
    'scope.account-admin': '`account.admin` unlocks webhooks and account writes.',
    'scope.billing-teams-identities': untestable(
      '`account.admin` unlocks billing, teams and identities.',
      'The specification shows no endpoint for billing, teams or identities.',
    ),
    'scope.wildcard': '`*` is the admin wildcard.',
    'scope.preset-read-only': 'Preset `read-only`: inspect sandboxes, files, snapshots, environments.',
    'scope.preset-full-sandbox':
      'Preset `full-sandbox`: operate a sandbox without create, resume, fork, delete or account writes.',
    'scope.preset-ci': 'Preset `ci`: create, run, snapshot; no account admin.',
    'scope.preset-admin': 'Preset `admin`: `*`.',
    'scope.sandbox-credential-can':
      'The credential in a sandbox can prompt, exec, read and write files, SSH, desktop, host and snapshot that sandbox.',
    'scope.sandbox-credential-cannot':
      'The credential in a sandbox cannot create, resume, fork, delete, write environments or administer the account.',
  }),
};
