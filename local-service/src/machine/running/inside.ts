/** The processes of a running sandbox, with the numbers that they have inside. */
import { readFileSync } from 'node:fs';
import { type ProcessEntry, readProcessTable } from '../processes/table.js';

export interface InsideEntry extends ProcessEntry {
  /** The numbers inside the sandbox. */
  readonly inside: InsideNumbers;
}

interface InsideNumbers {
  readonly pid: number;
  readonly processGroup: number;
  readonly session: number;
}

/** The numbers inside of a process of a sandbox. Undefined if it has ended, or is in no process namespace of its own. */
function numbersInside(pid: number): InsideNumbers | undefined {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'latin1');
    // The first number of each line is that of this machine.
    const inside = /^NSpid:\t\d+\t(\d+)/m.exec(status)?.[1];
    const processGroup = /^NSpgid:\t\d+\t(\d+)/m.exec(status)?.[1];
    const session = /^NSsid:\t\d+\t(\d+)/m.exec(status)?.[1];
    if (inside === undefined) return undefined;
    return { pid: Number(inside), processGroup: Number(processGroup), session: Number(session) };
  } catch {
    return undefined;
  }
}

/**
 * Parents come before their children.
 * @param monitor the process outside that started the sandbox; all processes of the sandbox descend from it
 * @param table the processes of this machine; by default, they are read
 */
export function processesInside(monitor: number, table = readProcessTable() ?? []): InsideEntry[] {
  const children = new Map<number, ProcessEntry[]>();
  for (const entry of table) {
    const siblings = children.get(entry.parentPid);
    if (siblings) siblings.push(entry);
    else children.set(entry.parentPid, [entry]);
  }
  const found: InsideEntry[] = [];
  const parents = [monitor];
  for (let parent = parents.pop(); parent !== undefined; parent = parents.pop()) {
    for (const entry of children.get(parent) ?? []) {
      const inside = numbersInside(entry.pid);
      if (inside) found.push({ ...entry, inside });
      parents.push(entry.pid);
    }
  }
  return found;
}
