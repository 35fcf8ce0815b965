/** What runs on this machine, read from /proc. Where there is no /proc, nothing is known. */
import { readdirSync, readFileSync } from 'node:fs';

export interface ProcessEntry {
  readonly pid: number;
  readonly parentPid: number;
  readonly processGroup: number;
  readonly session: number;
  /** In clock ticks since the machine started: with the pid it names one process and no later one. */
  readonly startTime: string;
  /** CPU time it has used itself, in clock ticks. */
  readonly cpuTicks: number;
}

/** All processes but those that have ended and only wait to be collected. Undefined if there is no /proc. */
export function readProcessTable(): readonly ProcessEntry[] | undefined {
  let names: string[];
  try {
    names = readdirSync('/proc');
  } catch {
    return undefined;
  }
  if (!names.includes('self')) return undefined;
  const entries: ProcessEntry[] = [];
  for (const name of names) {
    const entry = /^\d+$/.test(name) ? readProcess(Number(name)) : undefined;
    if (entry) entries.push(entry);
  }
  return entries;
}

/** Also of a process that has ended and was not collected yet. */
export function readStartTime(pid: number): string | undefined {
  return readStat(pid)?.startTime;
}

function readProcess(pid: number): ProcessEntry | undefined {
  const stat = readStat(pid);
  return stat === undefined || stat.state === 'Z' || stat.state === 'X' ? undefined : stat;
}

function readStat(pid: number): (ProcessEntry & { readonly state: string | undefined }) | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return undefined;
  }
  // The name of the program comes first, in brackets, and may itself hold brackets and spaces.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const [state, parentPid, processGroup, session] = fields;
  const startTime = fields[19];
  if (startTime === undefined) return undefined;
  return {
    pid,
    parentPid: Number(parentPid),
    processGroup: Number(processGroup),
    session: Number(session),
    startTime,
    cpuTicks: Number(fields[11]) + Number(fields[12]),
    state,
  };
}

/** The value of a variable that a process was started with. Undefined if it had none or cannot be read. */
export function startVariable(pid: number, name: string): string | undefined {
  try {
    const variables = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
    return variables.find((variable) => variable.startsWith(`${name}=`))?.slice(name.length + 1);
  } catch {
    return undefined;
  }
}

/** Changes with each start of the machine. Empty if there is no /proc. */
export function readBootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '';
  }
}
