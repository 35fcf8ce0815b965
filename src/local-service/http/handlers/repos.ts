import { reposOf } from '../../environments/repos.js';
import { selectRepo } from '../../environments/select-repo.js';
import type { Operations } from '../operation.js';

export const repoOperations: Pick<Operations, 'listRepos' | 'selectRepo'> = {
  listRepos: (context, { caller }) => ({ fields: { repos: reposOf(context, caller.accountId) } }),

  selectRepo: (context, { caller, body }) => ({ fields: { repo: selectRepo(context, caller, body) } }),
};
