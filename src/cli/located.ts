/** Finds the command that a command line names. */
import type { Command } from 'commander';
import { programName } from './program-name.js';

export type Located = ReturnType<typeof locate>;

/**
 * @returns the innermost command that exists; its full name as the user called it, like `sandflow jobs show`; and the
 *   first word after it, undefined if there is none, or if it is an option
 */
export function locate(program: Command, args: readonly string[]) {
  let command = program;
  let name = programName;
  for (const [index, arg] of args.entries()) {
    const next = visibleCommands(command).find((one) => one.name() === arg);
    if (!next) return { command, name, word: args[index]?.startsWith('-') ? undefined : arg };
    command = next;
    name = `${name} ${next.name()}`;
  }
  return { command, name, word: undefined };
}

/** The command and the options that a command line names, without their values: these hold prompts and secrets. */
export function namedIn(program: Command, args: readonly string[]): string {
  const { command, name } = locate(program, args);
  const flags = command.options.flatMap(({ long, short }) => [long, short]);
  const end = args.indexOf('--');
  const given = (end < 0 ? args : args.slice(0, end)).map((arg) => arg.replace(/^(--[a-z-]+)=.*$/s, '$1'));
  return [name, ...given.filter((arg) => flags.includes(arg))].join(' ');
}

export function visibleCommands(command: Command): readonly Command[] {
  return command.createHelp().visibleCommands(command);
}
