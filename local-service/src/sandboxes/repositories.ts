/** The repositories of a new sandbox: what its environment selects is cloned into its home, and set up. */
import { assume } from '../core/assume.js';
import type { Context, Core } from '../core/context.js';
import { isOfUser } from '../environments/logins.js';
import { machineEnvironment, prepareDisk } from '../environments/on-machine.js';
import { listedRepos } from '../environments/repos.js';
import { reasonOf } from '../log.js';
import type { SelectedRepository } from '../store/environment-store.js';
import type { SandboxRecord } from '../store/sandbox-record.js';
import { runSetupScript } from './setup-script.js';
import { whyItFailed } from './why-it-failed.js';

interface ClonedRepository extends SelectedRepository {
  readonly cloneUrl: string;
}

/**
 * The selected repositories of a sandbox that have an address. None after the boot that cloned them, and none if it is
 * restored from a snapshot: its disk holds what its source had.
 */
export function repositoriesToClone(context: Repositories, sandbox: SandboxRecord): ClonedRepository[] {
  const selected = selectedBy(context, sandbox);
  const isNew = sandbox.epoch === 1 || sandbox.isCloneMissing;
  if (!isNew || sandbox.restoreFrom !== null || selected.length === 0) return [];
  if (context.deviations.has('A-repo-clone')) return [];
  const urls = new Map(listedRepos(context, sandbox.ownerId).map(({ databaseId, cloneUrl }) => [databaseId, cloneUrl]));
  return selected.flatMap((repo) => {
    const cloneUrl = urls.get(repo.databaseId);
    return cloneUrl ? [{ ...repo, cloneUrl }] : [];
  });
}

/** The scripts of the repositories on its disk that do not block it. */
export function backgroundScripts(
  context: Repositories,
  sandbox: SandboxRecord,
): { readonly script: string; readonly cwd: string; readonly of: string }[] {
  return selectedBy(context, sandbox)
    .filter(({ databaseId, setupBlocking }) => !setupBlocking && sandbox.clonedRepositories?.includes(databaseId))
    .flatMap(({ setupScript, name, fullName }) =>
      setupScript === null ? [] : [{ script: setupScript, cwd: name, of: fullName }],
    );
}

type Repositories = Pick<Core, 'stores' | 'repos' | 'deviations'>;

function selectedBy({ stores }: Repositories, sandbox: SandboxRecord): readonly SelectedRepository[] {
  return stores.environments.version(sandbox.environmentVersionId)?.content.selectedRepositories ?? [];
}

/**
 * Clones them one after the other, and runs the scripts that block. Safe to repeat: each clone replaces its folder.
 * @returns the changes of the record; `error` if the sandbox cannot be used
 */
export async function cloneRepositories(context: Context, sandbox: SandboxRecord): Promise<Partial<SandboxRecord>> {
  const repositories = repositoriesToClone(context, sandbox);
  if (repositories.length === 0) return sandbox.isCloneMissing ? { isCloneMissing: false } : {};
  assume('A-repo-clone');
  const error = sameFolder(repositories) ?? (await prepare(context, sandbox, repositories));
  if (error !== null) return { state: 'error', error, isCloneMissing: true };
  const clonedRepositories = repositories.map(({ databaseId }) => databaseId);
  const isSetUp = backgroundScripts(context, { ...sandbox, clonedRepositories }).length === 0;
  return { clonedRepositories, isCloneMissing: false, ...(!isSetUp && { setupStatus: 'pending' }) };
}

function sameFolder(repositories: readonly ClonedRepository[]): string | null {
  const other = repositories.find(({ name }, at) => repositories.findIndex((one) => one.name === name) !== at);
  return other ? `Two of the selected repositories would have the folder ${other.name}.` : null;
}

/** @returns the first problem; null if there is none */
async function prepare(
  context: Context,
  sandbox: SandboxRecord,
  repositories: readonly ClonedRepository[],
): Promise<string | null> {
  for (const repo of repositories) {
    const problem = await cloneOne(context, sandbox, repo);
    if (problem !== null) return problem;
  }
  try {
    // A secret file may be in the folder of a repository, which a clone replaces, and a script may need it.
    await context.locks.run(sandbox.id, () => prepareDisk(context, sandbox.id));
  } catch (cause) {
    return `The secret files could not be placed: ${reasonOf(cause)}`;
  }
  const env = machineEnvironment(context, sandbox);
  for (const { setupBlocking, setupScript, name: cwd, fullName } of repositories) {
    if (!setupBlocking || setupScript === null) continue;
    const problem = await runSetupScript(context, sandbox.id, { script: setupScript, cwd, env });
    if (problem !== null) return `The setup script of ${fullName} failed: ${problem}`;
  }
  return null;
}

async function cloneOne(context: Context, sandbox: SandboxRecord, repo: ClonedRepository): Promise<string | null> {
  const { host, closing, logins, timings } = context;
  const { fullName, name: folder, baseBranch: branch, cloneUrl: url } = repo;
  const sandboxId = sandbox.id;
  const asUser = isOfUser(sandbox);
  const source = { url, asUser, branch, folder, env: asUser ? logins.repoHost : {}, timeoutMs: timings.cloneMs };
  try {
    await host.cloneRepository(sandboxId, source, closing);
    // Filters and the like are the choice of the repository, so they run in the sandbox. They may need a login.
    const command = 'git -c core.hooksPath=/dev/null reset --quiet --hard';
    const spec = { command, cwd: folder, env: machineEnvironment(context, sandbox), timeoutMs: timings.cloneMs };
    const problem = whyItFailed(await host.run(sandboxId, spec, { signal: closing }), spec.env);
    return problem && `The repository ${fullName} could not be checked out: ${problem.trim()}`;
  } catch (cause) {
    return `The repository ${fullName} could not be cloned: ${reasonOf(cause)}`;
  }
}
