/** A completion script. It holds every word, so that a shell starts no program to complete one. */
import type { Command } from 'commander';
import { visibleCommands } from '../located.js';
import { programName } from '../program-name.js';
import { UsageError } from '../usage-error.js';

/** What may follow the words of a command, such as ` jobs show`. */
interface Following {
  readonly at: string;
  readonly commands: readonly string[];
  readonly options: readonly string[];
}

/** @throws UsageError for a shell other than bash */
export function completionScript(program: Command, shell: string): string {
  if (shell !== 'bash') throw new UsageError(`There is no script for ${shell}. Use: ${programName} completion bash`);
  const all = followingOf(program, '');
  const subcommands = all.flatMap(({ at, commands }) => commands.map((name) => `'${at} ${name}'`));
  const cases = all.map(
    ({ at, commands, options }) => `    '${at}') words='${[...commands, ...options].join(' ')}' ;;`,
  );
  return `_sandflow() {
  local at='' word words=''
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    [ "$word" = -- ] && return
    case "$at $word" in
      ${subcommands.join('|')}) at="$at $word" ;;
    esac
  done
  case "$at" in
${cases.join('\n')}
  esac
  # Without a match, the shell completes the names of files.
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _sandflow sandflow
`;
}

function followingOf(command: Command, at: string): Following[] {
  const below = visibleCommands(command);
  const options = command.createHelp().visibleOptions(command);
  return [
    {
      at,
      commands: below.map((one) => one.name()),
      options: options.flatMap(({ long, short }) => long ?? short ?? []),
    },
    ...below.flatMap((one) => followingOf(one, `${at} ${one.name()}`)),
  ];
}
