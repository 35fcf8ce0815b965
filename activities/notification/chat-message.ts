/** A notification as a message in a chat: what happened, what it costs, and the command that shows more. Pure. */

import type { Chat } from '../../src/protocol/chats.js';
import { workflowTypes } from '../../src/protocol/messages.js';
import type { Notification } from '../../src/protocol/notification.js';
import { cut } from '../../src/texts/length.js';
import { shellWord } from '../../src/texts/shell-word.js';

/** Discord accepts messages of 2,000 characters, the others longer ones. All parts together are shorter. */
const longestReason = 900;
const longestName = 200;
const longestInCommand = 255;

/** What is not this program's own word comes from agents, the service and people: a chat shows it as it is. */
type Part = { readonly ours: string } | { readonly theirs: string } | { readonly command: string };

/**
 * The JSON that the incoming webhook of a chat expects. Whatever the text of others holds, it links nothing, mentions
 * nobody and is shown as it is: as code, in which Slack and Discord read no markup, or in a run of text of Teams.
 */
export function chatMessage(chat: Chat, notification: Notification): object {
  const parts = partsOf(notification);
  switch (chat) {
    case 'slack':
      return { text: marked(parts).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;') };
    case 'discord':
      return { content: marked(parts), allowed_mentions: { parse: [] } };
    case 'teams': {
      // A `TextBlock` would read Markdown.
      const body = [{ type: 'RichTextBlock', inlines: parts.map(runOf) }];
      const content = { type: 'AdaptiveCard', version: '1.4', body };
      return {
        type: 'message',
        attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', content }],
      };
    }
  }
}

const marked = (parts: readonly Part[]) =>
  parts.map((part) => ('ours' in part ? part.ours : `\`${textOf(part).replaceAll('`', "'")}\``)).join('');

const textOf = (part: Part) => ('ours' in part ? part.ours : 'theirs' in part ? part.theirs : part.command);

function runOf(part: Part): object {
  return { type: 'TextRun', text: textOf(part), ...('command' in part && { fontType: 'Monospace' }) };
}

const ours = (text: string): Part => ({ ours: text });
/** On one line, and without characters that are not seen: some turn the order of the text around. */
const seen = (text: string): string =>
  text
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/[\p{Cc}\p{Cf}]/gu, '')
    .trim();
/** Code that is empty would be no code, and the next mark would begin one. */
function theirs(text: string): Part {
  const shown = seen(text);
  return shown === '' ? ours('-') : { theirs: cut(shown, longestName) };
}

function partsOf(notification: Notification): Part[] {
  const { event, sandboxId, outcome } = notification;
  const { what, command } = subjectOf(notification);
  const reason = reasonOf(notification);
  const see = command === null ? [] : [ours('. See '), { command }];
  const sandbox = sandboxId === null ? [] : [theirs(sandboxId)];
  switch (event) {
    case 'ended':
      return [...what, ours(' ended: '), theirs(outcome ?? 'unknown'), ...reason, ...see];
    case 'blocked': {
      const cost = [ours('. Its sandbox '), ...sandbox, ours(' costs machine time until it continues')];
      return [...what, ours(' waits for somebody'), ...reason, ...(sandboxId === null ? [] : cost), ...see];
    }
    case 'stop_failing': {
      const cost = [ours('. The sandbox '), ...sandbox, ours(' costs machine time until it has stopped')];
      return [...what, ours(' does not end'), ...reason, ...cost, ...see];
    }
    case 'stop_escalating':
      return [...what, ours(' is escalated'), ...reason, ...see];
    case 'data_expiring':
      return [...what, ours(': saved data will be deleted'), ...reason, ...see];
  }
}

/** Who notifies, and the command that shows more of it. */
function subjectOf({ workflowType, workflowId, jobId, sandboxId }: Notification): {
  readonly what: readonly Part[];
  /** Null for a name that a shell could read in another way, which nobody should copy. */
  readonly command: string | null;
} {
  const named = (kind: string, name: string, command: string, id: string | null = name) => {
    const isPlain = id === null || (shellWord(id) === id && id.length <= longestInCommand);
    return { what: [ours(kind), theirs(name)], command: isPlain ? `${command} ${id ?? ''}`.trimEnd() : null };
  };
  switch (workflowType) {
    case workflowTypes.createThenPrompt:
      return named('Job ', jobId ?? workflowId, 'sandflow jobs show', jobId);
    case workflowTypes.forkFanout:
      return named('Batch ', jobId ?? workflowId, 'sandflow fanout show', jobId);
    case workflowTypes.stopAndAwaitArchive:
      return named('The stop of ', sandboxId ?? workflowId, 'sandflow stops explain', sandboxId);
    case workflowTypes.retentionCleanup:
      return named('The cleanup ', workflowId, 'sandflow cleanup report');
    default:
      return named('', workflowId, 'temporal workflow show --workflow-id');
  }
}

function reasonOf({ message }: Notification): Part[] {
  const reason = seen(message ?? '').replace(/\.$/, '');
  return reason === '' ? [] : [ours(': '), { theirs: cut(reason, longestReason) }];
}
