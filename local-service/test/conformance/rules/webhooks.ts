import { section, untestable } from './rule-record.js';

export const webhookRules = {
  ...section('Webhook', {
    'webhooks.id-form': '`id` is `wh_` and 24 hex characters.',
    'webhooks.fields': 'A webhook has id, name, url and events.',
    'webhooks.secret-once': 'The secret is returned only on create and rotate.',
  }),
  ...section('Webhook endpoints', {
    'webhooks.create': 'POST /webhooks takes name, url and events; the answer has `webhook` and `secret`.',
    'webhooks.secret-prefix': 'The secret begins with `whsec_`.',
    'webhooks.https-443': 'The url is https on port 443.',
    'webhooks.at-least-one-event': 'At least one event is required.',
    'webhooks.known-events': 'Events are names of the event types.',
    'webhooks.list': 'GET /webhooks lists the webhooks.',
    'webhooks.get': 'GET /webhooks/{webhookId} returns one.',
    'webhooks.patch': 'PATCH edits name, url and events in place.',
    'webhooks.rotate': 'Rotate replaces the secret and returns the new one.',
    'webhooks.delete-drops-queue': 'DELETE removes queued deliveries.',
    'webhooks.delete-in-flight': 'An attempt that is in flight when a webhook is deleted can still arrive.',
    'webhooks.no-history': 'Delivery history is not available through the API.',
  }),
  ...section('Limits', {
    'webhooks.at-most-10': 'An account has at most 10 webhook endpoints.',
  }),
  ...section('Event types', {
    'webhooks.subscription': 'A webhook receives the events that it subscribed to, and no others.',
    'webhooks.cli-all-four': untestable(
      'The CLI subscribes to all four events when none is given, and takes names with or without `sandbox.`.',
      'A statement about a command-line tool, not about the HTTP interface.',
    ),
  }),
};
