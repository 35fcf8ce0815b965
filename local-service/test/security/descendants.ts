/** What descends from a process, as `pid start-time`. */
import { readProcessTable, readStartTime } from '../../src/machine/processes/table.js';

export function descendantsOf(pid: number): string[] {
  const table = readProcessTable() ?? [];
  const found = new Set([pid]);
  for (let size = 0; size !== found.size; ) {
    size = found.size;
    for (const entry of table) if (found.has(entry.parentPid)) found.add(entry.pid);
  }
  return table.filter((entry) => found.has(entry.pid)).map((entry) => `${entry.pid} ${entry.startTime}`);
}

export function isAlive(process: string): boolean {
  const [pid, startTime] = process.split(' ');
  return readStartTime(Number(pid)) === startTime;
}
