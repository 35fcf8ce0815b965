/** Reads `--notify`. The text of a command stays in a file of this machine; the input contains only its id. */

import type { Config } from '../../config.js';
import { notifyCommandId } from '../../notify/command-id.js';
import { type Chat, chats } from '../../protocol/chats.js';
import type { NotifyTarget } from '../../protocol/job/job-input.js';
import { notifyCommandIdPattern } from '../../protocol/notify-command.js';
import { keepUrlSecrets } from '../../secrecy/known-secrets.js';
import { badConfiguration, UsageError } from '../usage-error.js';

/** @throws UsageError unless `text` is a URL, that of a chat, `command:…` or `command-id:…` */
export function notifyTargetOf(text: string | undefined): NotifyTarget | undefined {
  if (text === undefined) return undefined;
  const command = commandIn(text);
  if (command) return { commandId: notifyCommandId(command) };
  const commandId = /^command-id:(.*)$/s.exec(text)?.[1]?.trim();
  if (commandId !== undefined && notifyCommandIdPattern.test(commandId)) return { commandId };
  const target = chatIn(text) ?? { url: text };
  if (/^https?:\/\//.test(target.url) && URL.canParse(target.url)) {
    keepUrlSecrets(target.url);
    return target;
  }
  throw new UsageError(
    "--notify must be a URL (https://…), the URL of a chat's incoming webhook (slack:https://…, teams:https://… or discord:https://…), command:… with a command for the worker, or command-id:… with the id of a command in the worker's configuration.",
  );
}

/**
 * Stores the command of `--notify command:…` in the file that the worker reads. Does nothing for other targets.
 * @throws SandflowError `bad_configuration` if no file of commands is configured; what `NotifyCommands.keep` throws
 */
export async function keepNotifyCommand(text: string | undefined, config: Pick<Config, 'notify'>): Promise<void> {
  const command = text === undefined ? undefined : commandIn(text);
  if (command) await keepCommand(command, config);
}

export async function keepCommand(command: string, { notify }: Pick<Config, 'notify'>): Promise<void> {
  if (notify.commandsFile === undefined) {
    throw badConfiguration(
      'A worker on another machine runs only the notify commands in its own configuration. Use the id of one: command-id:…, or ' +
        'commandId in a policy. If the worker is on this machine, set SANDFLOW_NOTIFY_COMMANDS to the file that it reads.',
    );
  }
  const { createNotifyCommands } = await import('../../notify/index.js');
  await createNotifyCommands(notify.commandsFile).keep(command);
}

/** The same words of a command line, with the id of a command in place of its text. */
export function withoutNotifyCommand(words: readonly string[]): string[] {
  return words.map((word, at) => {
    const [, option = '', text] = /^(--notify=)(.*)$/s.exec(word) ?? [];
    const command = commandIn(words[at - 1] === '--notify' ? word : (text ?? ''));
    return command ? `${option}command-id:${notifyCommandId(command)}` : word;
  });
}

function commandIn(text: string): string | undefined {
  return /^command:(.*)$/s.exec(text)?.[1]?.trim() || undefined;
}

/** The chat and the URL of a text such as `slack:https://…`. */
export function chatIn(text: string): { readonly chat: Chat; readonly url: string } | undefined {
  const chat = chats.find((name) => text.startsWith(`${name}:`));
  return chat && { chat, url: text.slice(chat.length + 1) };
}
