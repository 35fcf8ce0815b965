/** Reads the command lines of processes. */
import { readFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { createPatientReads } from './patient-reads.js';

const maxCommandCharacters = 2_000;

const readPatiently = createPatientReads();

/**
 * The program and its arguments of each process that has not ended. A process gives its name in brackets if it has no
 * command line, or if its command line could not be read in time.
 */
export async function readCommandLines(pids: readonly number[]): Promise<ReadonlyMap<number, string>> {
  const lines = await readPatiently(pids, async (pid) => commandText(await readStart(`/proc/${pid}/cmdline`)));
  return new Map(
    pids.flatMap((pid) => {
      const name = nameOf(pid);
      return name === undefined ? [] : [[pid, lines.get(pid) || `[${name}]`] as const];
    }),
  );
}

/** Puts spaces between the arguments and bounds the length. */
export function commandText(command: string): string {
  return command.replaceAll('\0', ' ').trim().slice(0, maxCommandCharacters);
}

/** Undefined if the process has ended. */
function nameOf(pid: number): string | undefined {
  try {
    return readFileSync(`/proc/${pid}/comm`, 'utf8').trim();
  } catch {
    return undefined;
  }
}

/** Reads only the start of the file, because the arguments of a process may be megabytes long. */
async function readStart(path: string): Promise<string> {
  const file = await open(path, 'r');
  const { buffer, bytesRead } = await file.read(Buffer.alloc(4 * maxCommandCharacters)).finally(() => file.close());
  return buffer.toString('utf8', 0, bytesRead);
}
