/** POST /repos: which repositories new sandboxes are given. */
import type { SelectRepoBody } from '../../contract/account-requests.js';
import type { Caller } from '../accounts/caller.js';
import { assume } from '../core/assume.js';
import type { Context } from '../core/context.js';
import { ServiceError } from '../service-error.js';
import type { SelectedRepository } from '../store/environment-record.js';
import { emptyContent } from './content.js';
import { changeContent, defaultEnvironment } from './environments.js';
import { reposOf } from './repos.js';

/**
 * Selects a repository for sandboxes. Assumption: into the account's default environment, as a new version of it, in place of an
 * earlier selection of the same repository, whose setup script is kept; without a branch it is the repository's own. Safe to
 * repeat: the same selection makes no version.
 * @throws ServiceError 404 for a repository that is not one of `GET /repos`
 */
export function selectRepo(context: Context, caller: Caller, body: SelectRepoBody): SelectedRepository {
  assume('A-repo-selection');
  return context.database.transaction(() => {
    const repo = reposOf(context, caller.accountId).find(({ fullName }) => fullName === body.fullName);
    if (!repo) throw new ServiceError(404, 'not_found', 'GET /repos lists no repository with this fullName.');
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
