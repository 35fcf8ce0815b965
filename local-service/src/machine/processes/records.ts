/**
 * The records of process groups, one file each. After a service was killed, the next can end the processes it left
 * behind.
 */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

export interface ProcessGroup {
  readonly sandboxId: string;
  /** Pid of the leader, which is also the number of the group and of the session. */
  readonly leader: number;
  /** Undefined if there is no /proc. */
  readonly startTime?: string;
  /** Identifies the start of the machine for which the pid and the start time are valid. */
  readonly bootId: string;
  /**
   * True if the leader is bubblewrap, which only watches an isolated sandbox: all processes of the sandbox die with it.
   */
  readonly leaderIsMonitor: boolean;
  /** The id of the command for which the group was started, if known. */
  readonly commandId?: string;
}

export function writeRecord(directory: string, group: ProcessGroup): void {
  writeFileSync(recordPath(directory, group), JSON.stringify(group), { mode: 0o600 });
}

export function removeRecord(directory: string, group: ProcessGroup): void {
  rmSync(recordPath(directory, group), { force: true });
}

/**
 * The records of this start of the machine. Records of earlier starts, and records that a crash left incomplete, are
 * removed.
 */
export function readRecords(directory: string, bootId: string): ProcessGroup[] {
  const groups: ProcessGroup[] = [];
  for (const name of readdirSync(directory)) {
    const group = readRecord(join(directory, name));
    if (group?.bootId === bootId && group.startTime !== undefined) groups.push(group);
    else rmSync(join(directory, name), { force: true });
  }
  return groups;
}

function recordPath(directory: string, group: ProcessGroup): string {
  return join(directory, `${group.leader}-${group.startTime ?? 'unknown'}.json`);
}

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
  const texts = [record.sandboxId, record.startTime, record.bootId].every((field) => typeof field === 'string');
  return texts && Number.isSafeInteger(record.leader) && Number(record.leader) > 1;
}
