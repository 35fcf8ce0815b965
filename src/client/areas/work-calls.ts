import type { z } from 'zod';
import type {
  CommandBody,
  conversationQuerySchema,
  listEventsQuerySchema,
  PromptBody,
  WriteFileBody,
} from '../../contract/requests/sandbox-requests.js';
import type { OtherFields } from '../../contract/workflow-safe/other-fields.js';
import type { Answer, CallOptions } from '../call-options.js';

/**
 * Query of the event history. Assumption: every field but `conversation`. `cursor` goes back to a service that names the
 * next page.
 */
export type ListEventsQuery = z.infer<typeof listEventsQuerySchema> & { readonly cursor?: string };
/** Query that selects a conversation; without it, the whole sandbox. */
export type ConversationQuery = z.infer<typeof conversationQuerySchema>;

/** Work inside a sandbox: prompts, files, commands. */
export interface WorkCalls {
  /** Not safe to repeat: each call that arrives queues the prompt once more (trap S3). */
  sendPrompt(sandboxId: string, body: PromptBody & OtherFields, options?: CallOptions): Answer<'sendPrompt'>;
  getPrompt(sandboxId: string, promptId: string, options?: CallOptions): Answer<'getPrompt'>;
  listEvents(sandboxId: string, query?: ListEventsQuery, options?: CallOptions): Answer<'listEvents'>;
  interruptSandbox(sandboxId: string, query?: ConversationQuery, options?: CallOptions): Answer<'interruptSandbox'>;
  readFile(sandboxId: string, path: string, options?: CallOptions): Answer<'readFile'>;
  writeFile(sandboxId: string, body: WriteFileBody, options?: CallOptions): Answer<'writeFile'>;
  /** Not safe to repeat. A command may outlast the client's deadline: set `timeoutMs` for a long command. */
  runCommand(sandboxId: string, body: CommandBody, options?: CallOptions): Answer<'runCommand'>;
}
