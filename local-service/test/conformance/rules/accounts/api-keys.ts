import { section, untestable } from '../rule-record.js';

export const apiKeyRules = {
  ...section('API key', {
    'api-keys.id-form': '`id` has the form `sak_…`.',
    'api-keys.row': 'A listed key carries id, name, prefix, last four characters, scope, expiry and last use.',
    'api-keys.row-usage': 'A listed key carries `usage.requests`, its requests of 30 days.',
    'api-keys.row-resources': 'A listed key carries `resources.total`: what it created and still exists, with a split.',
    'api-keys.list-no-secret': 'The secret is never returned by list.',
  }),
  ...section('API key endpoints', {
    'api-keys.create-session': 'Creating a scoped key requires a browser session or an admin-scoped token.',
    'api-keys.create-disabled': 'While creation is disabled it returns a typed 503.',
    'api-keys.creation-enabled-reported': 'GET /api-keys reports `catalog.scopedCreationEnabled`.',
    'api-keys.list-restricted': 'GET /api-keys returns an empty `apiKeys` to restricted keys.',
    'api-keys.list-full': 'A session or an unrestricted account key gets the full inventory.',
    'api-keys.usage': 'Usage returns the 30-day request total and the count of live resources.',
    'api-keys.usage-after-revocation': 'Usage works after revocation while the id is known.',
    'api-keys.rotate-expired': 'Rotating an expired scoped key returns 409 `api_key_expired`.',
    'api-keys.ttl-max': 'The TTL is at most 365 days.',
    'api-keys.preset-or-actions': 'Preset and actions exclude each other.',
    'api-keys.sandbox-and-env-sets': 'A key can be limited to sandboxes and to environments.',
    'api-keys.default-admin-90-days': 'Without preset and actions a key is admin-scoped with a TTL of 90 days.',
  }),
  ...section('Key lifecycle', {
    'api-keys.rotate-session': 'Rotate needs a session.',
    'api-keys.revoke-session': 'Revoke needs a session.',
    'api-keys.secret-once': 'The secret is shown once, on creation and on rotation.',
    'api-keys.rotate-revokes': 'Rotate revokes the old secret at once and gives a new one.',
    'api-keys.rotate-keeps': 'Rotate keeps id, scope and expiry, and does not extend the lifetime.',
    'api-keys.rotate-legacy': 'Rotate does not convert a legacy key into a scoped key.',
    'api-keys.revoke-at-once': 'Revoke disables the key at once; the next request with it fails authentication.',
    'api-keys.revoke-keeps-resources': 'Sandboxes that a revoked key created remain; its usage stays readable by id.',
    'api-keys.expired': 'An expired key gets the typed 403 `api_key_expired`.',
    'api-keys.agent-claim': untestable(
      'Approving an agent claim needs a browser session; no API key may approve it.',
      'The specification shows no endpoint for agent claims.',
    ),
  }),
};
