import { section } from '../rule-record.js';

export const accountRules = {
  ...section('GET /me', {
    'account.me': '200, type `user.info`, with login, email, zeroDataRetention and zeroDataRetentionEnabledAt.',
  }),
  ...section('Endpoint inventory', {
    'account.limits': 'GET /limits returns the limits of the account.',
    'account.retention-read': 'GET /account/data-retention reads the policy.',
    'account.retention-update': 'PATCH /account/data-retention updates the policy in an interactive session.',
    'account.repos-list': 'GET /repos lists the repositories of the repository host.',
    'account.repos-select': 'POST /repos selects a repository for sandboxes.',
    'account.secrets-read': 'GET /secrets reads the secrets setup.',
    'account.secrets-update': 'POST /secrets updates the secrets setup.',
    'sandboxes.list': 'GET /sandboxes lists the sandboxes.',
    'sandboxes.get': 'GET /sandboxes/{sandboxId} returns one.',
    'sandboxes.usage': 'GET /sandboxes/{sandboxId}/usage is its machine-time usage.',
    'sandboxes.patch': 'PATCH /sandboxes/{sandboxId} renames and sets the auto-stop TTL.',
    'sandboxes.resume': 'POST /sandboxes/{sandboxId}/resume resumes.',
  }),
};
