import { sandboxFor } from '../../access/sandbox-access.js';
import { sendPrompt } from '../../prompts/send.js';
import { invalidRequest, notFound } from '../../service-error.js';
import { historySeqOf } from '../../store/history-store.js';
import type { Operations } from '../operation.js';

const defaultEvents = 1_000;

export const promptOperations = {
  sendPrompt(context, { caller, params: { sandboxId }, body }) {
    const sandbox = sandboxFor(context, caller, sandboxId, 'use');
    const { promptId, conversationId, begins } = sendPrompt(context, sandbox, body);
    if (begins && caller.keyId !== null) context.stores.keyUsage.addAgent(caller.keyId, { conversationId, sandboxId });
    return { fields: { promptId, conversationId } };
  },

  getPrompt(context, { caller, params: { sandboxId, promptId } }) {
    sandboxFor(context, caller, sandboxId, 'use');
    const stored = context.stores.prompts.get(promptId);
    if (stored?.sandboxId !== sandboxId) {
      throw notFound(`The sandbox ${sandboxId} has no prompt ${promptId}.`);
    }
    const { seq: _, text: __, ...prompt } = stored;
    return { fields: { prompt } };
  },

  listEvents(context, { caller, params: { sandboxId }, query }) {
    sandboxFor(context, caller, sandboxId, 'use');
    const afterSeq = query.after === undefined ? 0 : historySeqOf(query.after);
    if (afterSeq === undefined) {
      throw invalidRequest('after: must be the id of an event: sev_ and 24 hex digits.');
    }
    const lag = context.faults.take('events_lag');
    const events = context.stores.history.list({
      sandboxId,
      conversationId: query.conversation,
      afterSeq,
      untilMs: context.clock.now() - (lag?.ms ?? 0),
      limit: query.limit ?? defaultEvents,
    });
    return { fields: { events } };
  },

  interruptSandbox(context, { caller, params: { sandboxId }, query }) {
    sandboxFor(context, caller, sandboxId, 'use');
    return { fields: { interrupted: context.prompts.interrupt(sandboxId, query.conversation) } };
  },
} satisfies Partial<Operations>;
