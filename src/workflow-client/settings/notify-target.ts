/** Validates whom to notify. */
import { z } from 'zod';
import { chats } from '../../protocol/chats.js';

export const notifyTargetSchema = z.preprocess(
  withoutCommand,
  z.strictObject({ url: z.url({ protocol: /^https?$/ }).max(2_000), chat: z.enum(chats).optional() }).optional(),
);

/** The input of an earlier job may hold the id of a command, which earlier versions ran. */
function withoutCommand(target: unknown): unknown {
  if (typeof target !== 'object' || target === null || !('commandId' in target)) return target;
  const { commandId: _, ...others } = target;
  return Object.keys(others).length === 0 ? undefined : others;
}
