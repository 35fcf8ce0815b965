/** What every command is handed, and how its exit code leaves it. */
import type { Command } from 'commander';
import type { CliIo } from './io.js';

export interface CommandContext {
  readonly io: CliIo;
  /** The job that the command is about, for the report of a failure. */
  jobId: string | null;
  exitCode: number;
}

/** Adds one command to its parent. Called at start-up: it imports nothing heavy; its action does. */
export type AddCommand = (parent: Command, context: CommandContext) => void;

/** Collects an option that may be given several times. */
export function collect(value: string, earlier: readonly string[]): readonly string[] {
  return [...earlier, value];
}
