/** Ends processes: SIGTERM, then SIGKILL after two seconds. Returns when they are gone. */
import { setTimeout as delay } from 'node:timers/promises';
import { MachineError } from '../machine-error.js';
import type { ProcessEntry } from './table.js';

export const defaultGraceMs = 2_000;
const giveUpMs = 15_000;
const pollMs = 15;

interface ProcessesToEnd {
  /**
   * Finds the processes that are left. It is called until there are none. Undefined if the machine has no process
   * table.
   */
  readonly find: () => readonly ProcessEntry[] | undefined;
  /** Leaders of the groups to end if there is no process table. */
  readonly groupsWithoutTable: readonly number[];
  /** Processes that get only SIGKILL. On SIGTERM, they would end all processes of their sandbox at once. */
  readonly monitors: ReadonlySet<number>;
}

export interface EndingOptions {
  /** Time between SIGTERM and SIGKILL. Default: 2 s. 0: SIGKILL only. */
  readonly graceMs?: number;
}

/** @throws MachineError `processes_remain` if some processes have not ended after 15 s */
export async function endProcessesMatching(
  processes: ProcessesToEnd,
  { graceMs = defaultGraceMs }: EndingOptions = {},
): Promise<void> {
  const startedAt = performance.now();
  const signalled = new Set<string>();
  for (;;) {
    const found = processes.find() ?? liveGroups(processes.groupsWithoutTable);
    if (found.length === 0) return;
    const elapsedMs = performance.now() - startedAt;
    if (elapsedMs > giveUpMs) {
      const pids = found.map((entry) => entry.pid).join(', ');
      throw new MachineError('processes_remain', `These processes are still running after SIGKILL: ${pids}.`);
    }
    for (const entry of found) {
      const key = `${entry.pid} ${entry.startTime}`;
      if (elapsedMs >= graceMs) signalProcess(entry.pid, 'SIGKILL');
      else if (!signalled.has(key) && !processes.monitors.has(entry.pid)) signalProcess(entry.pid, 'SIGTERM');
      signalled.add(key);
    }
    await delay(pollMs);
  }
}

/** A group stands for its members: a negative number signals all of them. */
function liveGroups(leaders: readonly number[]): ProcessEntry[] {
  return leaders
    .filter((leader) => signalProcess(-leader, 0))
    .map((leader) => ({
      pid: -leader,
      parentPid: 0,
      processGroup: leader,
      session: leader,
      startTime: '',
      cpuTicks: 0,
    }));
}

function signalProcess(pid: number, signal: NodeJS.Signals | 0): boolean {
  try {
    process.kill(pid, signal);
    return true;
  } catch {
    // The process has ended, or this user may not signal it. The next search shows which.
    return false;
  }
}
