/** Lists the processes of one sandbox. */
import { readCommandLines } from './command-lines.js';
import { processUse, readMachineTimes, readStatus } from './details.js';
import { listByPs, type SandboxProcess } from './ps-listing.js';
import type { ProcessGroup } from './records.js';
import { createProcessSearch, oneDisk } from './search.js';
import type { ProcessEntry } from './table.js';
import { readUserNames, userName } from './user-name.js';

export interface ProcessSample {
  /** At most 500, the busiest first. */
  readonly processes: readonly SandboxProcess[];
  /** The number of all processes, including those that `processes` leaves out. */
  readonly total: number;
}

const maxProcesses = 500;

/**
 * Lists the processes of a sandbox without isolation.
 * @param groups the process groups of the sandbox
 * @param disk the folder of the sandbox's disk
 */
export async function listProcesses(groups: readonly ProcessGroup[], disk: string): Promise<ProcessSample> {
  const table = createProcessSearch(groups, oneDisk(disk))();
  if (table === undefined) return cut(await listByPs(groups));
  const byPid = new Map(table.map((entry) => [entry.pid, entry]));
  return await sampleOf(table, (entry) => commandIdOf(entry, byPid, groups));
}

/** Reads what these processes do now. */
export async function sampleOf<Entry extends ProcessEntry>(
  entries: readonly Entry[],
  commandId: (entry: Entry) => string | null,
): Promise<ProcessSample> {
  const times = readMachineTimes();
  const pids = new Set(entries.map(({ pid }) => pid));
  const busiest = entries
    .map((entry) => ({ entry, use: processUse(entry, times) }))
    .sort((a, b) => b.use.cpuPercent - a.use.cpuPercent || a.entry.pid - b.entry.pid)
    .slice(0, maxProcesses);
  const names = readUserNames();
  const commands = await readCommandLines(busiest.map(({ entry }) => entry.pid));
  const processes: SandboxProcess[] = [];
  let ended = 0;
  for (const { entry, use } of busiest) {
    const [command, status] = [commands.get(entry.pid), readStatus(entry.pid)];
    if (command === undefined || status === undefined) {
      ended += 1;
      continue;
    }
    processes.push({
      pid: entry.pid,
      command,
      parentPid: pids.has(entry.parentPid) ? entry.parentPid : 0,
      user: userName(entry.pid, status.uid, names),
      cpuPercent: use.cpuPercent,
      memoryMB: status.memoryMB,
      startedAt: new Date(use.startedAtMs).toISOString(),
      ageMs: use.ageMs,
      commandId: commandId(entry),
    });
  }
  return { processes, total: entries.length - ended };
}

function cut(processes: readonly SandboxProcess[]): ProcessSample {
  const sorted = [...processes].sort((a, b) => b.cpuPercent - a.cpuPercent || a.pid - b.pid);
  return { processes: sorted.slice(0, maxProcesses), total: processes.length };
}

/**
 * The command id of the group or session of the process, or else of its nearest ancestor that is in one of `groups`.
 */
function commandIdOf(
  entry: ProcessEntry,
  byPid: ReadonlyMap<number, ProcessEntry>,
  groups: readonly ProcessGroup[],
): string | null {
  const seen = new Set<number>();
  for (let next: ProcessEntry | undefined = entry; next && !seen.has(next.pid); next = byPid.get(next.parentPid)) {
    const { pid, processGroup, session } = next;
    const group = groups.find(({ leader }) => leader === pid || leader === processGroup || leader === session);
    if (group) return group.commandId ?? null;
    seen.add(pid);
  }
  return null;
}
