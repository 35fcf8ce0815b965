/** Finds what bubblewrap can take from commands on this machine. */
import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { SHARED_MEMORY_BYTES } from '../limits/machine-size.js';
import type { MachineDirectories } from '../machine-directories.js';
import { runProgram } from '../program.js';
import { diskArguments, machineArguments } from './mounts.js';

/** No capability: as root, bubblewrap leaves all of them where it is not told otherwise. */
const NO_CAPABILITIES = ['--cap-drop', 'ALL'];
/** A user other than root, for programs that refuse to work as root. Files are owned as those of the service all the same. */
const SANDBOX_USER = ['--uid', '1000', '--gid', '1000'];

const BOUNDED_SHARED_MEMORY = ['--size', String(SHARED_MEMORY_BYTES), '--perms', '1777', '--tmpfs', '/dev/shm'];

export type RestrictionsFound = Restrictions | { readonly problem: string };

export interface Restrictions {
  /** What a command may not do. */
  readonly restrictions: readonly string[];
  /** A /dev/shm that is bounded; empty where bubblewrap is too old for it. */
  readonly sharedMemory: readonly string[];
}

/**
 * Takes the strictest that works, tried with all that a command gets: a container may refuse parts, and an older bubblewrap
 * may not know them.
 */
export async function chooseRestrictions(
  directories: MachineDirectories,
  program: string,
  isRoot = process.getuid?.() === 0,
): Promise<RestrictionsFound> {
  const disk = await mkdtemp(join(directories.unfinished, 'probe-'));
  const sharedMemory = (await runProgram(program, ['--help'])).stdout.includes('--size') ? BOUNDED_SHARED_MEMORY : [];
  const common = [
    ...machineArguments(directories.root, sharedMemory),
    ...diskArguments(disk, disk),
    '--',
    '/bin/sh',
    '-c',
    ':',
  ];
  let problem: string | undefined;
  try {
    for (const restrictions of candidates(isRoot)) {
      const { exitCode, stderr } = await runProgram(program, [...restrictions, ...common]);
      if (exitCode === 0) return { restrictions, sharedMemory };
      // What the strictest lacks is what somebody may want to mend.
      problem ??= stderr.trim() || `it ended with ${exitCode}`;
    }
  } finally {
    await rm(disk, { recursive: true, force: true });
  }
  return { problem: problem ?? 'it does not start' };
}

/** The strictest first. As a plain user bubblewrap makes a user namespace by itself, unless it is installed set-user-ID. */
function candidates(isRoot: boolean): (readonly string[])[] {
  const user = isRoot ? ['--unshare-user', ...SANDBOX_USER] : ['--unshare-user'];
  return [[...NO_CAPABILITIES, ...user, '--disable-userns'], [...NO_CAPABILITIES, ...user], NO_CAPABILITIES];
}
