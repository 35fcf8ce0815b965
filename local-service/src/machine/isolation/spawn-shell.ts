/** Spawns a shell, or the first program of a sandbox, with its descriptors. */
import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { Duplex, Writable } from 'node:stream';
import { shortageOf, startProgram } from '../../../../src/os/start-program.js';
import { MachineError } from '../machine-error.js';
import { endPlaceholders, inheritedDescriptors, withPlaceholders } from './inherited-descriptors.js';

interface ShellCall {
  /** Absolute. */
  readonly file: string;
  readonly args: readonly string[];
  /** The working directory of the program, as a path outside the sandbox. */
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** True if the program is a shell that reports its start on `startDescriptor`, and waits for an answer. */
  readonly reportsStart?: boolean;
  /** Written to descriptor 5, which the program reads before it does anything else. */
  readonly descriptor5?: Buffer;
}

/** The descriptor on which a shell reports its start and reads that it may continue. */
export const startDescriptor = 4;
const startWord = 'go\n';
const lastDescriptor = 5;

/** @throws MachineError `bad_command`, `isolation_unavailable` */
export function spawnShell(call: ShellCall): ChildProcessWithoutNullStreams {
  const { file, args, cwd, env, reportsStart = false, descriptor5 } = call;
  const pipeIf = (isUsed: boolean) => (isUsed ? 'pipe' : 'ignore');
  let inherited: readonly number[] = [];
  let child: ChildProcessWithoutNullStreams;
  try {
    inherited = inheritedDescriptors(lastDescriptor);
    const own = ['pipe', 'pipe', 'pipe', 'ignore', pipeIf(reportsStart), pipeIf(descriptor5 !== undefined)] as const;
    const stdio = withPlaceholders(own, inherited);
    child = startProgram(file, args, { cwd, env, detached: true, stdio }) as ChildProcessWithoutNullStreams;
  } catch (cause) {
    const reason = shortageOf(cause) ?? aboveLimit(cause, inherited);
    if (reason) throw new MachineError('isolation_unavailable', `No shell can be started: ${reason}.`, { cause });
    throw new MachineError('bad_command', 'The command or its environment cannot be passed to a shell.', { cause });
  }
  endPlaceholders(child, inherited);
  give(child.stdio[lastDescriptor as 3], descriptor5);
  giveStartWord(child.stdio[startDescriptor]);
  return child;
}

/** The system has no room above a descriptor at the limit to put the pipes of the child there for a moment. */
function aboveLimit(cause: unknown, inherited: readonly number[]): string | undefined {
  const last = inherited.at(-1);
  if (last === undefined || !(cause instanceof Error && 'code' in cause && cause.code === 'EINVAL')) return undefined;
  return `the service was started with descriptor ${last}, above its limit of open files: raise it (\`ulimit -n\`), or close the descriptor (\`${last}>&-\`)`;
}

function give(channel: unknown, content: Buffer | undefined): void {
  if (!(channel instanceof Writable)) return;
  // If the program has not started, its own error says so.
  channel.on('error', () => undefined);
  channel.end(content);
}

/** Answers the shell once it has reported its start; see `awaitWord` in `plain-shell.ts`. */
function giveStartWord(channel: unknown): void {
  if (!(channel instanceof Duplex)) return;
  // A shell that ended before it reported its start needs no answer.
  channel.on('error', () => undefined);
  channel.once('data', () => channel.end(startWord));
}
