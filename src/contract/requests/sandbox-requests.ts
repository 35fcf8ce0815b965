/**
 * Request bodies and queries. The command line, the activities and the local service validate them on entry. Known
 * fields with a wrong type are refused. The local service ignores unknown fields.
 */

import { z } from 'zod';
import { sandboxTypes } from '../records/sandbox-records.js';
import { confirmHeaderIn } from '../request-form.js';
import { maxTtlSeconds } from '../workflow-safe/limits.js';
import { reasoningEfforts } from '../workflow-safe/reasoning-efforts.js';
import { sandboxEventTypes } from '../workflow-safe/states.js';

// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what it refuses
const noControlCharacters = /^[^\u0000-\u001f\u007f]*$/;

/** A branch of a repository. Git gets it as an argument. */
export const branchSchema = z.string().regex(noControlCharacters, 'must not contain control characters');

/** Assumption: 1 to 100 characters, no control characters; `invalid_name` otherwise. */
export const nameSchema = z
  .string()
  .min(1)
  .refine((name) => [...name].length <= 100, 'must have at most 100 characters')
  .regex(noControlCharacters, 'must not contain control characters')
  .meta({ maxLength: 100 });

const ttlSecondsSchema = z
  .number()
  .int()
  .positive()
  .max(maxTtlSeconds, 'must be at most 100 years')
  .nullable()
  .describe('Auto-stop length. Null disables auto-stop');

/** Text without NUL characters, which no program can receive. Errors do not quote it: it may be a secret. */
export const textWithoutNul = z
  .string({ error: ({ input }) => (input === undefined ? 'is missing' : 'must be text') })
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the pattern refuses NUL
  .regex(/^[^\u0000]*$/, 'must not contain a NUL character');

/** JSON Schema for the body of an update: at least one of these fields is required. */
const oneOf = (...fields: readonly string[]) => ({ anyOf: fields.map((field) => ({ required: [field] })) });

/** Provider names with their aliases (specification, prompt endpoint). */
export const providerAliases = {
  codex: [],
  'claude-code': ['claude'],
  pi: [],
  opencode: [],
  'prime-agent': ['prime'],
  kimi: ['kimi-code'],
} as const satisfies Record<string, readonly string[]>;

/** The name of the provider that an alias means; any other text unchanged. */
export function canonicalProvider(nameOrAlias: string): string {
  const named = Object.entries(providerAliases).find(([, aliases]) => aliases.some((alias) => alias === nameOrAlias));
  return named?.[0] ?? nameOrAlias;
}

const allProviderNames = Object.entries(providerAliases).flatMap(([name, aliases]) => [name, ...aliases]);

/** Body of POST /sandboxes. Every field is optional. */
export const createSandboxBodySchema = z.object({
  /** Assumption: the specification does not show `name` and `environment` among the fields of a create request. */
  name: nameSchema.optional(),
  environment: z.string().optional(),
  from: z.string().optional(),
  noEnv: z.boolean().optional(),
  ttlSeconds: ttlSecondsSchema.optional(),
  setupScript: z.string().optional(),
  snapshots: z.boolean().optional(),
  monitoring: z.boolean().optional(),
  type: z.enum(sandboxTypes).optional(),
});
export type CreateSandboxBody = z.infer<typeof createSandboxBodySchema>;

/** Assumption: the fields of PATCH beyond rename and auto-stop TTL. */
export const updateSandboxBodySchema = z
  .object({
    name: nameSchema.optional(),
    ttlSeconds: ttlSecondsSchema.optional(),
    snapshotName: nameSchema
      .optional()
      .describe('Name for the latest snapshot, or for the next snapshot if there is none'),
  })
  .meta(oneOf('name', 'ttlSeconds', 'snapshotName'));
export type UpdateSandboxBody = z.infer<typeof updateSandboxBodySchema>;

/** Assumption: the body of resume. */
export const resumeBodySchema = z.object({
  type: z.enum(sandboxTypes).optional(),
  ttlSeconds: ttlSecondsSchema.optional(),
});
export type ResumeBody = z.infer<typeof resumeBodySchema>;

/** Assumption: the body of fork. Unset fields take the values of the source. */
export const forkBodySchema = z.object({
  name: nameSchema.optional(),
  type: z.enum(sandboxTypes).optional(),
  ttlSeconds: ttlSecondsSchema.optional(),
  snapshots: z.boolean().optional(),
  monitoring: z.boolean().optional(),
});
export type ForkBody = z.infer<typeof forkBodySchema>;

/** Body of a prompt (specification, prompt endpoint). `new` and `conversationId` exclude each other. */
export const promptBodySchema = z
  .object({
    prompt: z.string().meta({ pattern: '\\S', description: 'The task of the agent' }),
    provider: z
      .string()
      .meta({ enum: allProviderNames })
      .optional()
      .describe('Defaults to the harness that the user chose'),
    model: z.string().optional().describe("Defaults to the user's default for the harness"),
    reasoningEffort: z.enum(reasoningEfforts).optional().describe('A level that the model accepts'),
    new: z.boolean().optional().describe('True starts a new conversation'),
    conversationId: z.string().optional().describe('The conversation to continue'),
  })
  .meta({ not: { required: ['new', 'conversationId'], properties: { new: { const: true } } } });
export type PromptBody = z.infer<typeof promptBodySchema>;

/** Assumption: the query of the event history beyond `conversation`. */
export const listEventsQuerySchema = z.object({
  conversation: z.string().optional(),
  after: z.string().min(1).max(200).optional(),
  limit: z.coerce.number().int().positive().max(1000).optional(),
});

/** Query that selects a conversation. */
export const conversationQuerySchema = z.object({ conversation: z.string().optional() });

/** Assumption: paging. Without `limit` the whole list is sent. */
export const listSandboxesQuerySchema = z.object({
  include: z.literal('cost').optional(),
  limit: z.coerce.number().int().positive().max(1000).optional(),
  cursor: z.string().optional(),
});

/** Query that names a file or folder. Assumption: `A-files`, `A-raw-bytes`. */
export const filePathQuerySchema = z.object({ path: z.string().min(1) });

/** Assumption: without `path`, the answer is the tree of the whole snapshot. */
export const treeQuerySchema = z.object({ path: z.string().min(1).optional() });

/** Query of POST /sandboxes/{sandboxId}/desktop; `vnc=1` requests a VNC URL. */
export const desktopQuerySchema = z.object({ vnc: z.literal('1').optional() });
/** Body of POST /sandboxes/{sandboxId}/desktop. */
export const desktopBodySchema = z.object({ publicAccess: z.boolean().optional() });
export type DesktopBody = z.infer<typeof desktopBodySchema>;

/** Assumption: the body of POST …/sshkey. */
export const sshKeyBodySchema = z.object({
  publicKey: z
    .string()
    .min(1)
    .max(16_384)
    .regex(/^[\x20-\x7e\r\n\t]+$/, 'must be one line of printable characters'),
});
export type SshKeyBody = z.infer<typeof sshKeyBodySchema>;

/** Encodings of file content in JSON. Assumption: `A-files`. */
export const fileEncodings = ['utf8', 'base64'] as const;

/** Body of writing a file; `encoding` defaults to `utf8`. Assumption: `A-files`. */
export const writeFileBodySchema = z.object({
  path: z.string().min(1),
  content: z.string(),
  encoding: z.enum(fileEncodings).optional(),
});
export type WriteFileBody = z.infer<typeof writeFileBodySchema>;

/**
 * Assumption: the longest text that fits into one argument of a program. Write a longer command to a file and run that.
 */
const maxCommandLength = 120 * 1024;

/** Body of running a command. Assumption: `A-command`. */
export const commandBodySchema = z.object({
  command: textWithoutNul.min(1).max(maxCommandLength).describe('A shell runs it'),
  cwd: textWithoutNul.optional().describe('Default: the home directory'),
  // biome-ignore lint/suspicious/noControlCharactersInRegex: NUL is what it refuses
  env: z.record(z.string().regex(/^[^=\u0000]+$/, 'must be a valid variable name'), textWithoutNul).optional(),
  timeoutSeconds: z.number().positive().optional(),
});
export type CommandBody = z.infer<typeof commandBodySchema>;

const eventNamesSchema = z.array(z.enum(sandboxEventTypes)).min(1);

const webhookUrlSchema = z.string().meta({
  pattern: '^https://[a-z0-9]+(\\.[a-z][a-z0-9]*)+(/[A-Za-z0-9_.-]*)*$',
  description: 'An HTTPS URL on port 443 whose host resolves to public addresses only',
});

/** Body of POST /webhooks (specification, "Events"). */
export const createWebhookBodySchema = z.object({ name: nameSchema, url: webhookUrlSchema, events: eventNamesSchema });
export type CreateWebhookBody = z.infer<typeof createWebhookBodySchema>;

/** Body of PATCH /webhooks/{webhookId}; at least one field is required. */
export const updateWebhookBodySchema = z
  .object({
    name: nameSchema.optional(),
    url: webhookUrlSchema.optional(),
    events: eventNamesSchema.optional(),
  })
  .meta(oneOf('name', 'url', 'events'));
export type UpdateWebhookBody = z.infer<typeof updateWebhookBodySchema>;

/** Header that confirms a permanent deletion, as the specification shows it. */
export const confirmDeleteHeader = confirmHeaderIn({});
/** Header with the idempotency key of a create or fork request (specification, "Limits"). */
export const idempotencyKeyHeader = 'idempotency-key';
