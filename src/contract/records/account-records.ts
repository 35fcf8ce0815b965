/** Records that belong to the account and not to one sandbox. They are read liberally, as those in `records.ts` are. */
import { z } from 'zod';
import { dateTimeOrNull } from './sandbox-records.js';
import { shortText } from './short-text.js';

/** Assumption: the limits record is not shown by the specification. */
export const limitsSchema = z
  .looseObject({
    sandboxes: z.looseObject({ used: z.number(), max: z.number().nullable() }).optional(),
    webhooks: z.looseObject({ used: z.number(), max: z.number().nullable() }).optional(),
    requestsPerMinute: z.number().nullish(),
    dailySandboxes: z.looseObject({ used: z.number(), max: z.number().nullable() }).optional(),
  })
  .meta({ id: 'Limits', description: 'Limits and current usage of the account' });
export type Limits = z.infer<typeof limitsSchema>;

/** Assumption: the data-retention policy is not shown by the specification. */
export const dataRetentionSchema = z
  .looseObject({
    snapshotDays: z.number().nullish(),
    zeroDataRetention: z.boolean().optional(),
  })
  .meta({ id: 'DataRetention', description: 'How long data is kept' });
export type DataRetention = z.infer<typeof dataRetentionSchema>;

/** A repository that can be selected for sandboxes (specification, "Environment", `selectedRepositories`). */
export const repoSchema = z
  .looseObject({
    id: z.number(),
    databaseId: z.string(),
    name: z.string(),
    fullName: z.string(),
    private: z.boolean().optional(),
    permissions: z.string().nullish(),
    pushedAt: dateTimeOrNull('When it was last pushed to'),
    baseBranch: z.string().nullish(),
    setupRoutineId: z.string().nullish(),
    setupScript: z.string().nullish(),
    setupBlocking: z.boolean().nullish(),
  })
  .meta({ id: 'Repo', description: 'A repository that can be selected for sandboxes' });
export type Repo = z.infer<typeof repoSchema>;

/** Assumption: names and times only; values are never returned. */
export const secretNameSchema = z
  .looseObject({ name: z.string(), updatedAt: dateTimeOrNull('When it was last set') })
  .meta({ id: 'SecretName', description: 'A secret, without its value' });

const environmentVersionSchema = z
  .looseObject({
    id: shortText(),
    versionNumber: z.number(),
    sandboxCount: z.number().optional(),
    createdAt: dateTimeOrNull('When it was created'),
  })
  .meta({ id: 'EnvironmentVersion', description: 'An immutable version of an environment' });

/** Specification, "Environment". */
export const environmentSchema = z
  .looseObject({
    id: shortText(),
    name: z.string(),
    isDefault: z.boolean().optional(),
    latestVersionId: shortText().nullish(),
    safeForThirdParties: z.boolean().optional(),
    passRepoHost: z.boolean().optional(),
    passSecrets: z.boolean().optional(),
    passSandboxCredentials: z.boolean().optional(),
    passAgentsCredentials: z.boolean().optional(),
    envContents: z.string().nullish(),
    secretFiles: z.array(z.looseObject({ path: z.string(), contents: z.string().optional() })).optional(),
    versions: z.array(environmentVersionSchema).optional(),
    selectedRepositories: z.array(repoSchema).optional(),
  })
  .meta({ id: 'Environment', description: 'A versioned configuration of sandboxes' });
export type Environment = z.infer<typeof environmentSchema>;

/** Assumption: the specification shows no field names except `id`, `name`, `usage.requests` and `resources.total`. */
export const apiKeySchema = z
  .looseObject({
    id: shortText(),
    name: z.string().nullish(),
    prefix: z.string().nullish(),
    lastFour: z.string().nullish(),
    scope: z.looseObject({}).nullish(),
    expiresAt: dateTimeOrNull('When it expires'),
    lastUsedAt: dateTimeOrNull('When it was last used'),
    usage: z.looseObject({ requests: z.number() }).optional(),
    resources: z.looseObject({ total: z.number() }).optional(),
  })
  .meta({ id: 'ApiKey', description: 'An API key, without its secret' });
export type ApiKey = z.infer<typeof apiKeySchema>;
