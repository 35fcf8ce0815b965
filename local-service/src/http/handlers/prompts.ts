import { sandboxFor } from '../../access/sandbox-access.js';
import { sendPrompt } from '../../prompts/send.js';
import { invalidRequest, notFound } from '../../service-error.js';
import { historySeqOf } from '../../store/history-store.js';
import type { Operations } from '../operation.js';

const defaultEvents = 1_000;

/** The number in an event id of the profile `plainEventIds`. */
function plainSeqOf(eventId: string): number | undefined {
  return /^\d{1,15}$/.test(eventId) ? Number(eventId) : undefined;
}

export const promptOperations = {
  sendPrompt(context, { caller, params: { sandboxId }, body }) {
    const sandbox = sandboxFor(context, caller, sandboxId, 'use');
    const { promptId, conversationId, begins } = sendPrompt(context, sandbox, body);
    if (begins && caller.keyId !== null) context.stores.keyUsage.addAgent(caller.keyId, { conversationId, sandboxId });
    return { fields: context.profile.omitPromptId ? { conversationId } : { promptId, conversationId } };
  },

  getPrompt(context, { caller, params: { sandboxId, promptId } }) {
    sandboxFor(context, caller, sandboxId, 'use');
    const stored = context.stores.prompts.get(promptId);
    if (stored?.sandboxId !== sandboxId) {
      throw notFound(`The sandbox ${sandboxId} has no prompt ${promptId}.`);
    }
    const { seq: _, text: __, ...prompt } = stored;
    const isFull = context.profile.fullModelNames && prompt.model !== null;
    return { fields: { prompt: isFull ? { ...prompt, model: `vendor/${prompt.model}-20250514` } : prompt } };
  },

  listEvents(context, { caller, params: { sandboxId }, query }) {
    sandboxFor(context, caller, sandboxId, 'use');
    const { plainEventIds } = context.profile;
    const seqOf = plainEventIds ? plainSeqOf : historySeqOf;
    const afterSeq = query.after === undefined ? 0 : seqOf(query.after);
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
    if (!plainEventIds) return { fields: { events } };
    return { fields: { events: events.map((event) => ({ ...event, id: String(historySeqOf(event.id)) })) } };
  },

  interruptSandbox(context, { caller, params: { sandboxId }, query }) {
    sandboxFor(context, caller, sandboxId, 'use');
    return { fields: { interrupted: context.prompts.interrupt(sandboxId, query.conversation) } };
  },
} satisfies Partial<Operations>;
