/** Turns the settings of a file into values of options. Pure. */
import { type CommandSetting, settingsOn } from '../../job-settings/fields.js';
import type { OptionRow } from '../../job-settings/setting.js';
import type { FileCommand, FileSettings } from './file-schema.js';
import { isList, nameInParser } from './options.js';
import { type Given, isGiven } from './values.js';

/**
 * The options that a file sets, by the names of the parser, in the form of the parser.
 * @param given the options of the command line, and of files that count more. A setting of the file gives way to what sets
 *   it, replaces it, or cannot be used with it. Labels are joined, and a given label counts
 */
export function optionsOfFile(command: FileCommand, given: Given, file: FileSettings): ReadonlyMap<string, unknown> {
  const settings = settingsOn(command);
  const there = settings.filter((setting) => given[nameInParser(setting)] !== undefined);
  const acting = there.filter((setting) => isGiven(setting, given));
  const without = new Set([
    ...there.map(({ name }) => name),
    ...acting.flatMap(({ option }) => [...(option.replaces ?? []), ...excludedBy(option)]),
    ...settings
      .filter(({ option }) => acting.some(({ name }) => excludedBy(option).includes(name)))
      .map(({ name }) => name),
  ]);
  const has = (name: string) =>
    acting.some((one) => one.name === name) || (file[name] !== undefined && !without.has(name));
  const chosen = new Map<string, unknown>();
  for (const setting of settings) {
    const value = file[setting.name];
    if (value === undefined) continue;
    if (setting.kind === 'labels') {
      const labels = joined(value, given.label);
      if (labels) chosen.set('label', labels);
      continue;
    }
    const [needed] = setting.option.requires ?? [];
    // What it needs gave way to an option.
    const lacks = needed?.some((name) => file[name] !== undefined) && !needed.some(has);
    if (!without.has(setting.name) && !lacks) chosen.set(nameInParser(setting), parsedValue(setting, value));
  }
  return chosen;
}

function excludedBy({ excludes = [] }: OptionRow): readonly string[] {
  return excludes.flatMap(([names]) => names);
}

function parsedValue(setting: CommandSetting, value: unknown): unknown {
  if (isList(setting)) return [value].flat().map(String);
  if (typeof value === 'boolean') return value;
  return setting.kind === 'fields' && typeof value !== 'string' ? JSON.stringify(value) : String(value);
}

function joined(labels: unknown, given: unknown): readonly string[] | undefined {
  const own = Array.isArray(given) ? given.map(String) : [];
  const known = new Set(own.map((pair) => pair.split('=')[0]));
  const added = Object.entries(labels as Readonly<Record<string, string>>).filter(([label]) => !known.has(label));
  return added.length === 0 ? undefined : [...added.map(([label, value]) => `${label}=${value}`), ...own];
}
