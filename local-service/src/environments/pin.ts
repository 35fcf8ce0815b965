/** The environment and version that a new sandbox is pinned to (specification, field `environment`). */
import type { CreateSandboxBody } from '../../../src/contract/requests/sandbox-requests.js';
import { type Caller, requireEnvironmentOnKey } from '../access/key-scope.js';
import { assume } from '../core/assume.js';
import type { Context } from '../core/context.js';
import { notFound } from '../service-error.js';
import type { EnvironmentRecord, EnvironmentVersion } from '../store/environment-store.js';
import type { SandboxRecord } from '../store/sandbox-record.js';
import { defaultEnvironment } from './environments.js';
import { pathBelowHome } from './secret-files.js';

/** What a sandbox is pinned to until an upgrade. A fork copies it from its source. */
type EnvironmentPin = Pick<
  SandboxRecord,
  'environment' | 'environmentId' | 'environmentVersionId' | 'environmentVersion'
>;

/**
 * The environment that a create requests: the named one, none with `noEnv`, or else the default. Assumption: if both a
 * name and `noEnv` are given, `noEnv` applies. This function does not check whether the caller's key reaches the
 * environment.
 * @throws ServiceError 404 for a name that no environment of the caller has
 */
export function environmentFromBody(
  context: Context,
  caller: Caller,
  { environment: name, noEnv }: Pick<CreateSandboxBody, 'environment' | 'noEnv'>,
): EnvironmentRecord | undefined {
  if (noEnv) return undefined;
  if (name === undefined) {
    assume('A-environment-default');
    return defaultEnvironment(context, caller.accountId);
  }
  const named = context.stores.environments.byName(caller.accountId, name);
  if (named) return named;
  throw notFound(`An environment named "${name}" does not exist. GET /environments lists the environments.`);
}

/**
 * Pins a new sandbox that is not a fork to the latest version of its environment. The key is checked here, too: while
 * the create was being accepted, the default or the name may have moved to another environment.
 * @throws ServiceError 404; 403 `api_key_sandbox_forbidden`
 */
export function attachment(
  context: Context,
  body: Pick<CreateSandboxBody, 'environment' | 'noEnv'>,
  { caller, restoreFrom }: { readonly caller: Caller; readonly restoreFrom: string | null },
): EnvironmentPin & Pick<SandboxRecord, 'secretFilePaths'> {
  assume('A-creator-logins');
  const environment = environmentFromBody(context, caller, body);
  requireEnvironmentOnKey(caller, environment?.id ?? null);
  const latest = environment && context.stores.environments.latest(environment.id);
  const secretFilePaths = secretPathsInSnapshot(context, restoreFrom);
  return { ...pinnedToVersion(environment, latest), secretFilePaths };
}

export function pinnedToVersion(
  environment: EnvironmentRecord | undefined,
  version: EnvironmentVersion | undefined,
): EnvironmentPin {
  return {
    environment: environment?.name ?? null,
    environmentId: environment?.id ?? null,
    environmentVersionId: version?.id ?? null,
    environmentVersion: version?.versionNumber ?? null,
  };
}

/**
 * The paths at which a snapshot may hold secret files of its sandbox's environment. A sandbox that is created from the
 * snapshot must not keep these files, unless its own environment has a file at the same path. The snapshot may be older
 * than an upgrade, so the files of earlier versions count too.
 */
function secretPathsInSnapshot({ stores }: Context, snapshotId: string | null): readonly string[] {
  const sourceId = snapshotId === null ? undefined : stores.snapshots.get(snapshotId)?.sandboxId;
  const source = sourceId === undefined ? undefined : stores.sandboxes.find(sourceId);
  if (!source) return [];
  const { environmentId, environmentVersion, secretFilePaths } = source;
  const versions = environmentId === null ? [] : stores.environments.versions(environmentId);
  const placed = versions
    .filter(({ versionNumber }) => versionNumber <= (environmentVersion ?? versionNumber))
    .flatMap(({ id }) => stores.environments.version(id)?.content.secretFiles ?? [])
    .map(({ path }) => pathBelowHome(path) ?? path);
  return [...new Set([...secretFilePaths, ...placed])];
}
