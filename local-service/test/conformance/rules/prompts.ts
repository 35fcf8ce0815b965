import { section } from './rule-record.js';

export const promptRules = {
  ...section('POST /sandboxes/{sandboxId}/prompt', {
    'prompts.required': '`prompt` is required.',
    'prompts.provider-optional': '`provider` is optional and defaults to the harness that the user chose.',
    'prompts.providers': 'Providers are codex, claude-code, pi, opencode, prime-agent and kimi.',
    'prompts.provider-aliases': 'claude is claude-code, prime is prime-agent, kimi-code is kimi.',
    'prompts.model-optional': '`model` is optional and defaults to the user’s saved default for the harness.',
    'prompts.reasoning-effort-enum': '`reasoningEffort` is none, low, medium, high, xhigh or max.',
    'prompts.reasoning-effort-accepted': 'Only levels that the model accepts are accepted.',
    'prompts.new-conversation': '`new` starts a conversation.',
    'prompts.conversation': '`conversationId` selects a conversation.',
    'prompts.response': 'Type `prompt.queued`, with `conversationId`.',
    'prompts.parallel-conversations': 'Several conversations run in parallel in one sandbox.',
    'prompts.provider-not-configured':
      'Missing credentials: 409 `provider_not_configured` with details.provider and details.setupUrl.',
  }),
  ...section('GET /provider-models', {
    'prompts.provider-models': 'Per provider, every model and the levels that each accepts; some accept none.',
  }),
  ...section('Events query', {
    'prompts.events-conversation': 'GET events takes a `conversation` filter.',
    'prompts.interrupt-conversation': 'POST interrupt takes a `conversation` filter.',
  }),
  ...section('Endpoint inventory', {
    'prompts.status': 'GET /sandboxes/{sandboxId}/prompts/{promptId} is the status of the run.',
    'prompts.events': 'GET /sandboxes/{sandboxId}/events is the event history.',
    'prompts.interrupt': 'POST /sandboxes/{sandboxId}/interrupt interrupts running work.',
  }),
};
