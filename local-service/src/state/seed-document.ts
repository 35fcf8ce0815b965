/**
 * The document that a service is seeded with. It is read strictly, because otherwise a mistake in it would stay
 * unnoticed in every test.
 */
import { z } from 'zod';
import { sandboxTypes } from '../../../src/contract/records/sandbox-records.js';
import { createWebhookBodySchema, nameSchema } from '../../../src/contract/requests/sandbox-requests.js';
import { isSandboxId } from '../../../src/contract/workflow-safe/ids.js';
import { checkInput } from '../../../src/settings/input-problems.js';
import { newAccountSchema, newTeamSchema } from '../accounts/records.js';
import { newEnvironmentSchema } from '../accounts/setup.js';
import { ServiceError } from '../service-error.js';

/** Path → text, or bytes as base64. */
const filesSchema = z.record(
  z.string().min(1),
  z.union([z.string(), z.strictObject({ base64: z.base64() })], { error: 'must be text or {"base64": …}' }),
);
export type SeedFiles = z.output<typeof filesSchema>;

/** Login of an account. Default: the first account, `local`. */
const accountSchema = z.string().optional();

const seedSandboxSchema = z.strictObject({
  id: z.string().refine(isSandboxId, 'must be bx_ and eight characters of the id alphabet').optional(),
  name: nameSchema,
  account: accountSchema,
  state: z.enum(['init', 'provisioning', 'ready', 'idle', 'archived', 'error', 'cancelled']).default('ready'),
  /** The reason for the state `error` or `cancelled`. */
  error: z.string().optional(),
  type: z.enum(sandboxTypes).optional(),
  ttlSeconds: z.number().int().positive().nullable().optional(),
  environment: z.string().optional(),
  noEnv: z.boolean().optional(),
  createdAt: z.iso.datetime().optional(),
  /** When its stop completed; its data expires 14 days later. Default: now. */
  archivedAt: z.iso.datetime().optional(),
  /** The files on its disk, or in the snapshot of an archived sandbox. */
  files: filesSchema.optional(),
  /** Name of the snapshot of an archived sandbox. */
  snapshotName: nameSchema.optional(),
  /** Earlier snapshots, oldest first. */
  snapshots: z.array(z.strictObject({ name: nameSchema, files: filesSchema.optional() })).optional(),
});
export type SeedSandbox = z.output<typeof seedSandboxSchema>;

export const seedDocumentSchema = z.strictObject({
  version: z.literal(1),
  accounts: z.array(newAccountSchema).default([]),
  teams: z.array(newTeamSchema).default([]),
  environments: z.array(newEnvironmentSchema.extend({ account: accountSchema }).strict()).default([]),
  sandboxes: z.array(seedSandboxSchema).default([]),
  webhooks: z
    .array(
      createWebhookBodySchema
        .extend({
          account: accountSchema,
          /** Default: a new secret, which the answer shows. */
          secret: z
            .string()
            .regex(/^whsec_.{16,200}$/, 'must be whsec_ followed by 16 to 200 characters')
            .optional(),
          /**
           * True: the webhook delivers `box.*`. The document names its events in the current vocabulary nevertheless.
           */
          legacy: z.boolean().optional(),
        })
        .strict(),
    )
    .default([]),
});
export type SeedDocument = z.output<typeof seedDocumentSchema>;

/** @throws ServiceError `bad_seed` that names every wrong field, and never its value */
export function readSeedDocument(document: unknown): SeedDocument {
  const parsed = checkInput(seedDocumentSchema, document);
  if (parsed.problems !== null) {
    throw badSeed(parsed.problems.map(({ path, message }) => `${path.join('.') || 'document'}: ${message}`).join('; '));
  }
  const { sandboxes } = parsed.data;
  const seen = new Set<string>();
  for (const [index, { id, state, snapshotName, archivedAt }] of sandboxes.entries()) {
    const at = `sandboxes.${index}`;
    if (id !== undefined && seen.has(id)) throw badSeed(`${at}.id: another sandbox of the document has this id`);
    if (id !== undefined) seen.add(id);
    if (state === 'archived') continue;
    if (snapshotName !== undefined) throw badSeed(`${at}.snapshotName: only an archived sandbox can have this field`);
    if (archivedAt !== undefined) throw badSeed(`${at}.archivedAt: only an archived sandbox can have this field`);
  }
  return parsed.data;
}

export function badSeed(what: string): ServiceError {
  return new ServiceError(400, 'bad_seed', `${what}. Nothing was changed.`);
}
