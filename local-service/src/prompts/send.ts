/** Accepts a prompt (specification, prompt endpoint; assumptions, "Prompt state and sandbox state"). */

import type { PromptBody } from '../../../src/contract/requests/sandbox-requests.js';
import { isUsable } from '../../../src/contract/workflow-safe/states.js';
import { assume } from '../core/assume.js';
import { changeSandbox, freshArchiveAfter } from '../core/change-sandbox.js';
import type { Context } from '../core/context.js';
import { newConversationId, newPromptId } from '../core/ids.js';
import { acceptsWork } from '../core/machine-states.js';
import { invalidRequest, notFound, ServiceError } from '../service-error.js';
import type { SandboxRecord } from '../store/sandbox-record.js';
import { missingLogin } from './login.js';
import { requireEffort, requireModel, requireProvider } from './providers.js';

/**
 * Queues a prompt; the sandbox is `running` from here on, unless its stop is failing, which goes on. There is no idempotency key: a repeated call queues a second
 * prompt (trap S3).
 * @throws ServiceError `prompt_required`, `sandbox_not_promptable`, `provider_required`, `provider_not_configured`,
 *   `not_found` for an unknown conversation, `invalid_request` for an unknown provider, for a model that the settings
 *   do not list, or for an effort that the model does not accept
 */
export function sendPrompt(
  context: Context,
  sandbox: SandboxRecord,
  body: PromptBody,
): { readonly promptId: string; readonly conversationId: string; readonly begins: boolean } {
  const { stores } = context;
  const { id: sandboxId } = sandbox;
  if (body.prompt.trim() === '') throw new ServiceError(400, 'prompt_required', 'The prompt is empty.');
  const provider = requireProvider(body.provider ?? context.defaultProvider);
  const { models } = context;
  requireModel(models, provider, body.model);
  const { model, reasoningEffort: effort } = body;
  const agent = context.agentOf(provider);
  const checksEffort = models.has(provider) || !agent?.takesAnyModel;
  if (effort !== undefined && checksEffort) requireEffort(models, provider, { model, effort });
  const conversationId = conversationOf(context, sandbox, body);
  const begins = !stores.prompts.hasConversation(sandboxId, conversationId);
  if (!acceptsWork(sandbox)) {
    const message = `The sandbox is ${sandbox.state}. It accepts prompts only while it is ready, idle or running.`;
    throw new ServiceError(409, 'sandbox_not_promptable', message);
  }
  const needed = agent && missingLogin(context, sandbox, { provider, login: agent.login });
  if (!agent || needed) {
    const why = needed
      ? ` This sandbox has no login for it: it needs ${needed.join(' or ')}. Set it as a secret, or in its environment (docs/agents.md, "Credentials").`
      : '';
    throw new ServiceError(409, 'provider_not_configured', `The provider ${provider} is not configured.${why}`, {
      details: { provider, setupUrl: `https://sandbox.invalid/settings/providers/${provider}` },
    });
  }
  assume('A-prompt-states');
  const promptId = newPromptId();
  context.database.transaction(() => {
    stores.prompts.add({
      id: promptId,
      sandboxId,
      conversationId,
      provider,
      model: body.model ?? null,
      reasoningEffort: body.reasoningEffort ?? null,
      text: body.prompt,
      queuedAt: context.clock.iso(),
    });
    stores.history.add({ sandboxId, conversationId, promptId, type: 'prompt.queued', data: { prompt: body.prompt } });
    if (isUsable(sandbox.state)) {
      changeSandbox(context, sandbox, {
        state: 'running',
        archiveAfter: freshArchiveAfter(context.clock, sandbox.ttlSeconds),
      });
    } else assume('A-failing-stop');
    context.prompts.wake(sandboxId);
  });
  return { promptId, conversationId, begins };
}

/** The conversation of a prompt: a prompt that names none goes to the latest one. */
function conversationOf({ stores }: Context, sandbox: SandboxRecord, body: PromptBody): string {
  const { id: sandboxId, inheritedConversations = [] } = sandbox;
  if (body.conversationId !== undefined) {
    if (body.new) throw invalidRequest('Specify either new or conversationId, not both.');
    if (stores.prompts.hasConversation(sandboxId, body.conversationId)) return body.conversationId;
    if (inheritedConversations.includes(body.conversationId) && assume('A-fork-conversations'))
      return body.conversationId;
    throw notFound('This conversation does not exist in the sandbox.');
  }
  const continues = !body.new && assume('A-conversation');
  return (continues ? stores.prompts.latestConversation(sandboxId) : undefined) ?? newConversationId();
}
