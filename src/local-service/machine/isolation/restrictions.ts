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

/** A start takes some 10 ms; what takes this long never comes. */
const PROBE_MS = 10_000;

export type RestrictionsFound = Restrictions | { readonly problem: string };

export interface Restrictions {
  /** What a command may not do. */
  readonly restrictions: readonly string[];
  /** A /dev/shm that is bounded; empty where bubblewrap is too old for it. */
  readonly sharedMemory: readonly string[];
  /** What is not kept from commands here and is elsewhere, for people; empty where all is. */
  readonly lacks: readonly string[];
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
  const help = await runProgram(program, ['--help'], { timeoutMs: PROBE_MS });
  if (help.exitCode === null) return { problem: help.stderr.trim() };
  const sharedMemory = help.stdout.includes('--size') ? BOUNDED_SHARED_MEMORY : [];
  const disk = await mkdtemp(join(directories.unfinished, 'probe-'));
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
    for (const { restrictions, lacks } of candidates(isRoot)) {
      const { exitCode, stderr } = await runProgram(program, [...restrictions, ...common], { timeoutMs: PROBE_MS });
      if (exitCode === 0) {
        const unbounded = sharedMemory.length === 0 ? ['/dev/shm is not bounded'] : [];
        return { restrictions, sharedMemory, lacks: [...lacks, ...unbounded] };
      }
      // What the strictest lacks is what somebody may want to mend.
      problem ??= stderr.trim();
      // One that hangs would do so each time.
      if (exitCode === null) break;
    }
  } finally {
    await rm(disk, { recursive: true, force: true });
  }
  return { problem: problem ?? 'it does not start' };
}

interface Candidate {
  readonly restrictions: readonly string[];
  readonly lacks: readonly string[];
}

/** The strictest first. As a plain user bubblewrap makes a user namespace by itself, unless it is installed set-user-ID. */
function candidates(isRoot: boolean): Candidate[] {
  const user = isRoot ? ['--unshare-user', ...SANDBOX_USER] : ['--unshare-user'];
  const nested = 'commands can make user namespaces of their own';
  const asRoot = isRoot ? ['commands are root, without its capabilities'] : [];
  return [
    { restrictions: [...NO_CAPABILITIES, ...user, '--disable-userns'], lacks: [] },
    { restrictions: [...NO_CAPABILITIES, ...user], lacks: [nested] },
    { restrictions: NO_CAPABILITIES, lacks: [nested, ...asRoot] },
  ];
}
