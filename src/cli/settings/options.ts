/** Declares the options of the settings of a command: see `jobSettings`. */
import type { OptionValues } from '@commander-js/extra-typings';
import { type CommandSetting, settingsOn } from '../../job-settings/fields.js';
import type { jobSettings } from '../../job-settings/job-settings.js';
import type { Kind, SettingCommand } from '../../job-settings/setting.js';
import { durationText } from '../../texts/duration.js';
import { type AnyCommand, collect } from '../command.js';
import { rare } from '../rare-options.js';

type Rows = typeof jobSettings;

/** The values of the options of a command, as the parser returns them. */
export type SettingOptions<Command extends SettingCommand> = {
  readonly [Key in keyof Rows as Rows[Key] extends On<Command> & Listed<Command>
    ? NameOf<Key, Rows[Key]>
    : never]: readonly string[];
} & {
  readonly [Key in keyof Rows as Rows[Key] extends On<Command> & { readonly kind: 'flag'; readonly sets: boolean }
    ? Key
    : never]: boolean;
} & {
  readonly [Key in keyof Rows as Rows[Key] extends On<Command>
    ? Rows[Key] extends Listed<Command> | { readonly kind: 'flag'; readonly sets: boolean }
      ? never
      : NameOf<Key, Rows[Key]>
    : never]?: Single<Rows[Key], Command>;
};

type On<Command extends SettingCommand> = { readonly on: { readonly [Name in Command]: object } };
type Listed<Command extends SettingCommand> =
  | { readonly kind: 'prompts' | 'commands' | 'files' | 'paths' | 'labels' }
  | { readonly on: { readonly [Name in Command]: { readonly several: true } } };
type NameOf<Key, Row> = Row extends { readonly kind: 'labels' }
  ? 'label'
  : Row extends { readonly name: infer Name extends string }
    ? Name
    : Key;
type Single<Row, Command extends SettingCommand> = Row extends { readonly sets: unknown } | { readonly kind: 'flag' }
  ? boolean
  : Row extends { readonly kind: 'folder' }
    ? string | true
    : Row extends { readonly on: { readonly [Name in Command]: { readonly values: readonly (infer Value)[] } } }
      ? Value
      : Row extends { readonly values: readonly (infer Value)[] }
        ? Value
        : string;

const lists: ReadonlySet<Kind> = new Set<Kind>(['prompts', 'commands', 'files', 'paths', 'labels']);

/** True if the option may be repeated, and its value is a list. */
export function isList({ kind, option }: Pick<CommandSetting, 'kind' | 'option'>): boolean {
  return lists.has(kind) || option.several === true;
}

/** The name of the parser for the option. */
export function nameInParser({ kind, name }: Pick<CommandSetting, 'kind' | 'name'>): string {
  return kind === 'labels' ? 'label' : name;
}

/** How the help page names the value of each kind. */
const valueNames: Readonly<Partial<Record<Kind, string>>> = {
  name: '<name>',
  duration: '<duration>',
  ttl: '<duration>',
  budget: '<duration>',
  count: '<count>',
  sandbox: '<id>',
  commands: '<command>',
  files: '<local[:remote]>',
  paths: '<remote[:local]>',
  labels: '<name=value>',
  fields: '<json>',
  notify: '<target>',
  escalation: '<steps>',
};

/** Adds the options of the settings of a command. */
export function withSettings<A extends unknown[], O extends OptionValues, Command extends SettingCommand>(
  command: AnyCommand<A, O>,
  name: Command,
): AnyCommand<A, O & SettingOptions<Command>> {
  for (const setting of settingsOn(name)) {
    const { option, values = [], flag } = setting;
    const value = valueName(setting);
    const declared = command.createOption(
      value === '' ? flag : `${flag} ${value}`,
      option.help + shownDefault(setting, name),
    );
    // `--no-check` is another option, so the values of `--check` have a name of their own.
    const inParser = nameInParser(setting);
    declared.attributeName = () => inParser;
    if (isList(setting)) declared.argParser(collect).default([], '');
    else if (values.length > 0 && value !== '') declared.choices(option.values ?? values);
    command.addOption(option.rare ? rare(declared) : declared);
  }
  return command as unknown as AnyCommand<A, O & SettingOptions<Command>>;
}

function valueName({ name, kind, sets, value, option }: CommandSetting): string {
  if (sets !== undefined || kind === 'flag') return '';
  return option.value ?? value ?? (option.several ? '<names>' : valueNames[kind]) ?? `<${name}>`;
}

/** A resume changes only what it names, so it has no defaults. */
function shownDefault({ kind, sets, default: value, option }: CommandSetting, command: SettingCommand): string {
  if (command === 'resume' || command === 'continue' || sets !== undefined || option.help.includes('(default'))
    return '';
  if (value == null || Array.isArray(value)) return '';
  if (kind === 'duration') return ` (default: ${durationText(Number(value))})`;
  if (kind === 'ttl') return ` (default: ${durationText(Number(value) * 1_000)})`;
  return ` (default: ${String(value)})`;
}
