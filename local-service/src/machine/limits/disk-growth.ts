/** Measures how many bytes a sandbox has written since a given time, including to removed files. */
import { readdirSync, readlinkSync, statSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import type { MachineDirectories } from '../disk/directories.js';
import { createPatientReads } from '../processes/patient-reads.js';
import { runProgram } from '../program.js';

const measureTimeoutMs = 30_000;
/** The unit of `%b` of `find` and of `blocks` in a file's status. */
const blockBytes = 512;
/** The kernel's clock for files advances in steps of at most this length. */
const clockStepMs = 20;

export interface Growth {
  readonly bytes: number;
  readonly files: number;
}

interface GrownSandbox {
  readonly sandboxId: string;
  /** In ms since 1970, by the machine's clock. */
  readonly sinceMs: number;
  readonly pids: readonly number[];
}

/**
 * Counts the files on the disk and in `/tmp` that changed since `sinceMs`, and removed files that processes still hold.
 * A sandbox cannot set the time of a change back. A changed file counts in full.
 */
export async function measureGrowth(directories: MachineDirectories, sandbox: GrownSandbox): Promise<Growth> {
  const { sandboxId, sinceMs, pids } = sandbox;
  const folders = [directories.disk(sandboxId), directories.temporary(sandboxId)];
  const since = `@${((sinceMs - clockStepMs) / 1_000).toFixed(3)}`;
  // There can be millions of files, so other programs sum their sizes and their names are not passed on.
  const sum =
    'find "$@" -xdev -newerct "$0" -printf "%b\\n" 2>/dev/null | awk \'{ b += $1; n += 1 } END { print b + 0, n + 0 }\'';
  const { stdout } = await runProgram('/bin/sh', ['-c', sum, since, ...folders], { timeoutMs: measureTimeoutMs });
  const [blocks = 0, files = 0] = stdout.trim().split(' ').map(Number);
  const device = deviceOf(directories.root);
  const removed = device === undefined ? 0 : await removedBytes(pids, device, sinceMs - clockStepMs);
  return { bytes: blocks * blockBytes + removed, files };
}

const readPatiently = createPatientReads();

/** Counts each file once, even if several processes hold it. */
async function removedBytes(pids: readonly number[], device: number, sinceMs: number): Promise<number> {
  const files = new Map<number, number>();
  for (const pid of pids) for (const path of openFiles(pid)) addRemoved(files, path, device, sinceMs);
  const mapped = await readPatiently(pids, async (pid) => mappedRemoved(await readFile(`/proc/${pid}/maps`, 'latin1')));
  for (const { inode, bytes } of [...mapped.values()].flat()) if (!files.has(inode)) files.set(inode, bytes);
  return [...files.values()].reduce((sum, bytes) => sum + bytes, 0);
}

function addRemoved(files: Map<number, number>, path: string, device: number, sinceMs: number): void {
  try {
    const { nlink, dev, ino, blocks, ctimeMs } = statSync(path);
    if (nlink === 0 && dev === device && ctimeMs >= sinceMs) files.set(ino, blocks * blockBytes);
  } catch {
    // The file was closed in the meantime.
  }
}

/**
 * The removed files that a process has open. Other files are counted by their names; pipes and sockets are not counted.
 */
function openFiles(pid: number): string[] {
  const folder = `/proc/${pid}/fd`;
  try {
    return readdirSync(folder)
      .map((name) => `${folder}/${name}`)
      .filter((path) => readlinkSync(path).endsWith(' (deleted)'));
  } catch {
    return [];
  }
}

/**
 * The removed files that a process has mapped. A mapping keeps a removed file even without a descriptor. The mapped
 * size counts, since the number of blocks cannot be read. Only shared mappings count, because programs map removed
 * libraries too, but as private mappings.
 */
function mappedRemoved(maps: string): { readonly inode: number; readonly bytes: number }[] {
  return maps.split('\n').flatMap((line) => {
    const [, from = '0', to = '0', inode = '0'] =
      /^([0-9a-f]+)-([0-9a-f]+) ...s \S+ \S+ (\d+) +\/(?!dev\/shm\/|dev\/zero|memfd:|SYSV).* \(deleted\)$/.exec(line) ??
      [];
    if (inode === '0') return [];
    return [{ inode: Number(inode), bytes: Number.parseInt(to, 16) - Number.parseInt(from, 16) }];
  });
}

function deviceOf(path: string): number | undefined {
  try {
    return statSync(path).dev;
  } catch {
    return undefined;
  }
}
