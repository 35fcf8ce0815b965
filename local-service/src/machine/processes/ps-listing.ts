/** Lists processes with the system's `ps`, if there is no /proc. */
import { runProgram } from '../program.js';
import { commandText } from './command-lines.js';
import { tenths } from './details.js';
import type { ProcessGroup } from './records.js';

export interface SandboxProcess {
  /** The pid on the machine, which differs from the pid inside the sandbox. */
  readonly pid: number;
  /** The first 2,000 characters of the program and its arguments, separated by spaces. */
  readonly command: string;
  /** 0 if the parent is not a process of the sandbox. */
  readonly parentPid: number;
  /**
   * The user as which the process runs, as `ps` in the sandbox names it: a name, or the number of a user without one.
   */
  readonly user: string;
  /** The CPU time divided by the lifetime; 100 is one core. */
  readonly cpuPercent: number;
  /** Resident memory, in MiB. */
  readonly memoryMB: number;
  /** ISO 8601, UTC, by the machine's own clock, not by the clock that tests move. */
  readonly startedAt: string;
  /** The age of the process, in milliseconds, for a service whose clock differs from that of the machine. */
  readonly ageMs: number;
  /** The id of the command that started the process; null if unknown. */
  readonly commandId: string | null;
}

const fields = ['pid', 'ppid', 'pgid', 'user', 'pcpu', 'rss', 'etime', 'lstart', 'args'];
/** The start time consists of five words, such as "Mon Jan  5 12:00:00 2026". */
const linePattern =
  /^\s*(\d+)\s+(\d+)\s+(\d+)\s+(\S+)\s+([\d.]+)\s+(\d+)\s+(\S+)\s+(\S+\s+\S+\s+\S+\s+\S+\s+\d+)\s+(.*)$/;

interface PsLine extends Omit<SandboxProcess, 'commandId'> {
  readonly processGroup: number;
}

/** The members of the groups and their descendants; empty if there is no `ps`. */
export async function listByPs(groups: readonly ProcessGroup[]): Promise<SandboxProcess[]> {
  const { stdout } = await runProgram('ps', ['-A', '-ww', ...fields.flatMap((field) => ['-o', `${field}=`])]);
  const lines = stdout.split('\n').flatMap((line) => parseLine(line) ?? []);
  const commandIds = new Map<number, string | null>();
  for (const { pid, processGroup } of lines) {
    const group = groups.find(({ leader }) => leader === processGroup);
    if (group) commandIds.set(pid, group.commandId ?? null);
  }
  for (let size = -1; size !== commandIds.size; ) {
    size = commandIds.size;
    for (const { pid, parentPid } of lines) {
      const inherited = commandIds.get(parentPid);
      if (inherited !== undefined && !commandIds.has(pid)) commandIds.set(pid, inherited);
    }
  }
  return lines.flatMap(({ processGroup: _, ...line }) => {
    const commandId = commandIds.get(line.pid);
    if (commandId === undefined) return [];
    return [{ ...line, parentPid: commandIds.has(line.parentPid) ? line.parentPid : 0, commandId }];
  });
}

function parseLine(text: string): PsLine | undefined {
  const [, pid, parentPid, processGroup, user, cpu, memory, age, start, command] = linePattern.exec(text) ?? [];
  if (start === undefined || age === undefined) return undefined;
  return {
    pid: Number(pid),
    parentPid: Number(parentPid),
    processGroup: Number(processGroup),
    user: user ?? '',
    cpuPercent: Number(cpu),
    memoryMB: tenths(Number(memory) / 1024),
    startedAt: new Date(start).toISOString(),
    ageMs: elapsedMs(age),
    command: commandText(command ?? ''),
  };
}

/** From "[[days-]hours:]minutes:seconds". */
function elapsedMs(text: string): number {
  const [days, time] = text.includes('-') ? text.split('-') : ['0', text];
  const seconds = (time ?? '').split(':').reduce((sum, part) => sum * 60 + Number(part), 0);
  return (Number(days) * 86_400 + seconds) * 1000;
}
