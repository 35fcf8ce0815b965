/** Environments of an account: versioned configuration of its sandboxes (specification, "Environment"). */
import { randomUUID } from 'node:crypto';
import type { SelectRepoBody, UpdateEnvironmentBody } from '../../../src/contract/requests/account-requests.js';
import { stableJson } from '../../../src/texts/stable-json.js';
import {
  type Caller,
  isAccountWide,
  reachesEnvironment,
  requireAccountWide,
  requireEnvironmentOnKey,
} from '../access/key-scope.js';
import { assume } from '../core/assume.js';
import type { Context } from '../core/context.js';
import { notFound, ServiceError } from '../service-error.js';
import type { EnvironmentContent, EnvironmentRecord, SelectedRepository } from '../store/environment-store.js';
import type { SandboxRecord } from '../store/sandbox-record.js';
import { changedContent, emptyContent } from './content.js';
import { reposOf } from './repos.js';

/** Assumption: the name of the environment that every account has from the start. */
const defaultName = 'Default';

/**
 * The environments that the caller's key reaches, oldest first. Assumption: each account has a default environment from
 * the start. It has every `pass…` flag, and no variables, files or repositories.
 */
export function environmentsFor(context: Context, { accountId, scope }: Caller): readonly EnvironmentRecord[] {
  assume('A-environment-default');
  defaultEnvironment(context, accountId);
  return context.stores.environments.of(accountId).filter(({ id }) => reachesEnvironment(scope, id));
}

/** The default environment of an account, created at its first use. */
export function defaultEnvironment(context: Context, accountId: string): EnvironmentRecord {
  const known = context.stores.environments.defaultOf(accountId);
  if (known) return known;
  const passed = { passRepoHost: true, passSecrets: true, passSandboxCredentials: true, passAgentsCredentials: true };
  return addEnvironment(context, accountId, { name: defaultName, isDefault: true, ...passed });
}

/**
 * @throws ServiceError 404 for an environment that is unknown or not the caller's; 403 `api_key_sandbox_forbidden` for
 *   an environment that the key does not reach
 */
export function environmentFor(context: Context, caller: Caller, environmentId: string): EnvironmentRecord {
  const found = context.stores.environments.get(environmentId);
  if (found?.accountId !== caller.accountId) throw environmentNotFound(environmentId);
  requireEnvironmentOnKey(caller, found.id);
  return found;
}

/**
 * Creates an environment with its first version. For the service object and seeds only, since the specification shows
 * no way to create environments. Flags default to false. Not safe to repeat.
 * @throws ServiceError 400 for invalid content, 409 for a name that is taken
 */
export function addEnvironment(
  context: Context,
  accountId: string,
  body: UpdateEnvironmentBody & { readonly name: string },
): EnvironmentRecord {
  const { environments } = context.stores;
  return context.database.transaction(() => {
    if (body.name !== defaultName || body.isDefault !== true) defaultEnvironment(context, accountId);
    requireFreeName(context, accountId, body.name);
    const content = changedContent(context, accountId, emptyContent, body);
    const createdAt = context.clock.iso();
    const environment = { id: randomUUID(), accountId, name: body.name, isDefault: false, createdAt };
    environments.add(environment);
    changeContent(context, environment.id, content);
    if (body.isDefault === true) environments.makeDefault(environment);
    return environments.get(environment.id) ?? environment;
  });
}

/**
 * Changes an environment. A change of a flag or of content creates a new version; sandboxes stay on their version.
 * Assumptions: unchanged content creates no version; the default environment stays the default until another one
 * becomes it. Safe to repeat.
 * @throws ServiceError 400 for invalid content; 403 `api_key_sandbox_forbidden`; 404; 409 `environment_name_taken`,
 *   `default_environment_required`
 */
export function updateEnvironment(
  context: Context,
  caller: Caller,
  environmentId: string,
  body: UpdateEnvironmentBody,
): EnvironmentRecord {
  assume('A-environment-update');
  const { environments, sandboxes } = context.stores;
  return context.database.transaction(() => {
    const environment = environmentFor(context, caller, environmentId);
    const { name, isDefault } = body;
    if (isDefault === false && environment.isDefault) {
      const message =
        'An account requires a default environment. Set isDefault to true on another environment instead.';
      throw new ServiceError(409, 'default_environment_required', message);
    }
    const before = environments.latest(environmentId)?.content ?? emptyContent;
    requireChangesOnKey(context, caller, { environment, before, body });
    const after = changedContent(context, caller.accountId, before, body);
    changeContent(context, environmentId, after);
    if (isDefault === true && !environment.isDefault) environments.makeDefault(environment);
    if (name !== undefined && name !== environment.name) {
      requireFreeName(context, caller.accountId, name);
      environments.rename(environmentId, name);
      for (const sandbox of pinnedTo(context, environmentId)) sandboxes.put({ ...sandbox, environment: name });
    }
    return environments.get(environmentId) ?? environment;
  });
}

const passing = ['passRepoHost', 'passSecrets', 'passSandboxCredentials', 'passAgentsCredentials'] as const;

/**
 * Holds what an update changes outside its environment against the limits of the key: the default that another one
 * loses, and what the sandboxes get of the account. A limited key may let less pass. Repositories count, because the
 * service clones them with logins of its own.
 * @throws ServiceError 403 `api_key_sandbox_forbidden`
 */
function requireChangesOnKey(
  context: Context,
  caller: Caller,
  update: {
    readonly environment: EnvironmentRecord;
    readonly before: EnvironmentContent;
    readonly body: UpdateEnvironmentBody;
  },
): void {
  if (isAccountWide(caller.scope) || !assume('A-limited-keys')) return;
  const { environment, before, body } = update;
  if (body.isDefault === true && !environment.isDefault) {
    const { id } = defaultEnvironment(context, caller.accountId);
    requireEnvironmentOnKey(caller, id, 'the environment that is the default now');
  }
  const flag = passing.find((one) => body[one] === true && !before[one]);
  if (flag !== undefined) requireAccountWide(caller, `the logins and secrets that ${flag} passes`);
  const isSelected = ({ repositoryId }: { readonly repositoryId: string }): boolean =>
    before.selectedRepositories.some(({ databaseId }) => databaseId === repositoryId);
  if (body.repositories?.every(isSelected) === false) {
    requireAccountWide(caller, 'repositories that the environment has not selected');
  }
}

/**
 * Deletes an environment. For the service object only, since the specification shows no way to delete environments. Its sandboxes stay pinned to their version, and show no environment (specification, field
 * `environment`).
 * @throws ServiceError 404; 409 `default_environment_required`
 */
export function removeEnvironment(context: Context, environmentId: string): void {
  context.database.transaction(() => {
    const environment = context.stores.environments.get(environmentId);
    if (!environment) throw environmentNotFound(environmentId);
    if (environment.isDefault) {
      const message = 'The default environment cannot be deleted. First make another environment the default.';
      throw new ServiceError(409, 'default_environment_required', message);
    }
    context.stores.environments.remove(environmentId);
    for (const sandbox of pinnedTo(context, environmentId)) {
      context.stores.sandboxes.put({ ...sandbox, environment: null, environmentVersion: null });
    }
  });
}

/** Stores content as a new version, unless the latest version has the same content. Safe to repeat. */
function changeContent(
  { stores, clock, deviations }: Context,
  environmentId: string,
  content: EnvironmentContent,
): void {
  const latest = stores.environments.latest(environmentId);
  const isSame = latest && stableJson(latest.content) === stableJson(content);
  if (isSame && !deviations.has('A-environment-update')) return;
  const versionNumber = (latest?.versionNumber ?? 0) + 1;
  stores.environments.addVersion({
    id: randomUUID(),
    environmentId,
    versionNumber,
    createdAt: clock.iso(),
    content,
  });
}

function environmentNotFound(environmentId: string): ServiceError {
  return notFound(`The environment ${environmentId} does not exist.`);
}

function requireFreeName({ stores }: Context, accountId: string, name: string): void {
  if (!stores.environments.byName(accountId, name)) return;
  throw new ServiceError(
    409,
    'environment_name_taken',
    `An environment named "${name}" already exists. Choose another name.`,
  );
}

function pinnedTo({ stores }: Context, environmentId: string): SandboxRecord[] {
  return [...stores.sandboxes.living()].filter((sandbox) => sandbox.environmentId === environmentId);
}

/**
 * Selects a repository for sandboxes. Assumptions: the selection creates a new version of the account's default
 * environment. It replaces an earlier selection of the same repository, and keeps the setup script of that selection.
 * The branch defaults to the repository's own. Safe to repeat: the same selection creates no version.
 * @throws ServiceError 404 for a repository that `GET /repos` does not list
 */
export function selectRepo(context: Context, caller: Caller, body: SelectRepoBody): SelectedRepository {
  assume('A-repo-selection');
  return context.database.transaction(() => {
    const repo = reposOf(context, caller.accountId).find(({ fullName }) => fullName === body.fullName);
    if (!repo) throw notFound('A repository with this fullName does not exist. GET /repos lists the repositories.');
    const environment = defaultEnvironment(context, caller.accountId);
    const before = context.stores.environments.latest(environment.id)?.content ?? emptyContent;
    const isChosen = ({ databaseId }: SelectedRepository): boolean => databaseId === repo.databaseId;
    const { setupScript, setupBlocking } = before.selectedRepositories.find(isChosen) ?? repo;
    const chosen = { ...repo, baseBranch: body.baseBranch ?? repo.baseBranch, setupScript, setupBlocking };
    const selectedRepositories = before.selectedRepositories.some(isChosen)
      ? before.selectedRepositories.map((one) => (isChosen(one) ? chosen : one))
      : [...before.selectedRepositories, chosen];
    changeContent(context, environment.id, { ...before, selectedRepositories });
    return chosen;
  });
}
