/** The content of an environment version, and how a request body changes it. */
import type { UpdateEnvironmentBody } from '../../../src/contract/requests/account-requests.js';
import { assume } from '../core/assume.js';
import type { Context } from '../core/context.js';
import { invalidRequest } from '../service-error.js';
import type { EnvironmentContent, SelectedRepository } from '../store/environment-store.js';
import { reposOf } from './repos.js';
import { requireGoodPaths } from './secret-files.js';
import { variablesIn } from './variables.js';

const maxEnvContentsBytes = 256 * 1024;

export const emptyContent: EnvironmentContent = {
  safeForThirdParties: false,
  passRepoHost: false,
  passSecrets: false,
  passSandboxCredentials: false,
  passAgentsCredentials: false,
  envContents: '',
  secretFiles: [],
  selectedRepositories: [],
};

/**
 * Replaces the fields of the content that the body gives. The other fields stay as they are.
 * @throws ServiceError 400 for a malformed line of `envContents`, for a path of `secretFiles` that leaves the home, and
 *   for a repository that `GET /repos` does not list
 */
export function changedContent(
  context: Context,
  accountId: string,
  before: EnvironmentContent,
  body: UpdateEnvironmentBody,
): EnvironmentContent {
  const { envContents = before.envContents, secretFiles, repositories } = body;
  if (Buffer.byteLength(envContents) > maxEnvContentsBytes) {
    const message = `envContents: must have at most ${maxEnvContentsBytes} bytes. Move large values to secret files.`;
    throw invalidRequest(message);
  }
  if (body.envContents !== undefined) assume('A-env-contents');
  variablesIn(envContents);
  if (secretFiles) {
    assume('A-secret-files');
    requireGoodPaths(secretFiles);
  }
  return {
    safeForThirdParties: body.safeForThirdParties ?? before.safeForThirdParties,
    passRepoHost: body.passRepoHost ?? before.passRepoHost,
    passSecrets: body.passSecrets ?? before.passSecrets,
    passSandboxCredentials: body.passSandboxCredentials ?? before.passSandboxCredentials,
    passAgentsCredentials: body.passAgentsCredentials ?? before.passAgentsCredentials,
    envContents,
    secretFiles: secretFiles?.map(({ path, contents }) => ({ path, contents })) ?? before.secretFiles,
    selectedRepositories: repositories ? selected(context, accountId, repositories) : before.selectedRepositories,
  };
}

/**
 * Assumptions: `baseBranch` defaults to the repository's own branch, `setupScript` to null, `setupBlocking` to false.
 */
function selected(
  context: Context,
  accountId: string,
  repositories: NonNullable<UpdateEnvironmentBody['repositories']>,
): SelectedRepository[] {
  const known = new Map(reposOf(context, accountId).map((repo) => [repo.databaseId, repo]));
  const refuse = (index: number, problem: string): never => {
    throw invalidRequest(`repositories.${index}.repositoryId: ${problem}`);
  };
  return repositories.map(({ repositoryId, baseBranch, setupScript, setupBlocking }, index) => {
    const repo =
      known.get(repositoryId) ?? refuse(index, 'must be the databaseId of a repository that GET /repos lists.');
    if (repositories.findIndex((other) => other.repositoryId === repositoryId) !== index) {
      refuse(index, 'must not be selected twice.');
    }
    return {
      ...repo,
      baseBranch: baseBranch ?? repo.baseBranch,
      setupScript: setupScript ?? null,
      setupBlocking: setupBlocking ?? false,
    };
  });
}
