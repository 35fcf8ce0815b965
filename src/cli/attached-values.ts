/** Options whose value may be left out take it only after `=`: a word that follows could as well be a prompt or a file. */
import type { Command } from 'commander';
import { headLine } from './output/terminal-safe.js';
import { UsageError } from './usage-error.js';

const plainValue = /^[\w./][\w.,:/@+-]{0,79}$/;

/**
 * @param command the command that `args` mean
 * @throws UsageError if a word follows such an option
 */
export function requireAttachedValues(command: Command, args: readonly string[]): void {
  const options = new Map(
    command.options.flatMap((option) => [option.long, option.short].map((flag) => [flag, option] as const)),
  );
  for (let index = 0; index < args.length; index += 1) {
    const flag = args[index] ?? '';
    const next = args[index + 1];
    if (flag === '--') return;
    const option = options.get(flag);
    // For the parser, a required value with brackets in its name, `<remote[:local]>`, is optional, too.
    if (option?.required) index += 1;
    else if (option?.optional && next !== undefined && (next === '-' || !next.startsWith('-'))) refuse(flag, next);
  }
}

function refuse(flag: string, next: string): never {
  const value = plainValue.test(next) ? next : 'FOLDER';
  throw new UsageError(
    `${flag}: "${headLine(next)}" could be its folder, or a prompt or a file. Write ${flag}=${value} for a folder. Put prompts and files before ${flag}.`,
  );
}
