/**
 * Reads the command that a schedule runs: with the declarations and the checks of that command itself. Loads no heavy
 * module, so that a mistake is answered at once.
 */

import { Command, CommanderError } from 'commander';
import { type CleanupPolicy, withOpenWindows } from '../../retention/index.js';
import { declareCleanup, declareRun as declareCleanupRun } from '../cleanup/options.js';
import { readPolicyFile } from '../cleanup/policy-file.js';
import { type CommandContext, type Parent, withEnd } from '../command.js';
import { applyDefaults } from '../config/apply-defaults.js';
import { declareFanout, type FanoutOptions } from '../fanout/options.js';
import type { FanoutCommand } from '../fanout/read-fanout.js';
import { locate } from '../located.js';
import { requireMeantValues } from '../meant-values.js';
import { programName } from '../program-name.js';
import { declareRun, type RunOptions } from '../run/options.js';
import type { RunCommand } from '../run/read-run.js';
import { declareStops, declareSweep } from '../stops/options.js';
import { UsageError } from '../usage-error.js';

/** What the words of a command say, checked. */
export type ReadCommand =
  | { readonly kind: 'job'; readonly read: RunCommand; readonly options: RunOptions }
  | { readonly kind: 'batch'; readonly read: FanoutCommand; readonly options: FanoutOptions }
  | { readonly kind: 'cleanup'; readonly policy: CleanupPolicy };

/** They name one run, or watch it: a schedule does neither. By their names in the parser. */
const refused: Readonly<Record<string, string>> = {
  id: '--id',
  again: '--again',
  reuse: '--reuse',
  detach: '--detach',
  watchDeadline: '--watch-deadline',
  dryRun: '--dry-run',
  out: '--out',
  all: '--all',
  json: '--json',
  quiet: '--quiet',
};

const whatRuns = 'A schedule runs `run`, `fanout`, `cleanup run` or `stops sweep`.';

/**
 * @param words the words after `--`, such as `run`, `task.md`
 * @throws UsageError, and what the command itself throws
 */
export async function readCommand(words: readonly string[], context: CommandContext): Promise<ReadCommand> {
  if (words.length === 0) {
    throw new UsageError(
      `No command given. Write it after --, like: ${programName} schedule add nightly --cron "30 2 * * *" -- run task.md`,
    );
  }
  const { io } = context;
  let read: ReadCommand | undefined;
  const program = new Command('sandflow').exitOverride().configureOutput({ outputError: () => undefined });
  const parent = program as unknown as Parent;
  declareRun(parent).action(async (prompts, options) => {
    requireNoPlace(options.get, 'jobs watch JOB');
    const { readRun } = await import('../run/read-run.js');
    read = { kind: 'job', read: await readRun(prompts, withEnd(options), io), options: withEnd(options) };
  });
  declareFanout(parent).action(async (items, options) => {
    requireNoPlace(options.get, 'fanout watch BATCH');
    const { readFanout } = await import('../fanout/read-fanout.js');
    read = { kind: 'batch', read: await readFanout(items, withEnd(options), io), options: withEnd(options) };
  });
  declareCleanupRun(declareCleanup(parent)).action(async (path, { ignoreWindow }) => {
    const policy = await readPolicyFile(path, io);
    read = { kind: 'cleanup', policy: ignoreWindow ? withOpenWindows(policy) : policy };
  });
  declareSweep(declareStops(parent)).action(async (options) => {
    const { readSweep } = await import('../stops/sweep-stops.js');
    read = { kind: 'cleanup', policy: readSweep(options) };
  });
  applyDefaults(program, context);
  program.hook('preAction', (_, command) => {
    const given = Object.keys(refused).find((name) => command.getOptionValueSource(name) === 'cli');
    if (given === undefined) return;
    throw new UsageError(`A schedule cannot run a command with ${refused[given]}. Leave it out.`);
  });
  try {
    requireMeantValues(locate(program, words).command, words);
    await program.parseAsync([...words], { from: 'user' });
  } catch (error) {
    // Commander has printed the help that was asked for.
    if (!(error instanceof CommanderError) || error.exitCode === 0) throw error;
    const why = error.message.replace(/^error: /, '');
    const sentence = /[.?)]$/.test(why) ? why : `${why}.`;
    throw new UsageError(`The command of the schedule: ${sentence} ${whatRuns}`);
  }
  if (!read) throw new UsageError(whatRuns);
  return read;
}

/** A run of a schedule has no machine on which it could save a file. */
function requireNoPlace(gets: readonly string[], watch: string): void {
  const get = gets.find((one) => one.includes(':'));
  if (get === undefined) return;
  throw new UsageError(
    `--get ${get}: a schedule saves no files on this machine. Name only the file of the sandbox; \`${programName} ${watch} --get ${get}\` saves it.`,
  );
}
