/**
 * Refuses option values that are probably mistakes: an empty value, as of a variable that a script did not set, a path
 * such as `~/x`, which no shell expands after `=`, and a separate word after an option with an optional value: a run took
 * its prompt for the folder of --get-diff.
 */
import type { Command, Option } from 'commander';
import { unexpandedPath } from '../settings/mistaken-text.js';
import { headLine } from './output/terminal-safe.js';
import { UsageError } from './usage-error.js';

/** How declarations call a value that is a path of this machine. */
const isPath = /<(?:file|folder|path)>$/;
const plainValue = /^[\w./][\w.,:/@+-]{0,79}$/;

/**
 * @param command the command that `args` name
 * @throws UsageError
 */
export function requireMeantValues(command: Command, args: readonly string[]): void {
  const options = new Map(
    command.options.flatMap((option) => [option.long, option.short].map((flag) => [flag, option] as const)),
  );
  for (let index = 0; index < args.length; index += 1) {
    const flag = args[index] ?? '';
    const next = args[index + 1];
    if (flag === '--') return;
    const option = options.get(flag);
    // For the parser, a required value with brackets in its name, `<remote[:local]>`, is optional, too.
    if (option?.required) {
      index += 1;
      if (next !== undefined) requireValue(option, flag, next);
    } else if (option?.optional && next !== undefined && (next === '-' || !next.startsWith('-'))) {
      refuse(flag, next);
    } else if (flag.startsWith('--') && flag.includes('=')) {
      const at = flag.indexOf('=');
      const joined = options.get(flag.slice(0, at));
      if (joined?.required) requireValue(joined, flag.slice(0, at), flag.slice(at + 1));
    }
  }
}

function requireValue({ flags }: Option, flag: string, value: string): void {
  if (value === '') throw new UsageError(`${flag} has an empty value. Give it a value, or leave it out.`);
  const problem = isPath.test(flags) ? unexpandedPath(value) : undefined;
  if (problem !== undefined) throw new UsageError(`${flag} ${problem}.`);
}

function refuse(flag: string, next: string): never {
  const value = plainValue.test(next) ? next : 'FOLDER';
  throw new UsageError(
    `${flag}: "${headLine(next)}" could be its folder, or a prompt or a file. Write ${flag}=${value} for a folder. Put prompts and files before ${flag}.`,
  );
}
