/** Clones a repository as the user who runs the service would, without running anything of the repository. */
import { existsSync } from 'node:fs';
import { mkdtemp, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { homeFolder } from '../../../os/home-folder.js';
import { MachineError } from '../machine-error.js';
import { discardTree, removeTree } from './copy-tree.js';
import { maxGitMemory, runGit } from './run-git.js';

export interface RepositorySource {
  /** An https, http or ssh address, or an absolute path. */
  readonly url: string;
  readonly branch: string;
  /** The name of the folder in the home. */
  readonly folder: string;
  /** Variables of git, such as a login. They may be secrets. */
  readonly env: Readonly<Record<string, string>>;
  /** How long git may take. */
  readonly timeoutMs: number;
}

interface ClonePlace {
  /** Below the disk of the sandbox. */
  readonly folder: string;
  /** Where the clone is made, on the file system of `folder`. */
  readonly unfinished: string;
  /** False once the file system has no space for more. */
  readonly hasSpace: () => Promise<boolean>;
  readonly signal: AbortSignal | undefined;
}

/** A login of the user counts, as in `git clone` typed in a shell; nobody is asked for one. */
const environment = () => ({
  HOME: homeFolder(),
  GIT_TERMINAL_PROMPT: '0',
  // The program of `core.askPass` would open a window.
  GIT_ASKPASS: '',
  GIT_SSH_COMMAND: 'ssh -o BatchMode=yes',
  GIT_ALLOW_PROTOCOL: 'file:http:https:ssh',
});

/** @throws MachineError `clone_failed` */
export async function cloneRepository(
  { url, branch, env, timeoutMs }: RepositorySource,
  { folder, unfinished, hasSpace, signal }: ClonePlace,
): Promise<void> {
  const made = await mkdtemp(join(unfinished, 'clone-'));
  // A local clone would share its files with the sandbox, which may write to them.
  const options = ['--quiet', '--no-checkout', '--no-local', '--template=', '--branch', branch];
  const clone = ['-c', 'core.hooksPath=/dev/null', 'clone', ...options, '--', url, join(made, 'tree')];
  try {
    const mustEnd = async (): Promise<string | null> => {
      if (!(await hasSpace())) return 'it would fill the disk of this machine';
      return existsSync(dirname(folder)) ? null : 'the sandbox was deleted';
    };
    const limits = { timeoutMs, memoryBytes: maxGitMemory, mustEnd, signal };
    const problem = await runGit(clone, { env: { ...environment(), ...env }, ...limits });
    if (problem !== null) throw new MachineError('clone_failed', problem);
    await discardTree(folder, unfinished);
    await rename(join(made, 'tree'), folder);
  } finally {
    await removeTree(made);
  }
}
