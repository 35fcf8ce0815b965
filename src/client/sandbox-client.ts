import type { z } from 'zod';
import type { EndpointName, ResponseOf } from '../contract/endpoints.js';
import type { Sandbox } from '../contract/records.js';
import type {
  CommandBody,
  CreateSandboxBody,
  CreateWebhookBody,
  conversationQuerySchema,
  listEventsQuerySchema,
  listSandboxesQuerySchema,
  PromptBody,
  ResumeBody,
  UpdateSandboxBody,
  UpdateWebhookBody,
  WriteFileBody,
} from '../contract/requests.js';

export interface CallOptions {
  /** Deadline of this call in ms, over connect, headers and body. Default: the client's. */
  readonly timeoutMs?: number;
  /** Ends the call at once; it then rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

export interface CreateOptions extends CallOptions {
  /** At most one sandbox is made per key within 24 hours (specification, "Limits"). */
  readonly idempotencyKey?: string;
}

export type ListSandboxesQuery = z.infer<typeof listSandboxesQuerySchema>;
export type ListEventsQuery = z.infer<typeof listEventsQuerySchema>;
export type ConversationQuery = z.infer<typeof conversationQuerySchema>;

/** What one call did, for metrics. Holds no payload and no secret. */
export interface CallRecord {
  readonly endpoint: EndpointName;
  /** ms since the epoch. */
  readonly startedAt: number;
  readonly durationMs: number;
  /** HTTP status, or null where no answer came. */
  readonly status: number | null;
  /** Code of the error that was thrown; null after success; `aborted` after the caller's abort. */
  readonly errorCode: string | null;
  readonly requestId: string | null;
}

type Answer<Name extends EndpointName> = Promise<ResponseOf<Name>>;

/**
 * The service's endpoints as typed methods. Each call is exactly one attempt and resolves to the whole parsed body.
 * Whether a call may be repeated after a failure is `endpoints[name].retry` of the contract.
 *
 * Every method throws `ApiError` (an answer other than 2xx), `ConnectionError` or `TimeoutError` (no whole answer; see
 * `requestSent`), `UnexpectedResponseError` (a 2xx that lacks what callers need), or the reason of an aborted signal.
 */
export interface SandboxClient {
  getMe(options?: CallOptions): Answer<'getMe'>;
  listProviderModels(options?: CallOptions): Answer<'listProviderModels'>;
  getDeletionOperation(operationId: string, options?: CallOptions): Answer<'getDeletionOperation'>;

  /** One page where the service pages; see `listAllSandboxes`. */
  listSandboxes(query?: ListSandboxesQuery, options?: CallOptions): Answer<'listSandboxes'>;
  /** Follows `nextCursor` to the end; a sandbox that moved between pages comes once. The deadline is per page. */
  listAllSandboxes(query?: Omit<ListSandboxesQuery, 'cursor'>, options?: CallOptions): Promise<Sandbox[]>;
  /** Safe to repeat with the same `idempotencyKey` and body; without a key each call can make a sandbox. */
  createSandbox(body?: CreateSandboxBody, options?: CreateOptions): Answer<'createSandbox'>;
  getSandbox(sandboxId: string, options?: CallOptions): Answer<'getSandbox'>;
  updateSandbox(sandboxId: string, body: UpdateSandboxBody, options?: CallOptions): Answer<'updateSandbox'>;
  /** Deletes for ever; sends the confirming header itself. */
  deleteSandbox(sandboxId: string, options?: CallOptions): Answer<'deleteSandbox'>;
  stopSandbox(sandboxId: string, options?: CallOptions): Answer<'stopSandbox'>;
  getStop(sandboxId: string, stopId: string, options?: CallOptions): Answer<'getStop'>;
  resumeSandbox(sandboxId: string, body?: ResumeBody, options?: CallOptions): Answer<'resumeSandbox'>;

  /** Not safe to repeat: each call that arrives queues the prompt once more (trap S3). */
  sendPrompt(sandboxId: string, body: PromptBody, options?: CallOptions): Answer<'sendPrompt'>;
  getPrompt(sandboxId: string, promptId: string, options?: CallOptions): Answer<'getPrompt'>;
  listEvents(sandboxId: string, query?: ListEventsQuery, options?: CallOptions): Answer<'listEvents'>;
  interruptSandbox(sandboxId: string, query?: ConversationQuery, options?: CallOptions): Answer<'interruptSandbox'>;

  readFile(sandboxId: string, path: string, options?: CallOptions): Answer<'readFile'>;
  writeFile(sandboxId: string, body: WriteFileBody, options?: CallOptions): Answer<'writeFile'>;
  /** Not safe to repeat. A command may outlast the client's deadline: give `timeoutMs` for long ones. */
  runCommand(sandboxId: string, body: CommandBody, options?: CallOptions): Answer<'runCommand'>;

  /** Not safe to repeat: each call that arrives makes a webhook. The `secret` is shown only here. */
  createWebhook(body: CreateWebhookBody, options?: CallOptions): Answer<'createWebhook'>;
  listWebhooks(options?: CallOptions): Answer<'listWebhooks'>;
  getWebhook(webhookId: string, options?: CallOptions): Answer<'getWebhook'>;
  updateWebhook(webhookId: string, body: UpdateWebhookBody, options?: CallOptions): Answer<'updateWebhook'>;
  deleteWebhook(webhookId: string, options?: CallOptions): Answer<'deleteWebhook'>;
  /** Each call replaces the secret once more; repeat until one answer has been read and its secret kept. */
  rotateWebhookSecret(webhookId: string, options?: CallOptions): Answer<'rotateWebhookSecret'>;

  /** Lets calls that are under way finish, then closes the connections. No calls after it. */
  close(): Promise<void>;
}
