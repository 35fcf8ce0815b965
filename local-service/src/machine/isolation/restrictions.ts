/** Finds how far bubblewrap can restrict commands on this machine. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { MachineDirectories } from '../disk/directories.js';
import { sharedMemoryBytes } from '../limits/machine-size.js';
import { defaultProgramPath, runProgram, succeeds } from '../program.js';
import { initTest, writeInit } from '../running/init.js';
import { makeDevices } from './devices.js';
import { diskArguments, machineArguments } from './mounts.js';
import { copySettings } from './settings-copy.js';
import { systemCallFilter } from './system-calls.js';

/** The descriptor from which bubblewrap reads the filter of system calls. */
const filterDescriptor = 5;
export const filterArguments = ['--seccomp', String(filterDescriptor)];

/** Drops all capabilities: by default, bubblewrap keeps them when it runs as root. */
const noCapabilities = ['--cap-drop', 'ALL'];
/**
 * A user other than root, for programs that refuse to run as root: in the network of a sandbox, a plain user would
 * otherwise be root. Outside, files still belong to the service's user.
 */
const sandboxUser = ['--unshare-user', '--uid', '1000', '--gid', '1000'];

const tryArguments = ['--setenv', 'PATH', defaultProgramPath, '--', '/bin/sh', '-c', `: >/dev/null && ${initTest}`];

const boundedSharedMemory = ['--size', String(sharedMemoryBytes), '--perms', '1777', '--tmpfs', '/dev/shm'];

/** A start takes about 10 ms; a program that takes this long hangs. */
const probeMs = 10_000;

type RestrictionsFound = Restrictions | { readonly problem: string };

export interface Restrictions {
  /** Arguments that restrict what a command may do. */
  readonly restrictions: readonly string[];
  /** Arguments that set which parts of the machine a command sees. */
  readonly machine: readonly string[];
  /** The filter of system calls; undefined if the kernel supports no filters, or if its call numbers are unknown. */
  readonly systemCalls?: Buffer;
  /** Restrictions that this machine does not support, as text for people; empty if it supports all. */
  readonly lacks: readonly string[];
}

/**
 * Chooses the strictest restrictions that work, because a container may refuse some and an older bubblewrap may not
 * know them. Each attempt uses everything that a command gets.
 */
export async function chooseRestrictions(
  directories: MachineDirectories,
  program: string,
  {
    programs,
    isRoot = process.getuid?.() === 0,
  }: { readonly programs?: readonly string[]; readonly isRoot?: boolean } = {},
): Promise<RestrictionsFound> {
  const help = await runProgram(program, ['--help'], { timeoutMs: probeMs });
  if (help.exitCode === null) return { problem: help.stderr.trim() };
  const sharedMemory = help.stdout.includes('--size') ? boundedSharedMemory : [];
  const disk = await mkdtemp(join(directories.unfinished, 'probe-'));
  const settings = join(directories.root, 'settings');
  await copySettings(settings);
  const devices = isRoot ? await makeDevices(join(directories.root, 'devices')) : undefined;
  const init = await writeInit(join(directories.root, 'init'));
  const seen = { stateDirectory: directories.root, settings, init, sharedMemory, programs };
  const shared = { machine: machineArguments(seen), lacking: isRoot ? ['commands own the device files in /dev'] : [] };
  // The file system may be mounted so that devices on it cannot be used.
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
            ...(sharedMemory.length === 0 ? ['the size of /dev/shm is not limited'] : []),
            ...lacking,
            ...(systemCalls === undefined ? ['commands can use kernel keyrings and sockets of every type'] : []),
          ];
          return { restrictions, machine, systemCalls, lacks: [...lacks, ...more] };
        }
        // Keep the problem of the strictest attempt: that is the one worth fixing.
        problem ??= stderr.trim();
        // If bubblewrap hangs once, it would hang at each attempt.
        if (exitCode === null) return { problem };
      }
    }
  } finally {
    await rm(disk, { recursive: true, force: true });
  }
  return { problem: problem ?? 'it does not start' };
}

/** @param file the file to which the filter is written */
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

/**
 * Lists the strictest candidate first. For a user other than root, the last one also has a user namespace of its own,
 * unless it is installed set-user-ID.
 */
function candidates(isRoot: boolean): Candidate[] {
  const nested = 'commands can create their own user namespaces';
  const asRoot = isRoot ? ['commands run as root, but without capabilities'] : [];
  return [
    { restrictions: [...noCapabilities, ...sandboxUser, '--disable-userns'], lacks: [] },
    { restrictions: [...noCapabilities, ...sandboxUser], lacks: [nested] },
    { restrictions: noCapabilities, lacks: [nested, ...asRoot] },
  ];
}
