/** Runs the command line in a process that it does not own: returns the exit code and never exits. */

import { type Command, CommanderError } from 'commander';
import { packageVersion } from '../client/package-version.js';
import type { Config } from '../config.js';
import { SandflowError } from '../errors/sandflow-error.js';
import { withoutSecrets } from '../errors/without-secrets.js';
import type { JobError } from '../protocol/job/job-result.js';
import type { CommandContext } from './command.js';
import { type Failure, failureOf, plainError } from './errors.js';
import { exitCodes } from './exit-codes.js';
import type { CliIo } from './io.js';
import { type Located, locate, namedIn } from './located.js';
import { requireMeantValues } from './meant-values.js';
import { emptyReport } from './output/job-report.js';
import { printJson } from './output/json.js';
import { createPaint, createTerminal } from './output/terminal.js';
import { headLine, setIn } from './output/terminal-safe.js';
import { createProgram } from './program.js';
import { programName } from './program-name.js';

/**
 * @param args the arguments after the name of the program
 * @returns the exit code, one of `exitCodes`
 */
export async function runCli(args: readonly string[], given: CliIo): Promise<number> {
  const io: CliIo = {
    ...given,
    stdout: createTerminal(given.stdout, given.plainLines),
    stderr: createTerminal(given.stderr, given.plainLines),
    readConfig: async ({ checksHome = true } = {}) => {
      const config = await given.readConfig();
      if (checksHome) await refuseForeignHome(config);
      return config;
    },
    command: nameOf(args),
  };
  const context: CommandContext = { io, jobId: null, exitCode: exitCodes.done };
  let program: Command | undefined;
  try {
    program = createProgram(context, await packageVersion(), args[0]);
    requireMeantValues(locate(program, args).command, args);
    // Other command lines have `version` as a word.
    await program.parseAsync(args[0] === 'version' ? ['--version'] : [...args], { from: 'user' });
    return context.exitCode;
  } catch (error) {
    if (error instanceof CommanderError) {
      if (error.exitCode === 0) return exitCodes.done;
      const help = error.code === 'commander.help' || error.code === 'commander.helpDisplayed';
      const misplaced = program && error.code === 'commander.unknownCommand' && misplacedText(program, args);
      if (misplaced) report(args, context, plainError('bad_usage', misplaced));
      else if (!help) report(args, context, usageErrorOf(error, program && locate(program, args)));
      return exitCodes.usage;
    }
    const failure = io.interrupted.aborted ? interruptedFailure(context) : await namingDisk(failureOf(error), context);
    const isInternal = failure.exitCode === exitCodes.internal;
    const command = program ? namedIn(program, args) : programName;
    report(args, context, isInternal ? await withReport(failure.error, error, command) : failure.error);
    return failure.exitCode;
  }
}

/**
 * The owner of a home could put files and links into it. So its owner is checked before anything in it is read or
 * changed.
 */
async function refuseForeignHome({ home }: Config): Promise<void> {
  const { checkTrustedFolder } = await import('../os/trusted-folder.js');
  await checkTrustedFolder({ path: home, setting: 'SANDFLOW_HOME' }).catch((error: unknown) => {
    // If the home cannot be entered, nothing can be read from it. If everything is configured, a command does not need
    // it.
    const { code } = ((error instanceof SandflowError && error.cause) || {}) as { readonly code?: unknown };
    if (code !== 'EACCES' && code !== 'ENOTDIR') throw error;
  });
}

/** After Ctrl-C, any error counts as the interruption. */
function interruptedFailure({ undone }: CommandContext): Failure {
  const message = undone === undefined ? 'Interrupted.' : `Interrupted. This command has ${undone}.`;
  return { exitCode: exitCodes.detached, error: plainError('interrupted', message) };
}

/** Errors because of a full disk rarely say so. Adds the name of the disk, and how to continue. */
async function namingDisk(failure: Failure, { io, jobId }: CommandContext): Promise<Failure> {
  const { exitCode, error } = failure;
  const isOwn = error.code === 'disk_full';
  if (exitCode === exitCodes.usage || exitCode === exitCodes.otherOutcome) return failure;
  try {
    const { fullDiskText } = await import('./connect/full-disk.js');
    const full = isOwn ? error.message : await fullDiskText(await io.readConfig());
    if (full === undefined) return failure;
    const next = jobId === null ? '' : ` The job keeps its state; then: ${programName} jobs watch ${jobId}`;
    const message = isOwn
      ? `${full}${next}`
      : `${full} Free some space there, then try again.${next} (${error.message})`;
    return { exitCode: exitCodes.unreachable, error: { ...error, code: 'disk_full', message } };
  } catch {
    return failure;
  }
}

/** Adds to the message a request for a bug report, with the version, the command and the stack. No secret is in it. */
async function withReport(error: JobError, thrown: unknown, command: string): Promise<JobError> {
  const stack = thrown instanceof Error ? (thrown.stack ?? thrown.message) : String(thrown);
  const entry = `${command}, version ${await packageVersion()}\n${withoutSecrets(stack)}`;
  const message = `Unexpected error: ${error.message}\nThis is a bug in sandflow. Please report it, with this:\n${entry}`;
  return { ...error, message };
}

/** The leading words that look like the names of commands. A prompt or a path is no name. */
function nameOf(args: readonly string[]): string {
  const end = args.findIndex((arg) => !/^[a-z][a-z-]{0,19}$/.test(arg));
  return args.slice(0, Math.min(2, end < 0 ? args.length : end)).join(' ');
}

function report(args: readonly string[], { io, jobId }: CommandContext, error: JobError): void {
  io.stderr.write(`${createPaint(io.stderr)('red', 'error:')} ${setIn(error.message)}\n`);
  if (!asksForJson(args)) return;
  printJson(io.stdout, isAboutOneJob(args) ? emptyReport(jobId, error) : { error });
}

/** True if the arguments ask for JSON, also if they cannot be parsed. */
function asksForJson(args: readonly string[]): boolean {
  const end = args.indexOf('--');
  return (end < 0 ? args : args.slice(0, end)).includes('--json');
}

function isAboutOneJob(args: readonly string[]): boolean {
  const words = args.filter((arg) => !arg.startsWith('-'));
  return words[0] === 'run' || (words[0] === 'jobs' && (words[1] === 'show' || words[1] === 'watch'));
}

function usageErrorOf(error: CommanderError, at: Located | undefined): JobError {
  const name = at?.name ?? programName;
  const text = /^error: unknown option '(-[^=\s]*\s.*)'/s.exec(error.message)?.[1];
  if (text !== undefined) {
    const message = `"${headLine(text)}" begins with a dash, as an option. If it is a text, put -- before it: ${name} … -- TEXT`;
    return plainError('bad_usage', message);
  }
  const message = error.message.replace(/^error: /, '').replace(/\n/g, ' ');
  const sentence = `${message.charAt(0).toUpperCase()}${message.slice(1)}${/[.?)]$/.test(message) ? '' : '.'}`;
  return plainError('bad_usage', `${sentence} See ${name} --help.`);
}

/** Words of other command lines. */
const synonyms: Readonly<Record<string, string>> = {
  ps: 'list',
  ls: 'list',
  rm: 'cancel',
  kill: 'cancel',
  retry: 'rerun',
};
/** The commands with the most of such words come first. */
const mostLikely = ['jobs', 'fanout'];

/**
 * Names the command that a first word belongs to: other command lines have `logs` and `ps` at the top.
 * @returns undefined if no command has the first word as a subcommand
 */
function misplacedText(program: Command, args: readonly string[]): string | undefined {
  const [word = '', ...rest] = args;
  if (program.commands.some((command) => command.name() === word)) return undefined;
  const name = synonyms[word] ?? word;
  const having = program.commands.filter(({ commands }) => commands.some((one) => one.name() === name));
  if (having.length === 0) return undefined;
  const rank = (command: Command) => mostLikely.indexOf(command.name()) + 1 || mostLikely.length + 1;
  const given = [name, ...rest.slice(0, 1).filter((arg) => /^[\w-]+$/.test(arg))].join(' ');
  const meant = having
    .toSorted((a, b) => rank(a) - rank(b))
    .map((command) => `${programName} ${command.name()} ${given}`);
  return `Unknown command '${word}'. Did you mean: ${meant.slice(0, 2).join(', or ')}?`;
}
