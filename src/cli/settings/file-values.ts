/** Turns the settings of a file into values of options. Pure. */
import { type CommandSetting, settingsOn } from '../../job-settings/fields.js';
import type { FileCommand, FileSettings } from './file-schema.js';
import { isList } from './options.js';
import { type Given, nameInParser } from './values.js';

/**
 * The options that a file sets, by the names of the parser, in the form of the parser.
 * @param given the options of the command line, and of files that count more. What replaces a setting of the file, or
 *   sets it, is in the way of it. Labels are joined, and a given label counts
 */
export function optionsOfFile(command: FileCommand, given: Given, file: FileSettings): ReadonlyMap<string, unknown> {
  const settings = settingsOn(command);
  const there = settings.filter((setting) => given[nameInParser(setting)] !== undefined);
  const without = new Set(there.flatMap(({ name, option }) => [name, ...(option.replaces ?? [])]));
  const chosen = new Map<string, unknown>();
  for (const setting of settings) {
    const value = file[setting.name];
    if (value === undefined) continue;
    const parsed = setting.kind === 'labels' ? joined(value, given.label) : parsedValue(setting, value);
    if (parsed === undefined || (setting.kind !== 'labels' && without.has(setting.name))) continue;
    chosen.set(nameInParser(setting), parsed);
  }
  return chosen;
}

/** @returns undefined for what is so anyway */
function parsedValue(setting: CommandSetting, value: unknown): unknown {
  const { kind, sets } = setting;
  if (isList(setting)) return [value].flat().map(String);
  if (kind === 'flag') return value === (sets === undefined) ? value : undefined;
  if (sets !== undefined) return value === true ? true : undefined;
  if (kind === 'fields') return JSON.stringify(value);
  return value === true ? true : String(value);
}

function joined(labels: unknown, given: unknown): readonly string[] | undefined {
  const own = Array.isArray(given) ? given.map(String) : [];
  const known = new Set(own.map((pair) => pair.split('=')[0]));
  const added = Object.entries(labels as Readonly<Record<string, string>>).filter(([label]) => !known.has(label));
  return added.length === 0 ? undefined : [...added.map(([label, value]) => `${label}=${value}`), ...own];
}
