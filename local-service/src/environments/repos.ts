/**
 * Repositories that can be selected for sandboxes. There is no repository host here: the list of repositories is a
 * setting of the local service. A selection is stored in a version of an environment and shown. The address of a
 * repository stays in the list: no record shows it.
 */

import { z } from 'zod';
import { SandflowError } from '../../../src/errors/sandflow-error.js';
import { checkInput } from '../../../src/settings/input-problems.js';
import type { Context } from '../core/context.js';
import type { ListedRepository, SelectedRepository } from '../store/environment-store.js';

const localRepoSchema = z.object({
  /** The number of the repository at its host. */
  id: z.number().int().positive(),
  /** `owner/name`. */
  fullName: z
    .string()
    .regex(/^[^/\s]+\/[^/\s]+$/, 'must be owner/name')
    // The name is that of a folder.
    .refine((fullName) => !/\/\.\.?$|\0/.test(fullName), 'must be owner/name'),
  /** Last push, ISO 8601. */
  pushedAt: z.iso.datetime(),
  /** Internal id, which `repositoryId` of PUT /environments/{environmentId} names. Default: `id` as text. */
  databaseId: z.string().min(1).optional(),
  private: z.boolean().default(false),
  permissions: z.string().default('write'),
  /** The branch if a selection names none. */
  baseBranch: z.string().min(1).default('main'),
  /** What `git clone` gets: an https, http or ssh address, or a folder of this machine. Without it, nothing is cloned. */
  cloneUrl: z
    .string()
    .regex(
      /^(?:https?:\/\/|ssh:\/\/|[\w.-]+@[\w.-]+:|\/)\S*$/,
      'must be an https, http or ssh address, or an absolute path',
    )
    // In an http address, a name or a query may be a token. A clone keeps its address.
    .refine(
      (url) => !/^(?:https?:\/\/[^/]*@|https?:[^?#]*[?#]|ssh:\/\/[^/]*:[^/]*@)/.test(url),
      'must hold no login; `repoHost` has the login of an http address',
    )
    .optional(),
});

type ReposContext = Pick<Context, 'stores' | 'repos'>;

/** A repository for `GET /repos`, as the options and `setup.setRepos` take it. */
export type LocalRepo = z.input<typeof localRepoSchema>;

export const localReposSchema = z
  .array(localRepoSchema)
  .refine(
    (repos) =>
      [repos.map(({ id }) => id), repos.map(databaseIdOf), repos.map(({ fullName }) => fullName)].every(
        (values: readonly unknown[]) => new Set(values).size === values.length,
      ),
    'id, databaseId and fullName must each be unique among the repositories',
  );

type ParsedRepo = z.output<typeof localReposSchema>[number];

/** @throws SandflowError `bad_configuration` if the repositories are malformed or not unique */
export function configuredRepos(repos: readonly LocalRepo[]): readonly ListedRepository[] {
  const parsed = checkInput(localReposSchema, repos);
  if (parsed.problems === null) return parsed.data.map(unselected);
  const [problem] = parsed.problems;
  const place = ['repos', ...(problem?.path ?? [])].join('.');
  throw new SandflowError('bad_configuration', `${place}: ${problem?.message ?? 'is malformed'}.`);
}

/** The repositories of an account: its own list, or else the list of the options. */
export function reposOf(context: ReposContext, accountId: string): readonly SelectedRepository[] {
  return listedRepos(context, accountId).map(({ cloneUrl: _, ...repo }) => repo);
}

/** The same with their addresses, which no answer shows. */
export function listedRepos({ stores, repos }: ReposContext, accountId: string): readonly ListedRepository[] {
  return stores.settings.get<readonly ListedRepository[]>(settingOf(accountId)) ?? repos;
}

/**
 * Sets the repositories of an account, in place of the list of the options. Selected repositories stay selected. Safe
 * to repeat.
 */
export function setRepos({ stores }: Context, accountId: string, repos: readonly ListedRepository[]): void {
  stores.settings.put(settingOf(accountId), repos);
}

function unselected(repo: ParsedRepo): ListedRepository {
  const { id, fullName, pushedAt, private: isPrivate, permissions, baseBranch } = repo;
  return {
    id,
    databaseId: databaseIdOf(repo),
    name: fullName.slice(fullName.indexOf('/') + 1),
    fullName,
    private: isPrivate,
    permissions,
    pushedAt,
    baseBranch,
    setupRoutineId: null,
    setupScript: null,
    setupBlocking: false,
    cloneUrl: repo.cloneUrl ?? null,
  };
}

function databaseIdOf({ databaseId, id }: { readonly databaseId?: string | undefined; readonly id: number }): string {
  return databaseId ?? String(id);
}

function settingOf(accountId: string): string {
  return `repos of ${accountId}`;
}
