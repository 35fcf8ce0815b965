/** Reads the processes of this machine from /proc. Without /proc, nothing is known about them. */
import { readdirSync, readFileSync } from 'node:fs';

export interface ProcessEntry {
  readonly pid: number;
  readonly parentPid: number;
  readonly processGroup: number;
  readonly session: number;
  /**
   * In clock ticks since the machine started. Together, pid and start time identify a process; no later one has both.
   */
  readonly startTime: string;
  /** CPU time that the process itself has used, without its children, in clock ticks. */
  readonly cpuTicks: number;
}

/** `PF_KTHREAD` */
const kernelThread = 0x0020_0000;

/** All processes except zombies and threads of the kernel. Undefined if there is no /proc. */
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

/** The start time of a process, even if it is a zombie. Undefined if there is no such process, or no /proc. */
export function readStartTime(pid: number): string | undefined {
  return readStat(pid)?.startTime;
}

function readProcess(pid: number): ProcessEntry | undefined {
  const stat = readStat(pid);
  return stat === undefined || stat.state === 'Z' || stat.state === 'X' || stat.isOfKernel ? undefined : stat;
}

function readStat(
  pid: number,
): (ProcessEntry & { readonly state: string | undefined; readonly isOfKernel: boolean }) | undefined {
  let stat: string;
  try {
    stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
  } catch {
    return undefined;
  }
  // The second field is the program's name in brackets, which may itself hold brackets and spaces.
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
    isOfKernel: (Number(fields[6]) & kernelThread) !== 0,
  };
}

/** The value of a variable with which a process was started. Undefined if it was not set or cannot be read. */
export function startVariable(pid: number, name: string): string | undefined {
  try {
    const variables = readFileSync(`/proc/${pid}/environ`, 'utf8').split('\0');
    return variables.find((variable) => variable.startsWith(`${name}=`))?.slice(name.length + 1);
  } catch {
    return undefined;
  }
}

/** The id of this start of the machine; it changes with each start. Empty if there is no /proc. */
export function readBootId(): string {
  try {
    return readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim();
  } catch {
    return '';
  }
}
