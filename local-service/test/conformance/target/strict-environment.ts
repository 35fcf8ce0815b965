/** An environment of the specification, parsed strictly. */
import { z } from 'zod';

const dateTime = z.iso.datetime();

const repository = z.looseObject({
  id: z.int(),
  databaseId: z.string(),
  name: z.string(),
  fullName: z.string(),
  private: z.boolean(),
  permissions: z.string(),
  pushedAt: dateTime,
  baseBranch: z.string(),
  setupRoutineId: z.string().nullable(),
  setupScript: z.string().nullable(),
  setupBlocking: z.boolean(),
});

export const strictEnvironment = z.looseObject({
  id: z.uuid(),
  name: z.string(),
  isDefault: z.boolean(),
  latestVersionId: z.uuid(),
  safeForThirdParties: z.boolean(),
  passRepoHost: z.boolean(),
  passSecrets: z.boolean(),
  passSandboxCredentials: z.boolean(),
  passAgentsCredentials: z.boolean(),
  envContents: z.string(),
  secretFiles: z.array(z.looseObject({ path: z.string(), contents: z.string() })),
  versions: z.array(
    z.looseObject({ id: z.uuid(), versionNumber: z.int(), sandboxCount: z.int(), createdAt: dateTime }),
  ),
  selectedRepositories: z.array(repository),
});
