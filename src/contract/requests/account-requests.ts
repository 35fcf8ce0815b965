/** Request bodies and queries of the account, its environments and its keys; see `requests.ts`. */
import { z } from 'zod';
import { scopeActions } from '../endpoints/endpoint.js';
import { keyPresetActions } from '../records/key-presets.js';
import { sandboxIdSchema } from '../records/sandbox-records.js';
import { branchSchema, nameSchema, textWithoutNul } from './sandbox-requests.js';

/** Assumption: the body of PATCH /account/data-retention. */
export const dataRetentionBodySchema = z.object({ zeroDataRetention: z.boolean().optional() });
export type DataRetentionBody = z.infer<typeof dataRetentionBodySchema>;

/** Assumption: the body of POST /repos. */
export const selectRepoBodySchema = z.object({ fullName: z.string().min(1), baseBranch: branchSchema.optional() });
export type SelectRepoBody = z.infer<typeof selectRepoBodySchema>;

const variableNameSchema = z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/, 'must be a valid variable name');

/** Assumption: the body of POST /secrets. */
export const updateSecretsBodySchema = z.object({
  set: z.record(variableNameSchema, textWithoutNul).optional(),
  unset: z.array(variableNameSchema).optional(),
});
export type UpdateSecretsBody = z.infer<typeof updateSecretsBodySchema>;

/** Specification, PUT /environments/{environmentId}. */
export const updateEnvironmentBodySchema = z.object({
  name: nameSchema.optional(),
  isDefault: z.boolean().optional(),
  safeForThirdParties: z.boolean().optional(),
  passRepoHost: z.boolean().optional(),
  passSecrets: z.boolean().optional(),
  passSandboxCredentials: z.boolean().optional(),
  passAgentsCredentials: z.boolean().optional(),
  envContents: z.string().optional(),
  secretFiles: z.array(z.object({ path: z.string().min(1), contents: z.string() })).optional(),
  repositories: z
    .array(
      z.object({
        repositoryId: z.string(),
        baseBranch: branchSchema.optional(),
        setupScript: z.string().optional(),
        setupBlocking: z.boolean().optional(),
      }),
    )
    .optional(),
});
export type UpdateEnvironmentBody = z.infer<typeof updateEnvironmentBodySchema>;

/** Specification, POST /environments/{environmentId}/upgrade. */
export const upgradeEnvironmentBodySchema = z.object({ agentIds: z.array(sandboxIdSchema).optional() });
export type UpgradeEnvironmentBody = z.infer<typeof upgradeEnvironmentBodySchema>;

/** The presets of scoped API keys. Assumption: `A-key-presets`. */
export const keyPresets = Object.keys(keyPresetActions) as (keyof typeof keyPresetActions)[];
const maxKeyTtlSeconds = 365 * 24 * 3600;

/** Assumption: the field names in the body of POST /api-keys/scoped. `preset` and `actions` exclude each other. */
export const createApiKeyBodySchema = z
  .object({
    name: nameSchema,
    /** Specification, "Limits": at most 365 days. */
    ttlSeconds: z.number().int().positive().max(maxKeyTtlSeconds).optional(),
    preset: z.enum(keyPresets).optional(),
    actions: z
      .array(z.enum([...scopeActions, '*']))
      .min(1)
      .optional(),
    sandboxes: z.array(sandboxIdSchema).min(1).optional(),
    environments: z.array(z.string()).min(1).optional(),
  })
  .meta({ not: { required: ['preset', 'actions'] } });
export type CreateApiKeyBody = z.infer<typeof createApiKeyBodySchema>;
