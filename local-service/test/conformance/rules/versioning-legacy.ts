import { section, untestable } from './rule-record.js';

export const versioningRules = {
  ...section('Versioning', {
    'versioning.v1': 'The interface is served under a base that ends in `/v1`.',
    'versioning.current-vocabulary': 'Paths, keys, types, error codes and events of the current surface say sandbox.',
    'legacy.base': '`/boxes` and `/boxes/{boxId}` are answered under a base address of their own.',
    'legacy.keys': 'Legacy answers use the keys box, boxes and boxId.',
    'legacy.types': 'Legacy answers use the types `box.*`.',
    'legacy.error-codes': 'Legacy errors use `box_not_promptable` and `api_key_box_forbidden`.',
    'legacy.scope-actions': 'Legacy scope actions are `box.*`, the preset is `full-box`.',
    'legacy.sunset': 'Legacy routes carry a `Sunset` header whose date is October 31.',
    'legacy.still-answered': 'Legacy routes are not removed; none answers 410 Gone.',
    'legacy.retirement': untestable('The retirement policy is undecided.', 'Nothing is decided that could be tested.'),
    'legacy.unchanged-ids': 'Sandbox ids and snapshot ids are the same on both surfaces.',
    'legacy.unchanged-headers': 'The signature headers and `Idempotency-Key` are the same on both surfaces.',
    'legacy.unchanged-key-field': 'The `sandboxId` field on API keys is the same on both surfaces.',
    'legacy.unchanged-data': 'All stored data is the same on both surfaces.',
    'legacy.webhooks-deliver-box': 'Webhooks created before the rename deliver `box.*` with legacy-spelled payloads.',
    'legacy.webhooks-same-delivery': 'Their signatures, headers and retries are the same.',
    'legacy.new-webhooks-deliver-sandbox': 'A webhook created through the current surface delivers `sandbox.*`.',
    'versioning.hosted-urls': untestable(
      'Hosted URLs answer under two host forms with the same `_token`; the retirement of the older is undecided.',
      'The specification shows no endpoint that returns a hosted URL.',
    ),
    'versioning.packages-renamed': untestable(
      'The client packages and the command-line tool were renamed; helper names were kept.',
      'A statement about the packages of the service’s makers.',
    ),
  }),
};
