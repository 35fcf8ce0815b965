/** Options that name a path. A shell expands `~` only where it begins a word, not after `=` and not in a list of a file. */
import type { Command } from 'commander';
import { UsageError } from './usage-error.js';

/** How declarations call a value that is a path of this machine. */
const isPath = /<(?:file|folder|path)>$/;

/** @throws UsageError, before any command, for a path that begins with `~`: it would be a folder of that name */
export function refuseHomeMarks(program: Command): void {
  program.hook('preAction', (_, command) => {
    for (const option of command.options.filter(({ flags }) => isPath.test(flags))) {
      const value: unknown = command.getOptionValue(option.attributeName());
      if (typeof value !== 'string' || !value.startsWith('~')) continue;
      throw new UsageError(
        `${option.long} begins with ~, which no shell has expanded here. Write the whole path, or put a blank instead of = before it.`,
      );
    }
  });
}
