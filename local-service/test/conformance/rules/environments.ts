import { section } from './rule-record.js';

export const environmentRules = {
  ...section('Environment', {
    'environments.fields':
      'An environment has the fields shown: id (uuid), name, isDefault, latestVersionId, flags, content, versions.',
    'environments.flags':
      'safeForThirdParties, passRepoHost, passSecrets, passSandboxCredentials and passAgentsCredentials are booleans.',
    'environments.pass-repo-host': '`passRepoHost` controls passing the repository-host login.',
    'environments.pass-secrets': '`passSecrets` controls passing the owner’s secrets.',
    'environments.pass-sandbox-credentials': '`passSandboxCredentials` controls passing the credential of the sandbox.',
    'environments.pass-agents-credentials':
      '`passAgentsCredentials` controls passing logins of agents; a sandbox that gets them holds its creator’s logins.',
    'environments.contents': '`envContents` is .env-style text that sandboxes on the environment get.',
    'environments.secret-files': '`secretFiles` is an array of `{path, contents}` that sandboxes on it get.',
    'environments.versions': '`versions` holds id, versionNumber, sandboxCount and createdAt of each version.',
    'environments.selected-repositories': '`selectedRepositories` holds the eleven fields shown of each repository.',
    'environments.versions-immutable': 'Each flag or content change creates a new immutable version.',
  }),
  ...section('GET /environments', {
    'environments.list': 'Lists the environments of the caller, with `success: true`.',
  }),
  ...section('PUT /environments/{environmentId}', {
    'environments.put-response': '200 with `success: true` and `environment`.',
    'environments.put-all-optional': 'Every body field is optional.',
    'environments.put-default': '`isDefault: true` clears the flag on the previous default.',
    'environments.put-contents': '`envContents` is the full content of the new version.',
    'environments.put-repositories': '`repositories` replaces the whole selection.',
    'environments.put-repository-id': '`repositoryId` is the internal databaseId of GET /repos.',
    'environments.put-rename-alone': 'Rename and set-default are allowed alone, and mint no version.',
    'environments.put-mints-version': 'Any flag or content change mints a new immutable version.',
    'environments.put-pinned': 'Existing sandboxes stay on their pinned version until upgrade is called.',
    'environments.put-invalid-json': '400 `invalid_json` for a body that is not JSON.',
    'environments.put-unauthorized': '401 `unauthorized` without a valid key.',
    'environments.put-conflict': '409 on a conflict.',
  }),
  ...section('POST /environments/{environmentId}/upgrade', {
    'environments.upgrade-response': '200 with `success: true`, `upgraded` and `failed`.',
    'environments.upgrade-some': '`agentIds` names the sandboxes to upgrade.',
    'environments.upgrade-all':
      'Without `agentIds`, all active sandboxes of the caller on an older version are upgraded.',
    'environments.upgrade-repoints': 'It repoints the sandboxes to the latest version.',
    'environments.upgrade-scrubs': 'It scrubs owner secrets that the new version drops.',
    'environments.upgrade-pushes': 'It pushes the new configuration to running sandboxes.',
  }),
};
