/**
 * Refuses option values that are probably mistakes: an empty value, as of a variable that a script did not set, and a
 * separate word after an option with an optional value: a run took its prompt for the folder of --get-diff.
 */
import type { Command } from 'commander';
import { headLine } from './output/terminal-safe.js';
import { UsageError } from './usage-error.js';

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
      if (next === '') refuseEmpty(flag);
    } else if (option?.optional && next !== undefined && (next === '-' || !next.startsWith('-'))) {
      refuse(flag, next);
    } else if (flag.startsWith('--') && flag.includes('=')) {
      const at = flag.indexOf('=');
      const name = flag.slice(0, at);
      if (options.get(name)?.required && at === flag.length - 1) refuseEmpty(name);
    }
  }
}

/** An empty value is usually a mistake: a variable of a script was not set. */
function refuseEmpty(flag: string): never {
  throw new UsageError(`${flag} has an empty value. Give it a value, or leave it out.`);
}

function refuse(flag: string, next: string): never {
  const value = plainValue.test(next) ? next : 'FOLDER';
  throw new UsageError(
    `${flag}: "${headLine(next)}" could be its folder, or a prompt or a file. Write ${flag}=${value} for a folder. Put prompts and files before ${flag}.`,
  );
}
