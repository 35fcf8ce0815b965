import { section } from './rule-record.js';

export const envelopeRules = {
  ...section('What the service does', {
    'flow.recommended': 'Create, poll until ready or idle, prompt, read events, then stop, resume, fork or delete.',
    'flow.commands-for-the-rest': 'What has no endpoint of its own (installs, own scripts) is done through commands.',
  }),
  ...section('Response envelope', {
    'envelope.ok-true': 'Every successful JSON response carries `ok: true`.',
    'envelope.ok-false': 'Every failed JSON response carries `ok: false`.',
    'envelope.type': 'Every JSON response carries `type`, a stable string discriminator.',
    'envelope.types-shown':
      'The types shown are sent: sandbox.list, sandbox.created, sandbox.stopping, prompt.queued, stop.status, process.list, user.info, sandbox.error.',
    'envelope.list-plural': 'Lists are returned under a plural key.',
    'envelope.single-sandbox': 'A single sandbox is returned under `sandbox`.',
    'envelope.environments-success': 'Environment responses carry `success` instead of `ok`.',
  }),
  ...section('Endpoints', {
    'envelope.json-requests': 'Requests with a body use `Content-Type: application/json`.',
    'envelope.inventory': 'Every endpoint of the inventory is served.',
  }),
};
