import { section, untestable } from './rule-record.js';

export const eventDeliveryRules = {
  ...section('Events', {
    'events.account-wide': 'Webhooks report the sandboxes of the whole account, signed, to registered endpoints.',
    'events.no-other-push': 'There is no other push channel; progress is read by polling the event history.',
  }),
  ...section('Event types', {
    'events.ready': '`sandbox.ready`: a sandbox enters a usable state after being non-usable.',
    'events.ready-after-error': '`sandbox.ready` is sent on recovery from an error.',
    'events.ready-not-usable-to-usable': 'A move from one usable state to another sends no `sandbox.ready`.',
    'events.hydrated-eager': 'On an eager restore `sandbox.hydrated` coincides with `sandbox.ready`.',
    'events.hydrated-lazy': 'On a lazy restore `sandbox.hydrated` comes later, when the background copy is final.',
    'events.error': '`sandbox.error`: a sandbox enters `error`.',
    'events.archived': '`sandbox.archived`: a sandbox finishes stopping and enters `archived`.',
    'events.same-transaction': 'ready, error and archived are created in the same transaction as the state change.',
  }),
  ...section('Payload', {
    'payload.id': '`id` is `evt_` and 32 hex characters: the idempotency key.',
    'payload.type': '`type` is the name of the event.',
    'payload.created-at': '`createdAt` is a date-time.',
    'payload.data': '`data` is the sandbox’s id and name, previousState and state.',
    'payload.hydrated': '`sandbox.hydrated` has the same envelope without previousState and state.',
  }),
  ...section('Request headers of each delivery', {
    'headers.event': '`X-Svc-Event` is the event type.',
    'headers.delivery': '`X-Svc-Delivery` is the stable event id.',
    'headers.timestamp': '`X-Svc-Timestamp` is the Unix timestamp of this attempt.',
    'headers.signature': '`X-Svc-Signature` is `v1=` and hex HMAC-SHA256.',
    'headers.attempt': '`X-Svc-Attempt` is the attempt number, starting at 1.',
    'signature.covers': 'The HMAC, keyed with the endpoint secret, is over `delivery id.timestamp.raw body bytes`.',
    'signature.hex-64': 'The signature is 64 hex characters.',
    'signature.receiver': untestable(
      'Receivers compare in constant time, reject timestamps over 300 s off, deduplicate, and verify raw bytes first.',
      'Advice to receivers; our receiver is tested in test/unit/webhook/webhook-signature.test.ts and test/bridge.',
    ),
  }),
  ...section('Delivery semantics', {
    'delivery.2xx-delivered': 'A 2xx response marks the event delivered.',
    'delivery.retried-on-status': 'Other responses cause retries.',
    'delivery.retried-on-connection': 'Connection failures cause retries.',
    'delivery.timeout-5s': 'An endpoint that does not answer within 5 seconds causes a retry.',
    'delivery.back-off': 'Retries back off exponentially.',
    'delivery.8-attempts': 'There are up to 8 attempts.',
    'delivery.at-least-once': 'Delivery is at least once: the same event id can arrive more than once.',
    'delivery.out-of-order': 'Separate events can arrive out of order.',
    'delivery.rotation-in-flight': 'During rotation an attempt in flight can still carry the old signature.',
    'delivery.https-443-only': 'Endpoints must be HTTPS on port 443.',
    'delivery.public-addresses-only': 'Endpoints must resolve only to public IP addresses.',
    'delivery.no-redirects': 'Redirects are not followed.',
    'delivery.records-30-days': 'Completed and exhausted delivery records are kept 30 days.',
  }),
};
