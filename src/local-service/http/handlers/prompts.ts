import { sendPrompt } from '../../domain/send-prompt.js';
import { ServiceError, sandboxNotFound } from '../../service-error.js';
import { historySeqOf } from '../../store/history-store.js';
import type { Operations } from '../operation.js';

const DEFAULT_EVENTS = 1_000;

export const promptOperations: Pick<Operations, 'sendPrompt' | 'getPrompt' | 'listEvents' | 'interruptSandbox'> = {
  sendPrompt(context, { params, body }) {
    const { promptId, conversationId } = sendPrompt(context, params.sandboxId, body);
    return { fields: context.profile.omitPromptId ? { conversationId } : { promptId, conversationId } };
  },

  getPrompt(context, { params: { sandboxId, promptId } }) {
    if (!context.stores.sandboxes.get(sandboxId)) throw sandboxNotFound(sandboxId);
    const stored = context.stores.prompts.get(promptId);
    if (stored?.sandboxId !== sandboxId) {
      throw new ServiceError(404, 'not_found', `The sandbox ${sandboxId} has no prompt ${promptId}.`);
    }
    const { id, conversationId, provider, model, reasoningEffort, status, queuedAt, startedAt, endedAt } = stored;
    const { result, error } = stored;
    return {
      fields: {
        prompt: {
          id,
          sandboxId,
          conversationId,
          provider,
          model,
          reasoningEffort,
          status,
          queuedAt,
          startedAt,
          endedAt,
          result,
          error,
        },
      },
    };
  },

  listEvents(context, { params: { sandboxId }, query }) {
    if (!context.stores.sandboxes.get(sandboxId)) throw sandboxNotFound(sandboxId);
    const afterSeq = query.after === undefined ? 0 : historySeqOf(query.after);
    if (afterSeq === undefined) {
      throw new ServiceError(400, 'invalid_request', 'after: must be the id of an event, like sev_ and 24 hex digits.');
    }
    const lag = context.faults.take('events_lag');
    const events = context.stores.history.list({
      sandboxId,
      conversationId: query.conversation,
      afterSeq,
      untilMs: Date.now() - (lag?.ms ?? 0),
      limit: query.limit ?? DEFAULT_EVENTS,
    });
    return { fields: { events } };
  },

  interruptSandbox(context, { params: { sandboxId }, query }) {
    if (!context.stores.sandboxes.get(sandboxId)) throw sandboxNotFound(sandboxId);
    return { fields: { interrupted: context.prompts.interrupt(sandboxId, query.conversation) } };
  },
};
