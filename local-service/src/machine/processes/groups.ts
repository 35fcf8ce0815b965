/** Keeps the process groups that were started, knows which have ended, and ends them. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { MachineDirectories } from '../disk/directories.js';
import { hasCode } from '../disk/file-error.js';
import { type EndingOptions, endProcessesMatching } from './end-processes.js';
import { type ProcessGroup, readRecords, removeRecord, writeRecord } from './records.js';
import { createProcessSearch, oneDisk, type SearchedDisks } from './search.js';
import { readBootId, readStartTime } from './table.js';

export type ProcessGroups = ReturnType<typeof createProcessGroups>;

export function createProcessGroups(directories: MachineDirectories) {
  const groups = new Set<ProcessGroup>();
  const settled = new Set<ProcessGroup>();
  const ended = new WeakSet<ProcessGroup>();
  /** The sandboxes in which this service has started something. */
  const used = new Set<string>();
  const bootId = readBootId();

  const forget = (group: ProcessGroup): void => {
    groups.delete(group);
    settled.delete(group);
    removeRecord(directories.processes, group);
  };

  const endGroups = async (
    chosen: readonly ProcessGroup[],
    disks?: SearchedDisks,
    options?: EndingOptions,
  ): Promise<void> => {
    for (const group of chosen) ended.add(group);
    const processes = {
      find: createProcessSearch(chosen, disks),
      groupsWithoutTable: chosen.map((group) => group.leader),
      monitors: new Set(chosen.filter((group) => group.leaderIsMonitor).map((group) => group.leader)),
    };
    await endProcessesMatching(processes, options);
    for (const group of chosen) forget(group);
  };

  const ofSandbox = (sandboxId: string): ProcessGroup[] => [...groups].filter((group) => group.sandboxId === sandboxId);

  const allDisks = (): SearchedDisks => ({
    isHome: (home) => home.startsWith(`${directories.disks}/`),
    folders: new Map(readdirSync(directories.disks).map((id) => [id, join(directories.disks, id)])),
  });

  return {
    add(sandboxId: string, leader: number, leaderIsMonitor: boolean, commandId?: string) {
      const group = { sandboxId, leader, startTime: readStartTime(leader), bootId, leaderIsMonitor, commandId };
      groups.add(group);
      used.add(sandboxId);
      writeRecord(directories.processes, group);
      return group;
    },
    /** Groups that may have a live process. */
    ofSandbox,
    /** Forgets the group, unless one of its processes still runs in the background. */
    settle(group: ProcessGroup) {
      settled.add(group);
      // The last process of an isolated group may take a moment to end, so earlier groups are checked again.
      for (const other of settled) if (!groupExists(other.leader)) forget(other);
    },
    end: (group: ProcessGroup) => endGroups([group]),
    /** True as soon as `end` or `endAll` was called for the group, even if its processes have not ended yet. */
    wasEnded: (group: ProcessGroup) => ended.has(group),
    /** Ends all processes of one sandbox, or of all sandboxes, and waits until they are gone. */
    async endAll(sandboxId?: string, options?: EndingOptions) {
      if (sandboxId === undefined) return await endGroups([...groups], allDisks(), options);
      // A search reads the whole process table. In a sandbox that was never used, `recover` has ended all there was.
      if (!used.has(sandboxId)) return;
      await endGroups(ofSandbox(sandboxId), oneDisk(directories.disk(sandboxId)), options);
    },
    /** Ends the processes that an earlier service with the same directories left behind. */
    recover: () => endGroups(readRecords(directories.processes, bootId), allDisks()),
  };
}

/** Also true while the group has only zombie processes; then its record is merely kept longer. */
function groupExists(leader: number): boolean {
  try {
    process.kill(-leader, 0);
    return true;
  } catch (error) {
    return hasCode(error, 'EPERM');
  }
}
