/** Reads the values of the settings on a command line. Pure. */
import { type CommandSetting, fieldOf, settingsOn } from '../../job-settings/fields.js';
import type { Kind, Setting, SettingCommand } from '../../job-settings/setting.js';
import { notifyTargetOf } from '../notify/notify-target.js';
import { anyLength, parseCount, parseDurationMs, parseTtlSeconds } from '../units.js';
import { requireSandboxId, UsageError } from '../usage-error.js';
import { isList, nameInParser } from './options.js';

/** The values of options, by the names of the parser. */
export type Given = Readonly<Record<string, unknown>>;

/** How the text of an option of each kind is read. Other kinds need the files of this machine. */
const readers: Readonly<Partial<Record<Kind, (text: string, setting: CommandSetting) => unknown>>> = {
  name: (text) => text,
  choice: (text) => text,
  // Their files were read.
  text: (text) => text,
  template: (text) => text,
  duration: (text, { flag }) => parseDurationMs(text, flag),
  ttl: (text, { flag, orNull }) => (orNull && text === 'none' ? null : parseTtlSeconds(text, flag)),
  budget: (text, { flag }) => Math.floor(parseDurationMs(text, flag, anyLength) / 1_000),
  count: (text, { flag, least = 0, most = Number.MAX_SAFE_INTEGER, option }) =>
    parseCount(text, flag, least, option.most ?? most),
  sandbox: (text, { flag }) => requireSandboxId(text, flag),
  notify: (text) => notifyTargetOf(text),
};

/**
 * The fields that the given options set, of the rows that `belongs` chooses. A setting that is not given is left out.
 * @throws UsageError naming the option
 */
export function fieldsOn(
  command: SettingCommand,
  given: Given,
  belongs: (row: Pick<Setting, 'of' | 'batch'>) => boolean,
): Readonly<Record<string, unknown>> {
  const fields = settingsOn(command).flatMap((setting): [string, unknown][] => {
    if (!belongs(setting)) return [];
    if (setting.kind === 'commands')
      return isGiven(setting, given) ? [[fieldOf(setting.key, setting), given[nameInParser(setting)]]] : [];
    if (isList(setting)) return [];
    const value = settingValue(setting, given);
    return value === undefined ? [] : [[fieldOf(setting.key, setting), value]];
  });
  return Object.fromEntries(fields);
}

/** The value of one setting; undefined if it is not given. @throws UsageError naming the option */
export function settingOn(command: SettingCommand, name: string, given: Given): unknown {
  const setting = settingsOn(command).find((one) => one.name === name);
  return setting && settingValue(setting, given);
}

function settingValue(setting: CommandSetting, given: Given): unknown {
  const { sets, kind } = setting;
  if (!isGiven(setting, given)) return undefined;
  if (sets !== undefined) return sets;
  if (kind === 'flag') return true;
  return readers[kind]?.(String(given[setting.name]), setting);
}

/** True if the command line or a file has the setting. */
export function isGiven(setting: CommandSetting, given: Given): boolean {
  const value = given[nameInParser(setting)];
  if (setting.kind === 'flag') return value === (setting.sets === undefined);
  return Array.isArray(value) ? value.length > 0 : value !== undefined && value !== false;
}

/** @throws UsageError if two of the given settings cannot be used together, or one needs another */
export function requireCompatible(command: SettingCommand, given: Given): void {
  const there = settingsOn(command).filter((setting) => isGiven(setting, given));
  const flags = (names: readonly string[]) => there.filter(({ name }) => names.includes(name)).map(({ flag }) => flag);
  for (const { flag, option } of there) {
    for (const [names, because] of option.excludes ?? []) {
      const [first] = flags(names);
      if (first === undefined) continue;
      if (because === undefined) throw new UsageError(`Use ${flag} or ${first}, not both.`);
      throw new UsageError(`${flags(names).join(', ')} cannot be used with ${flag}, which ${because}.`);
    }
    const [needed = [], why] = option.requires ?? [];
    if (option.requires && flags(needed).length === 0) {
      const all = settingsOn(command).filter(({ name }) => needed.includes(name));
      const reason = why === undefined ? '' : `: ${why}`;
      throw new UsageError(`${flag} requires ${all.map((one) => one.flag).join(' or ')}${reason}.`);
    }
  }
}
