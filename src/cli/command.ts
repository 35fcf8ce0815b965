/** What every command gets, and where it sets its exit code. */
import type { Command } from 'commander';
import type { CliIo } from './io.js';

export interface CommandContext {
  readonly io: CliIo;
  /** The job of the command, for error reports. */
  jobId: string | null;
  exitCode: number;
}

/** Adds one command to its parent. Runs at start-up, so only the command's action may import heavy modules. */
export type AddCommand = (parent: Command, context: CommandContext) => void;

/** Collects a repeatable option. */
export function collect(value: string, earlier: readonly string[]): readonly string[] {
  return [...earlier, value];
}
