/** The repositories of a new sandbox: what its environment selects is cloned into its home, and set up. */
import { assume } from '../core/assume.js';
import type { Context, Core } from '../core/context.js';
import { machineEnvironment } from '../environments/on-machine.js';
import { listedRepos } from '../environments/repos.js';
import { reasonOf } from '../log.js';
import type { SelectedRepository } from '../store/environment-store.js';
import type { SandboxRecord } from '../store/sandbox-record.js';
import { runSetupScript } from './setup-script.js';

interface ClonedRepository extends SelectedRepository {
  readonly cloneUrl: string;
}

/**
 * The selected repositories of a sandbox that have an address. None after its first boot, and none if it is restored
 * from a snapshot: its disk holds what its source had.
 */
export function repositoriesToClone(context: Repositories, sandbox: SandboxRecord): ClonedRepository[] {
  const selected = selectedBy(context, sandbox);
  if (sandbox.epoch > 1 || sandbox.restoreFrom !== null || selected.length === 0) return [];
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

type Repositories = Pick<Core, 'stores' | 'repos'>;

function selectedBy({ stores }: Repositories, sandbox: SandboxRecord): readonly SelectedRepository[] {
  return stores.environments.version(sandbox.environmentVersionId)?.content.selectedRepositories ?? [];
}

/**
 * Clones them one after the other, and runs the scripts that block. Safe to repeat: each clone replaces its folder.
 * @returns the changes of the record; `error` if the sandbox cannot be used
 */
export async function cloneRepositories(context: Context, sandbox: SandboxRecord): Promise<Partial<SandboxRecord>> {
  const repositories = repositoriesToClone(context, sandbox);
  if (repositories.length === 0) return {};
  assume('A-repo-clone');
  for (const repo of repositories) {
    const error = await cloneOne(context, sandbox, repo);
    if (error !== null) return { state: 'error', error };
  }
  const clonedRepositories = repositories.map(({ databaseId }) => databaseId);
  const isSetUp = backgroundScripts(context, { ...sandbox, clonedRepositories }).length === 0;
  return { clonedRepositories, ...(!isSetUp && { setupStatus: 'pending' }) };
}

async function cloneOne(context: Context, sandbox: SandboxRecord, repo: ClonedRepository): Promise<string | null> {
  const { fullName, name: folder, baseBranch: branch, cloneUrl: url, setupScript, setupBlocking } = repo;
  try {
    await context.host.cloneRepository(sandbox.id, { url, branch, folder }, context.closing);
    // Filters and the like are the choice of the repository, so they run in the sandbox.
    const command = 'git -c core.hooksPath=/dev/null reset --quiet --hard';
    const { exitCode, stderr } = await context.host.run(
      sandbox.id,
      { command, cwd: folder },
      { signal: context.closing },
    );
    if (exitCode !== 0) return `The repository ${fullName} could not be checked out: ${stderr.trim().slice(-500)}`;
  } catch (cause) {
    return `The repository ${fullName} could not be cloned: ${reasonOf(cause)}`;
  }
  if (!setupBlocking || setupScript === null) return null;
  const script = { script: setupScript, cwd: folder, env: machineEnvironment(context, sandbox) };
  const problem = await runSetupScript(context, sandbox.id, script);
  return problem === null ? null : `The setup script of ${fullName} failed: ${problem}`;
}
