/** Clones a repository as the user who runs the service would, without running anything of the repository. */
import { mkdtemp, rename } from 'node:fs/promises';
import { join } from 'node:path';
import { homeFolder } from '../../../os/home-folder.js';
import { MachineError } from '../machine-error.js';
import { runProgram } from '../program.js';
import { discardTree, removeTree } from './copy-tree.js';

export interface RepositorySource {
  /** An https, http or ssh address, or an absolute path. */
  readonly url: string;
  readonly branch: string;
  /** The name of the folder in the home. */
  readonly folder: string;
}

interface ClonePlace {
  readonly folder: string;
  /** Where the clone is made, on the file system of `folder`. */
  readonly unfinished: string;
  readonly signal: AbortSignal | undefined;
}

const timeoutMs = 15 * 60_000;

/** A login of the user counts, as in `git clone` typed in a shell; nobody is asked for one. */
const environment = () => ({
  HOME: homeFolder(),
  GIT_TERMINAL_PROMPT: '0',
  GIT_SSH_COMMAND: 'ssh -o BatchMode=yes',
  GIT_ALLOW_PROTOCOL: 'file:http:https:ssh',
});

/** @throws MachineError `clone_failed` */
export async function cloneRepository(
  { url, branch }: RepositorySource,
  { folder, unfinished, signal }: ClonePlace,
): Promise<void> {
  const made = await mkdtemp(join(unfinished, 'clone-'));
  // A local clone would share its files with the sandbox, which may write to them.
  const options = ['--quiet', '--no-checkout', '--no-local', '--template=', '--branch', branch];
  const clone = ['-c', 'core.hooksPath=/dev/null', 'clone', ...options, '--', url, join(made, 'tree')];
  const { exitCode, stderr } = await runProgram('git', clone, { timeoutMs, signal, env: environment() });
  try {
    if (exitCode !== 0) throw new MachineError('clone_failed', reasonIn(stderr));
    await discardTree(folder, unfinished);
    await rename(join(made, 'tree'), folder);
  } finally {
    await removeTree(made);
  }
}

/** Git says the reason in its first `fatal:` line, or in the last line of ssh before it. */
function reasonIn(stderr: string): string {
  const lines = stderr.trim().split('\n');
  return (lines.find((line) => line.startsWith('fatal:')) ?? lines.at(-1) ?? 'git failed').slice(0, 500);
}
