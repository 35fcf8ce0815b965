/** A notification as a message in a chat: what happened, what it costs, and the command that shows more. Pure. */
import type { Chat } from '../../src/contract/workflow-safe/chats.js';
import { cut } from '../../src/contract/workflow-safe/stored-text.js';
import { workflowTypes } from '../../src/protocol/messages.js';
import type { Notification } from '../../src/protocol/notification.js';

/** Discord accepts 2,000 characters, the others more. */
const longestReason = 1_000;

/** The JSON that the incoming webhook of a chat expects. Nobody is mentioned, whatever the text holds. */
export function chatMessage(chat: Chat, notification: Notification): object {
  const text = textOf(notification);
  switch (chat) {
    case 'slack':
      return { text: text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;') };
    case 'discord':
      return { content: text, allowed_mentions: { parse: [] } };
    case 'teams': {
      const content = { type: 'AdaptiveCard', version: '1.4', body: [{ type: 'TextBlock', text, wrap: true }] };
      return {
        type: 'message',
        attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', content }],
      };
    }
  }
}

function textOf(notification: Notification): string {
  const { event, sandboxId, outcome } = notification;
  const { what, command } = subjectOf(notification);
  const reason = reasonOf(notification);
  const next = `\`${command}\``;
  switch (event) {
    case 'ended':
      return `${what} ended: ${outcome}${reason}. See ${next}`;
    case 'blocked': {
      const cost = sandboxId === null ? '' : ` Its sandbox ${sandboxId} costs machine time until it continues.`;
      return `${what} waits for somebody${reason}.${cost} See ${next}`;
    }
    case 'stop_failing':
      return `${what} does not end${reason}. The sandbox ${sandboxId ?? ''} costs machine time until it has stopped. See ${next}`;
    case 'stop_escalating':
      return `${what} is escalated${reason}. See ${next}`;
    case 'data_expiring':
      return `${what}: saved data will be deleted${reason}. See ${next}`;
  }
}

/** Who notifies, and the command that shows more of it. */
function subjectOf({ workflowType, workflowId, jobId, sandboxId }: Notification): {
  readonly what: string;
  readonly command: string;
} {
  switch (workflowType) {
    case workflowTypes.createThenPrompt:
      return { what: `Job ${jobId ?? workflowId}`, command: `sandflow jobs show ${jobId ?? ''}`.trimEnd() };
    case workflowTypes.forkFanout:
      return { what: `Batch ${jobId ?? workflowId}`, command: `sandflow fanout show ${jobId ?? ''}`.trimEnd() };
    case workflowTypes.stopAndAwaitArchive:
      return {
        what: `The stop of ${sandboxId ?? workflowId}`,
        command: `sandflow stops explain ${sandboxId ?? ''}`.trimEnd(),
      };
    case workflowTypes.retentionCleanup:
      return { what: `The cleanup ${workflowId}`, command: `sandflow cleanup report ${workflowId}` };
    default:
      return { what: workflowId, command: `temporal workflow show --workflow-id ${workflowId}` };
  }
}

/** On one line, and without the marks that would end the code of the command. */
function reasonOf({ message }: Notification): string {
  if (message === null || message.trim() === '') return '';
  const line = message.replaceAll(/\s+/g, ' ').replaceAll('`', "'").trim().replace(/\.$/, '');
  return `: ${cut(line, longestReason)}`;
}
