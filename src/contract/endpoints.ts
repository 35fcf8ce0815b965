/**
 * One row per endpoint of the service. The client's methods, the activities, the routes of the local service and the
 * OpenAPI document are made from this table; an endpoint is added here and nowhere else.
 */
import { z } from 'zod';
import {
  deletionOperationSchema,
  promptSchema,
  providerModelsSchema,
  sandboxHistoryEventSchema,
  sandboxSchema,
  stopOperationSchema,
  userSchema,
  webhookSchema,
} from './records.js';
import {
  commandBodySchema,
  conversationQuerySchema,
  createSandboxBodySchema,
  createWebhookBodySchema,
  filePathQuerySchema,
  listEventsQuerySchema,
  listSandboxesQuerySchema,
  promptBodySchema,
  resumeBodySchema,
  updateSandboxBodySchema,
  updateWebhookBodySchema,
  writeFileBodySchema,
} from './requests.js';

/**
 * What a caller may do after an ambiguous failure (a lost response, a timeout, an untyped 5xx):
 * - `safe`: repeat; it ends in the same state.
 * - `keyed`: repeat with the same `Idempotency-Key` within its 24 hours.
 * - `read-first`: read, adopt what is there, repeat only if nothing has changed since.
 * - `evidence`: adopt evidence that it happened; send again only when it certainly was not sent.
 * - `once`: never repeat.
 * - `secret`: repeat until a secret has been read and kept.
 */
export type RetryClass = 'safe' | 'keyed' | 'read-first' | 'evidence' | 'once' | 'secret';

/** Scope actions of API keys that this table uses (specification, "Scope"). */
export type ScopeAction =
  | 'sandbox.create'
  | 'sandbox.read'
  | 'sandbox.update'
  | 'sandbox.stop'
  | 'sandbox.resume'
  | 'sandbox.delete'
  | 'agent.prompt'
  | 'exec'
  | 'file.read'
  | 'file.write'
  | 'account.read'
  | 'account.admin';

export interface Endpoint {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  /** Relative to the base URL, with `{parameters}`. */
  readonly path: `/${string}`;
  readonly summary: string;
  /** Status of success. */
  readonly status: 200 | 201 | 202;
  /** `type` of the response envelope. */
  readonly type: string;
  readonly scope: ScopeAction;
  readonly retry: RetryClass;
  readonly query?: z.ZodObject;
  readonly body?: z.ZodObject;
  /** True where the endpoint takes its body or leaves it out. */
  readonly bodyOptional?: boolean;
  /** Takes `Idempotency-Key`. */
  readonly idempotent?: boolean;
  /** Needs `X-Svc-Confirm-Delete` with the id of what is deleted. */
  readonly confirmDelete?: boolean;
  readonly response: z.ZodObject;
  /** What of the row is an assumption and not shown by the specification. */
  readonly assumed?: string;
}

const ofSandbox = z.looseObject({ sandbox: sandboxSchema });
const ofWebhook = z.looseObject({ webhook: webhookSchema });
const ofNewSecret = z.looseObject({ webhook: webhookSchema, secret: z.string() });

export const endpoints = {
  getMe: {
    method: 'GET',
    path: '/me',
    summary: 'Current user',
    status: 200,
    type: 'user.info',
    scope: 'account.read',
    retry: 'safe',
    response: z.looseObject({ user: userSchema }),
  },
  listProviderModels: {
    method: 'GET',
    path: '/provider-models',
    summary: 'Providers, their models and reasoning efforts',
    status: 200,
    type: 'provider.models',
    scope: 'account.read',
    retry: 'safe',
    response: z.looseObject({ providers: z.array(providerModelsSchema) }),
    assumed: 'response shape',
  },
  getDeletionOperation: {
    method: 'GET',
    path: '/deletion-operations/{operationId}',
    summary: 'Status of a deletion',
    status: 200,
    type: 'deletion.status',
    scope: 'sandbox.read',
    retry: 'safe',
    response: z.looseObject({ operation: deletionOperationSchema }),
    assumed: 'response shape',
  },
  listSandboxes: {
    method: 'GET',
    path: '/sandboxes',
    summary: 'List sandboxes',
    status: 200,
    type: 'sandbox.list',
    scope: 'sandbox.read',
    retry: 'safe',
    query: listSandboxesQuerySchema,
    response: z.looseObject({ sandboxes: z.array(sandboxSchema), nextCursor: z.string().nullish() }),
    assumed: 'paging',
  },
  createSandbox: {
    method: 'POST',
    path: '/sandboxes',
    summary: 'Create a sandbox',
    status: 202,
    type: 'sandbox.created',
    scope: 'sandbox.create',
    retry: 'keyed',
    body: createSandboxBodySchema,
    bodyOptional: true,
    idempotent: true,
    response: ofSandbox,
    assumed: 'body fields name and environment',
  },
  getSandbox: {
    method: 'GET',
    path: '/sandboxes/{sandboxId}',
    summary: 'Get a sandbox',
    status: 200,
    type: 'sandbox.info',
    scope: 'sandbox.read',
    retry: 'safe',
    response: ofSandbox,
  },
  updateSandbox: {
    method: 'PATCH',
    path: '/sandboxes/{sandboxId}',
    summary: 'Rename, set auto-stop, name its snapshot',
    status: 200,
    type: 'sandbox.updated',
    scope: 'sandbox.update',
    retry: 'safe',
    body: updateSandboxBodySchema,
    response: ofSandbox,
    assumed: 'body field snapshotName',
  },
  deleteSandbox: {
    method: 'DELETE',
    path: '/sandboxes/{sandboxId}',
    summary: 'Delete a sandbox for ever',
    status: 202,
    type: 'sandbox.deleting',
    scope: 'sandbox.delete',
    retry: 'safe',
    confirmDelete: true,
    response: z.looseObject({ operationId: z.string(), operation: deletionOperationSchema.optional() }),
    assumed: 'response shape',
  },
  stopSandbox: {
    method: 'POST',
    path: '/sandboxes/{sandboxId}/stop',
    summary: 'Stop and archive',
    status: 202,
    type: 'sandbox.stopping',
    scope: 'sandbox.stop',
    retry: 'read-first',
    response: z.looseObject({ id: z.string().optional(), stop: stopOperationSchema.optional() }),
    assumed: 'where the stop id stands in the response',
  },
  getStop: {
    method: 'GET',
    path: '/sandboxes/{sandboxId}/stops/{stopId}',
    summary: 'Read a stop',
    status: 200,
    type: 'stop.status',
    scope: 'sandbox.read',
    retry: 'safe',
    response: z.looseObject({ id: z.string().optional(), stop: stopOperationSchema }),
  },
  resumeSandbox: {
    method: 'POST',
    path: '/sandboxes/{sandboxId}/resume',
    summary: 'Resume an archived sandbox',
    status: 202,
    type: 'sandbox.resuming',
    scope: 'sandbox.resume',
    retry: 'read-first',
    body: resumeBodySchema,
    bodyOptional: true,
    response: ofSandbox,
    assumed: 'body and response shape',
  },
  sendPrompt: {
    method: 'POST',
    path: '/sandboxes/{sandboxId}/prompt',
    summary: 'Queue a prompt',
    status: 202,
    type: 'prompt.queued',
    scope: 'agent.prompt',
    retry: 'evidence',
    body: promptBodySchema,
    response: z.looseObject({ promptId: z.string().nullish(), conversationId: z.string() }),
    assumed: 'response field promptId',
  },
  getPrompt: {
    method: 'GET',
    path: '/sandboxes/{sandboxId}/prompts/{promptId}',
    summary: 'Status of a prompt',
    status: 200,
    type: 'prompt.status',
    scope: 'sandbox.read',
    retry: 'safe',
    response: z.looseObject({ prompt: promptSchema }),
    assumed: 'response shape',
  },
  listEvents: {
    method: 'GET',
    path: '/sandboxes/{sandboxId}/events',
    summary: 'Event history, oldest first',
    status: 200,
    type: 'event.list',
    scope: 'sandbox.read',
    retry: 'safe',
    query: listEventsQuerySchema,
    response: z.looseObject({ events: z.array(sandboxHistoryEventSchema) }),
    assumed: 'query beyond conversation, response shape',
  },
  interruptSandbox: {
    method: 'POST',
    path: '/sandboxes/{sandboxId}/interrupt',
    summary: 'Interrupt running work',
    status: 200,
    type: 'sandbox.interrupted',
    scope: 'agent.prompt',
    retry: 'safe',
    query: conversationQuerySchema,
    response: z.looseObject({ interrupted: z.number().optional() }),
    assumed: 'response shape',
  },
  readFile: {
    method: 'GET',
    path: '/sandboxes/{sandboxId}/files',
    summary: 'Read a file',
    status: 200,
    type: 'file.content',
    scope: 'file.read',
    retry: 'safe',
    query: filePathQuerySchema,
    response: z.looseObject({
      path: z.string(),
      encoding: z.enum(['utf8', 'base64']),
      content: z.string(),
      size: z.number().optional(),
    }),
    assumed: 'query and response shape',
  },
  writeFile: {
    method: 'PUT',
    path: '/sandboxes/{sandboxId}/files',
    summary: 'Write a file',
    status: 200,
    type: 'file.written',
    scope: 'file.write',
    retry: 'safe',
    body: writeFileBodySchema,
    response: z.looseObject({ path: z.string().optional(), size: z.number().optional() }),
    assumed: 'body and response shape',
  },
  runCommand: {
    method: 'POST',
    path: '/sandboxes/{sandboxId}/commands',
    summary: 'Run a command',
    status: 200,
    type: 'command.result',
    scope: 'exec',
    retry: 'once',
    body: commandBodySchema,
    response: z.looseObject({
      commandId: z.string().optional(),
      exitCode: z.number().nullable(),
      stdout: z.string(),
      stderr: z.string(),
      durationMs: z.number().optional(),
      timedOut: z.boolean().optional(),
    }),
    assumed: 'body and response shape',
  },
  createWebhook: {
    method: 'POST',
    path: '/webhooks',
    summary: 'Register a webhook',
    status: 201,
    type: 'webhook.created',
    scope: 'account.admin',
    retry: 'evidence',
    body: createWebhookBodySchema,
    response: ofNewSecret,
  },
  listWebhooks: {
    method: 'GET',
    path: '/webhooks',
    summary: 'List webhooks',
    status: 200,
    type: 'webhook.list',
    scope: 'account.admin',
    retry: 'safe',
    response: z.looseObject({ webhooks: z.array(webhookSchema) }),
  },
  getWebhook: {
    method: 'GET',
    path: '/webhooks/{webhookId}',
    summary: 'Get a webhook',
    status: 200,
    type: 'webhook.info',
    scope: 'account.admin',
    retry: 'safe',
    response: ofWebhook,
  },
  updateWebhook: {
    method: 'PATCH',
    path: '/webhooks/{webhookId}',
    summary: 'Edit a webhook in place',
    status: 200,
    type: 'webhook.updated',
    scope: 'account.admin',
    retry: 'safe',
    body: updateWebhookBodySchema,
    response: ofWebhook,
  },
  deleteWebhook: {
    method: 'DELETE',
    path: '/webhooks/{webhookId}',
    summary: 'Delete a webhook and its queued deliveries',
    status: 200,
    type: 'webhook.deleted',
    scope: 'account.admin',
    retry: 'safe',
    response: z.looseObject({}),
  },
  rotateWebhookSecret: {
    method: 'POST',
    path: '/webhooks/{webhookId}/rotate',
    summary: 'Replace the signing secret',
    status: 200,
    type: 'webhook.rotated',
    scope: 'account.admin',
    retry: 'secret',
    response: z.looseObject({ webhook: webhookSchema.optional(), secret: z.string() }),
  },
} as const satisfies Record<string, Endpoint>;

export type EndpointName = keyof typeof endpoints;

type ParametersIn<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}`
  ? Name | ParametersIn<Rest>
  : never;

/** Names of the `{parameters}` in an endpoint's path. */
export type PathParameters<Name extends EndpointName> = ParametersIn<(typeof endpoints)[Name]['path']>;

/** The parsed response of an endpoint. */
export type ResponseOf<Name extends EndpointName> = z.infer<(typeof endpoints)[Name]['response']>;

/** The path of an endpoint with its parameters filled in and escaped. */
export function pathOf<Name extends EndpointName>(
  name: Name,
  parameters: Readonly<Record<PathParameters<Name>, string>>,
): string {
  const values = parameters as Readonly<Record<string, string>>;
  return endpoints[name].path.replace(/\{(\w+)\}/g, (_, key: string) => encodeURIComponent(values[key] ?? ''));
}

/** Every error body of the service (specification, "Errors"); read liberally. */
export const errorEnvelopeSchema = z.looseObject({
  ok: z.literal(false),
  status: z.number().optional(),
  code: z.string(),
  message: z.string().nullish(),
  error: z.looseObject({ details: z.looseObject({}).nullish() }).nullish(),
  requestId: z.string().nullish(),
});
