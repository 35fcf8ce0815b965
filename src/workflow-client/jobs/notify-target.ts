/** Validates whom to notify. */
import { z } from 'zod';
import { chats } from '../../protocol/chats.js';
import { noCommandText, notifyCommandIdPattern } from '../../protocol/notify-command.js';

export const notifyTargetSchema = z
  .strictObject({
    url: z
      .url({ protocol: /^https?$/ })
      .max(2_000)
      .optional(),
    chat: z.enum(chats).optional(),
    commandId: z.string().regex(notifyCommandIdPattern, 'is not the id of a command').optional(),
    command: z.never({ error: noCommandText }).optional(),
  })
  .refine((target) => target.url !== undefined || target.commandId !== undefined, 'needs a url or a commandId')
  .refine((target) => target.url !== undefined || target.chat === undefined, 'needs the url of the chat');
