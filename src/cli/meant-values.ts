/**
 * Refuses option values that are probably mistakes: an empty value, a name as long as a text, and a separate word after an option with an
 * optional value. Such a word could also be a prompt or a file, so an optional value must follow `=`.
 */
import type { Command, Option } from 'commander';
import { headLine } from './output/terminal-safe.js';
import { UsageError } from './usage-error.js';

/** The value of such an option is a name, and no more than the longest that the service and Temporal take. */
const takesName = /<(?:name|names|id|snapshot|title)>$/;
const longestName = 200;
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the characters that are refused
const isControlled = /[\u0000-\u001f\u007f-\u009f]/;

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
      if (next !== undefined) requireName(option, flag, next);
    } else if (option?.optional && next !== undefined && (next === '-' || !next.startsWith('-'))) {
      refuse(flag, next);
    } else if (flag.startsWith('--') && flag.includes('=')) {
      const at = flag.indexOf('=');
      const [name, value] = [flag.slice(0, at), flag.slice(at + 1)];
      const joined = options.get(name);
      if (joined?.required && value === '') refuseEmpty(name);
      if (joined?.required) requireName(joined, name, value);
    }
  }
}

/** An empty value is usually a mistake: a variable of a script was not set. */
function refuseEmpty(flag: string): never {
  throw new UsageError(`${flag} has an empty value. Give it a value, or leave it out.`);
}

/** Otherwise a check of the input would refuse it, which knows its field and not its option. */
function requireName({ flags }: Option, flag: string, value: string): void {
  if (!takesName.test(flags)) return;
  const names = flags.endsWith('<names>') ? value.split(',') : [value];
  const longest = Math.max(...names.map(({ length }) => length));
  if (longest > longestName) {
    throw new UsageError(`${flag} has ${longest} characters, but a name has at most ${longestName}.`);
  }
  if (isControlled.test(value)) throw new UsageError(`${flag} has control characters. Leave them out.`);
}

function refuse(flag: string, next: string): never {
  const value = plainValue.test(next) ? next : 'FOLDER';
  throw new UsageError(
    `${flag}: "${headLine(next)}" could be its folder, or a prompt or a file. Write ${flag}=${value} for a folder. Put prompts and files before ${flag}.`,
  );
}
