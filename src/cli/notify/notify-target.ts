/** Reads `--notify`. */

import { type Chat, chats } from '../../protocol/chats.js';
import type { NotifyTarget } from '../../protocol/job/job-input.js';
import { keepUrlSecrets } from '../../secrecy/known-secrets.js';
import { UsageError } from '../usage-error.js';

/** @throws UsageError unless `text` is a URL or that of a chat */
export function notifyTargetOf(text: string | undefined): NotifyTarget | undefined {
  if (text === undefined) return undefined;
  const target = chatIn(text) ?? { url: text };
  if (/^https?:\/\//.test(target.url) && URL.canParse(target.url)) {
    keepUrlSecrets(target.url);
    return target;
  }
  throw new UsageError(
    "--notify must be a URL (https://…), or the URL of a chat's incoming webhook (slack:https://…, teams:https://… or discord:https://…).",
  );
}

/** The chat and the URL of a text such as `slack:https://…`. */
export function chatIn(text: string): { readonly chat: Chat; readonly url: string } | undefined {
  const chat = chats.find((name) => text.startsWith(`${name}:`));
  return chat && { chat, url: text.slice(chat.length + 1) };
}

/** The target in a message. The path of a URL may be a secret. */
export function targetText(target: string): string {
  const chat = chatIn(target);
  if (chat) return `${chat.chat}:${targetText(chat.url)}`;
  return URL.canParse(target) ? new URL(target).origin : target;
}
