/** Checks an invocation in a document against the grammar of the command line. */
import type { Command } from 'commander';
import type { CommandContext } from '../../../src/cli/command.js';
import type { CliIo } from '../../../src/cli/io.js';
import { createProgram } from '../../../src/cli/program.js';

const silent = { write: () => true };
const io: CliIo = {
  stdin: (async function* () {})(),
  stdout: silent,
  stderr: silent,
  cwd: '/',
  main: { command: 'node', args: [] },
  readConfig: () => Promise.reject(new Error('a document needs no settings')),
  interrupted: new AbortController().signal,
};

/** @param word the first word of a command line; the program then has only its command */
export function program(word?: string): Command {
  const context: CommandContext = { io, jobId: null, exitCode: 0 };
  return createProgram(context, '0.0.0', word);
}

/** Every visible command with its full name, such as `jobs resolve`. */
export function commandNames(): string[] {
  const namesBelow = (parent: Command, prefix: string): string[] =>
    parent
      .createHelp()
      .visibleCommands(parent)
      .filter((command) => command.name() !== 'help')
      .flatMap((command) => {
        const name = `${prefix}${command.name()}`;
        // A command that only groups others has no options.
        const own = command.commands.length === 0 || command.options.length > 0 ? [name] : [];
        return [...own, ...namesBelow(command, `${name} `)];
      });
  return namesBelow(program(), '');
}

/** Every visible command that has subcommands, such as `jobs`. */
export function groupNames(): string[] {
  return [
    ...new Set(
      commandNames().flatMap((name) => name.split(' ').flatMap((_, end, words) => words.slice(0, end).join(' '))),
    ),
  ].filter(Boolean);
}

/** What is wrong with `sandflow <words>`: an unknown command or option, or a value that its option refuses. */
export function grammarProblems(given: readonly string[]): string[] {
  // What follows -- is the command that a schedule runs.
  const end = given.indexOf('--');
  if (given[0] === 'schedule' && end > 0) {
    return [...grammarProblems(given.slice(0, end)), ...grammarProblems(given.slice(end + 1))];
  }
  return problemsOf(given);
}

function problemsOf(words: readonly string[]): string[] {
  let command = program();
  let rest = [...words];
  for (let next = findIn(command, rest[0]); next; next = findIn(command, rest[0])) {
    command = next;
    rest = rest.slice(1);
  }
  const isGlobal = (word: string) => word === '--help' || word === '--version';
  if (command.parent === null && !rest.every(isGlobal)) return [`there is no command ${rest[0]}`];
  return rest.flatMap((word, index) => {
    if (!word.startsWith('--') || word === '--' || isGlobal(word)) return [];
    const [name = '', attached] = word.split('=', 2);
    const option = command.options.find(({ long }) => long === name);
    if (!option) return [`${command.name()} has no option ${word}`];
    const value = attached ?? rest[index + 1];
    const refused = option.argChoices && value !== undefined && !option.argChoices.includes(value);
    return refused ? [`${word} does not take ${value}`] : [];
  });
}

function findIn(parent: Command, name: string | undefined): Command | undefined {
  return parent.commands.find((command) => command.name() === name);
}
