/** Finds what bubblewrap can take from commands on this machine. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { MachineDirectories } from '../disk/directories.js';
import { sharedMemoryBytes } from '../limits/machine-size.js';
import { runProgram, succeeds } from '../shell/program.js';
import { makeDevices } from './devices.js';
import { diskArguments, machineArguments } from './mounts.js';
import { copySettings } from './settings-copy.js';
import { systemCallFilter } from './system-calls.js';

/** Where bubblewrap reads the filter of system calls. */
const filterDescriptor = 5;
export const filterArguments = ['--seccomp', String(filterDescriptor)];

/** No capability: by default, bubblewrap keeps all of them when it runs as root. */
const noCapabilities = ['--cap-drop', 'ALL'];
/** A user other than root, for programs that refuse to work as root. Files are owned as those of the service all the same. */
const sandboxUser = ['--uid', '1000', '--gid', '1000'];

const tryArguments = ['--', '/bin/sh', '-c', ': >/dev/null'];

const boundedSharedMemory = ['--size', String(sharedMemoryBytes), '--perms', '1777', '--tmpfs', '/dev/shm'];

/** A start takes some 10 ms; what takes this long never comes. */
const probeMs = 10_000;

type RestrictionsFound = Restrictions | { readonly problem: string };

export interface Restrictions {
  /** What a command may not do. */
  readonly restrictions: readonly string[];
  /** What of the machine a command sees. */
  readonly machine: readonly string[];
  /** What a command may not ask of the kernel; undefined if the kernel has no filters, or its calls are not known. */
  readonly systemCalls?: Buffer;
  /** What is not kept from commands here and is elsewhere, for people; empty if all is. */
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
  const help = await runProgram(program, ['--help'], { timeoutMs: probeMs });
  if (help.exitCode === null) return { problem: help.stderr.trim() };
  const sharedMemory = help.stdout.includes('--size') ? boundedSharedMemory : [];
  const disk = await mkdtemp(join(directories.unfinished, 'probe-'));
  const settings = join(directories.root, 'settings');
  await copySettings(settings);
  const devices = isRoot ? await makeDevices(join(directories.root, 'devices')) : undefined;
  const seen = { stateDirectory: directories.root, settings, sharedMemory };
  const shared = { machine: machineArguments(seen), lacking: isRoot ? ['commands own the devices of /dev'] : [] };
  // A file system may let nobody use a device.
  const machines = [...(devices ? [{ machine: machineArguments({ ...seen, devices }), lacking: [] }] : []), shared];
  let problem: string | undefined;
  try {
    for (const { restrictions, lacks } of candidates(isRoot)) {
      for (const { machine, lacking } of machines) {
        const after = [...machine, ...diskArguments(disk, disk), ...tryArguments];
        const { exitCode, stderr } = await runProgram(program, [...restrictions, ...after], { timeoutMs: probeMs });
        if (exitCode === 0) {
          const systemCalls = await usableFilter(join(disk, 'filter'), [program, ...restrictions], after);
          const more = [
            ...(sharedMemory.length === 0 ? ['/dev/shm is not bounded'] : []),
            ...lacking,
            ...(systemCalls === undefined ? ['commands have keyrings and sockets of every kind'] : []),
          ];
          return { restrictions, machine, systemCalls, lacks: [...lacks, ...more] };
        }
        // What the strictest lacks is what somebody may want to mend.
        problem ??= stderr.trim();
        // One that hangs would do so each time.
        if (exitCode === null) return { problem };
      }
    }
  } finally {
    await rm(disk, { recursive: true, force: true });
  }
  return { problem: problem ?? 'it does not start' };
}

/** @param file where the filter is put */
async function usableFilter(file: string, before: readonly string[], after: readonly string[]) {
  const filter = systemCallFilter();
  if (filter === undefined) return undefined;
  await writeFile(file, filter);
  const tried = ['-c', `exec "$@" ${filterDescriptor}<"$0"`, file, ...before, ...filterArguments, ...after];
  return (await succeeds('/bin/sh', tried)) ? filter : undefined;
}

interface Candidate {
  readonly restrictions: readonly string[];
  readonly lacks: readonly string[];
}

/** The strictest first. As a plain user bubblewrap makes a user namespace by itself, unless it is installed set-user-ID. */
function candidates(isRoot: boolean): Candidate[] {
  const user = isRoot ? ['--unshare-user', ...sandboxUser] : ['--unshare-user'];
  const nested = 'commands can make user namespaces of their own';
  const asRoot = isRoot ? ['commands are root, without its capabilities'] : [];
  return [
    { restrictions: [...noCapabilities, ...user, '--disable-userns'], lacks: [] },
    { restrictions: [...noCapabilities, ...user], lacks: [nested] },
    { restrictions: noCapabilities, lacks: [nested, ...asRoot] },
  ];
}
