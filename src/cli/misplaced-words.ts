/** Names the command that a first word belongs to: other command lines have `logs` and `ps` at the top. */
import type { Command } from 'commander';
import { programName } from './program-name.js';

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

/** @returns undefined if no command has the first word as a subcommand */
export function misplacedText(program: Command, args: readonly string[]): string | undefined {
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
