/** Validates whom to notify. */
import { z } from 'zod';
import { chats } from '../../protocol/chats.js';

export const notifyTargetSchema = z.strictObject({
  url: z.url({ protocol: /^https?$/ }).max(2_000),
  chat: z.enum(chats).optional(),
});
