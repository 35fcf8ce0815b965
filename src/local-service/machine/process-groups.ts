/**
 * The process groups that were started, and their end. Each has a record in a file, so that a service that was killed can end
 * what it left behind when it starts again. A process is only ever signalled when it is known to be ours:
 *
 * - its pid and start time are those of a leader that we started, or
 * - it is in the group or the session of such a leader, or descends from it, or
 * - it was started with a disk of ours as its home (then it may have left the group).
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { endProcessesMatching } from './end-processes.js';
import type { MachineDirectories } from './machine-directories.js';
import { type ProcessEntry, readBootId, readProcess, readProcessTable, startVariable } from './process-table.js';

export interface ProcessGroup {
  readonly sandboxId: string;
  /** Pid of the leader, which is also the number of the group and of the session. */
  readonly leader: number;
  /** Undefined where there is no /proc. */
  readonly startTime: string | undefined;
  readonly bootId: string;
  /** The leader only watches over an isolated sandbox, and all of that dies with it: it is not asked to end, it is killed. */
  readonly leaderIsMonitor: boolean;
}

export interface ProcessGroups {
  add(sandboxId: string, leader: number, leaderIsMonitor: boolean): ProcessGroup;
  /** Forgets the group, unless a process of it lives on in the background. */
  settle(group: ProcessGroup): void;
  end(group: ProcessGroup): Promise<void>;
  /** Ends everything of one sandbox, or of all, and waits until it is gone. */
  endAll(sandboxId?: string): Promise<void>;
  /** Ends what the records of an earlier service name. */
  recover(): Promise<void>;
}

export function createProcessGroups(directories: MachineDirectories): ProcessGroups {
  const groups = new Set<ProcessGroup>();
  const bootId = readBootId();

  const forget = (group: ProcessGroup): void => {
    groups.delete(group);
    rmSync(recordPath(directories, group), { force: true });
  };

  const groupsOf = (sandboxId: string | undefined): ProcessGroup[] =>
    [...groups].filter((group) => sandboxId === undefined || group.sandboxId === sandboxId);

  const endGroups = async (chosen: readonly ProcessGroup[], home: string | undefined): Promise<void> => {
    await endProcessesMatching({
      find: () => findProcesses(chosen, home),
      groupsWithoutTable: chosen.map((group) => group.leader),
      monitors: new Set(chosen.filter((group) => group.leaderIsMonitor).map((group) => group.leader)),
    });
    for (const group of chosen) forget(group);
  };

  return {
    add(sandboxId, leader, leaderIsMonitor) {
      const group = { sandboxId, leader, startTime: readProcess(leader)?.startTime, bootId, leaderIsMonitor };
      groups.add(group);
      writeFileSync(recordPath(directories, group), JSON.stringify(group), { mode: 0o600 });
      return group;
    },
    settle(group) {
      if (!groupExists(group.leader)) forget(group);
    },
    end: (group) => endGroups([group], undefined),
    endAll: (sandboxId) =>
      endGroups(groupsOf(sandboxId), sandboxId === undefined ? `${directories.disks}/` : directories.disk(sandboxId)),
    async recover() {
      for (const name of readdirSync(directories.processes)) {
        const group = readRecord(join(directories.processes, name));
        if (group && group.bootId === bootId && group.startTime !== undefined) groups.add(group);
        else rmSync(join(directories.processes, name), { force: true });
      }
      await endGroups([...groups], `${directories.disks}/`);
    },
  };
}

/** `home` is the disk of one sandbox, or with a slash at its end the folder of all disks. */
function findProcesses(groups: readonly ProcessGroup[], home: string | undefined): readonly ProcessEntry[] | undefined {
  const table = readProcessTable();
  if (table === undefined) return undefined;
  const startTimes = new Map(table.map((entry) => [entry.pid, entry.startTime]));
  const ourGroups = new Set<number>();
  for (const group of groups) if (startTimes.get(group.leader) === group.startTime) ourGroups.add(group.leader);
  const leaders = new Set(groups.map((group) => group.leader));
  const hasOurHome = (pid: number): boolean => {
    const value = home === undefined ? undefined : startVariable(pid, 'HOME');
    return value !== undefined && home !== undefined && (home.endsWith('/') ? value.startsWith(home) : value === home);
  };
  const found = new Set<number>();
  for (const entry of table) {
    if (entry.pid === process.pid || !hasOurHome(entry.pid)) continue;
    found.add(entry.pid);
    // A member of the group lives, so the number of the group cannot have been given to another since.
    if (leaders.has(entry.processGroup)) ourGroups.add(entry.processGroup);
  }
  for (const entry of table)
    if (ourGroups.has(entry.processGroup) || ourGroups.has(entry.session)) found.add(entry.pid);
  addDescendants(table, found);
  found.delete(process.pid);
  return table.filter((entry) => found.has(entry.pid));
}

function addDescendants(table: readonly ProcessEntry[], found: Set<number>): void {
  for (let size = -1; size !== found.size; ) {
    size = found.size;
    for (const entry of table) if (found.has(entry.parentPid)) found.add(entry.pid);
  }
}

/** A group of processes that have all ended, and only wait to be collected, also exists: that costs a record, no more. */
function groupExists(leader: number): boolean {
  try {
    process.kill(-leader, 0);
    return true;
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}

function recordPath(directories: MachineDirectories, group: ProcessGroup): string {
  return join(directories.processes, `${group.leader}.json`);
}

/** Undefined where a crash left half a record. */
function readRecord(path: string): ProcessGroup | undefined {
  try {
    const record: unknown = JSON.parse(readFileSync(path, 'utf8'));
    return isProcessGroup(record) ? record : undefined;
  } catch {
    return undefined;
  }
}

function isProcessGroup(value: unknown): value is ProcessGroup {
  if (typeof value !== 'object' || value === null) return false;
  const record = value as Partial<Record<keyof ProcessGroup, unknown>>;
  const texts = typeof record.sandboxId === 'string' && typeof record.bootId === 'string';
  return texts && Number.isSafeInteger(record.leader) && Number(record.leader) > 1;
}
