/**
 * Generates completion scripts from the grammar. Pure: the scripts are static, so that a completion starts no process.
 */
import type { Parent } from '../command.js';
import type { Shell } from './options.js';

/** A command with its visible subcommands and options. */
interface Node {
  /** The words that lead to the command, each after a space; empty for the program. */
  readonly path: string;
  readonly commands: readonly { readonly name: string; readonly about: string }[];
  readonly options: readonly {
    readonly flags: readonly string[];
    readonly about: string;
    readonly takesValue: boolean;
    /** The possible values; empty if any value is possible. */
    readonly values: readonly string[];
  }[];
}

/**
 * @param program the program with all its commands
 * @param profiles names of the user's profiles
 */
export function completionScript(
  program: Parent,
  shell: Shell,
  { profiles = [] }: { readonly profiles?: readonly string[] } = {},
): string {
  const nodes = nodesOf(program, '', profiles);
  if (shell === 'fish') return fishScript(nodes);
  const bash = bashScript(nodes);
  return shell === 'bash' ? bash : `autoload -U +X bashcompinit && bashcompinit\n${bash}`;
}

function nodesOf(command: Parent, path: string, profiles: readonly string[]): Node[] {
  const help = command.createHelp();
  const commands = help.visibleCommands(command);
  const options = help.visibleOptions(command).map(({ short, long, description, required, optional, argChoices }) => ({
    flags: [short, long].filter((flag) => flag !== undefined),
    about: description,
    takesValue: required || optional,
    values: long === '--profile' ? profiles : (argChoices ?? []),
  }));
  const node = { path, options, commands: commands.map((sub) => ({ name: sub.name(), about: sub.description() })) };
  return [
    node,
    ...commands
      .filter((sub) => sub.name() !== 'help')
      .flatMap((sub) => nodesOf(sub, `${path} ${sub.name()}`, profiles)),
  ];
}

function bashScript(nodes: readonly Node[]): string {
  const values = nodes.flatMap(({ path, options }) =>
    options
      .filter(({ takesValue }) => takesValue)
      .flatMap(({ flags, values: possible }) =>
        flags.map((flag) => `    ${quote(`${path} ${flag}`)}) words=${quote(possible.join(' '))} ;;`),
      ),
  );
  const names = nodes.map(({ path, commands }) => `      ${quote(path)}) words=${quote(namesOf(commands))} ;;`);
  const flags = nodes.map(({ path, options }) => `      ${quote(path)}) words=${quote(flagsOf(options))} ;;`);
  return `_sandflow() {
  local current="\${COMP_WORDS[COMP_CWORD]}" previous="\${COMP_WORDS[COMP_CWORD-1]}" path='' word words=none
  for word in "\${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$path $word" in
      ${casesOf(nodes).join('|')}) path="$path $word" ;;
    esac
  done
  case "$path $previous" in
${values.join('\n')}
  esac
  if [ "$words" = none ]; then
    words=''
    case "$current" in
      -*) case "$path" in
${flags.join('\n')}
      esac ;;
      *) case "$path" in
${names.join('\n')}
      esac ;;
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$current"))
}
complete -o default -F _sandflow sandflow
`;
}

function fishScript(nodes: readonly Node[]): string {
  const lines = nodes.flatMap(({ path, commands, options }) => {
    const at = `complete -c sandflow -n ${quote(`__sandflow_at '${path}'`)}`;
    return [
      ...commands.map(({ name, about }) => `${at} -f -a ${quote(name)} -d ${quote(about)}`),
      ...options.map(({ flags, about, takesValue, values }) => {
        const names = flags.map((flag) => (flag.startsWith('--') ? `-l ${flag.slice(2)}` : `-s ${flag.slice(1)}`));
        const value = values.length > 0 ? ` -x -a ${quote(values.join(' '))}` : takesValue ? ' -r' : '';
        return `${at} ${names.join(' ')}${value} -d ${quote(about)}`;
      }),
    ];
  });
  return `function __sandflow_at
  set -l at ''
  for word in (commandline -opc)[2..]
    switch "$at $word"
      case ${casesOf(nodes).join(' ')}
        set at "$at $word"
    end
  end
  test "$at" = "$argv[1]"
end
${lines.join('\n')}
`;
}

/** The paths of all commands as patterns of `case`. */
const casesOf = (nodes: readonly Node[]) => nodes.filter(({ path }) => path !== '').map(({ path }) => quote(path));
const namesOf = (commands: Node['commands']) => commands.map(({ name }) => name).join(' ');
const flagsOf = (options: Node['options']) =>
  options.flatMap(({ flags }) => flags.filter((flag) => flag.startsWith('--'))).join(' ');

/**
 * A literal string of fish, and of bash if it has no backslash: bash gets only names of commands, options and values.
 */
function quote(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "'\\''")}'`;
}
