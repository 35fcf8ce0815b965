/** Clones a repository without running anything of it. */
import { existsSync } from 'node:fs';
import { mkdtemp, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { homeFolder } from '../../../../src/os/home-folder.js';
import { MachineError } from '../machine-error.js';
import { discardTree, removeTree } from './copy-tree.js';
import { maxGitMemory, runGit } from './run-git.js';

export interface RepositorySource {
  /** An https, http or ssh address, or an absolute path. Only an https or http address unless `asUser`. */
  readonly url: string;
  /**
   * Whether git has the logins and the files of the user who runs the service, as in `git clone` typed in a shell.
   * Otherwise it has those in `env` alone.
   */
  readonly asUser: boolean;
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

/** Nobody is asked for a login. */
const unattended = {
  GIT_TERMINAL_PROMPT: '0',
  // The program of `core.askPass` would open a window.
  GIT_ASKPASS: '',
};

const ofUser = () => ({
  ...unattended,
  HOME: homeFolder(),
  GIT_SSH_COMMAND: 'ssh -o BatchMode=yes',
  GIT_ALLOW_PROTOCOL: 'file:http:https:ssh',
});

/** @param home an empty folder: git would find a login in `.netrc` or in the settings of the user */
const ofNobody = (home: string) => ({
  ...unattended,
  HOME: home,
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_NOSYSTEM: '1',
  // ssh looks for its keys in the home that the system knows, whatever HOME says.
  GIT_ALLOW_PROTOCOL: 'http:https',
});

/** A ticket of Kerberos is a login of the user, and is found without a home. */
const withoutTickets = ['-c', 'http.emptyAuth=false'];

/** @throws MachineError `clone_failed` */
export async function cloneRepository(
  { url, asUser, branch, env, timeoutMs }: RepositorySource,
  { folder, unfinished, hasSpace, signal }: ClonePlace,
): Promise<void> {
  if (!asUser && !/^https?:\/\//.test(url)) {
    throw new MachineError('clone_failed', 'this account may clone from https and http addresses only');
  }
  const made = await mkdtemp(join(unfinished, 'clone-'));
  // A local clone would share its files with the sandbox, which may write to them.
  const options = ['--quiet', '--no-checkout', '--no-local', '--template=', '--branch', branch];
  const settings = ['-c', 'core.hooksPath=/dev/null', ...(asUser ? [] : withoutTickets)];
  const clone = [...settings, 'clone', ...options, '--', url, join(made, 'tree')];
  try {
    const mustEnd = async (): Promise<string | null> => {
      if (!(await hasSpace())) return 'it would fill the disk of this machine';
      return existsSync(dirname(folder)) ? null : 'the sandbox was deleted';
    };
    const limits = { timeoutMs, memoryBytes: maxGitMemory, mustEnd, signal };
    const problem = await runGit(clone, { env: { ...(asUser ? ofUser() : ofNobody(made)), ...env }, ...limits });
    if (problem !== null) throw new MachineError('clone_failed', problem);
    await discardTree(folder, unfinished);
    await rename(join(made, 'tree'), folder);
  } finally {
    await removeTree(made);
  }
}
