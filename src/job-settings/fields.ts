/** Which rows of `jobSettings` describe which input. The types of `setting-values.ts` say the same. Pure. */
import { jobSettings } from './job-settings.js';
import type { OptionRow, Setting, SettingCommand } from './setting.js';

export type Rows = Readonly<Record<string, Setting>>;

const all: Rows = jobSettings;

/** The name of the field in the input. */
export function fieldOf(key: string, { field = key }: Setting): string {
  return field;
}

/** The rows of one place. */
export function settingsOf(place: Setting['of']): Rows {
  return rowsWhere(({ of }) => of === place);
}

/** The rows of the sandbox that a fork may set, too; the rest is that of its source. */
export function forkRows(): Rows {
  return rowsWhere(({ of, batch }) => of === 'sandbox' && batch !== undefined);
}

/** The rows of the policy of a batch, those with a default first. */
export function policyRows(): Rows {
  const rows = Object.entries(all).flatMap(([key, { batch, ...row }]): [string, Setting][] => {
    if (row.of === 'policy') return [[key, row]];
    return batch === undefined ? [] : [[key, { ...withoutDefault(row), ...batch }]];
  });
  const [first, last] = [true, false].map((has) => rows.filter(([, row]) => (row.default !== undefined) === has));
  return Object.fromEntries([...(first ?? []), ...(last ?? [])]);
}

/** The rows that an item may set, beside those of its prompts. What it does not set is that of the batch. */
export function itemRows(): Rows {
  const rows = rowsWhere(({ item, of }) => item === true && of !== 'prompt');
  return Object.fromEntries(Object.entries(rows).map(([key, row]) => [key, withoutDefault(row)]));
}

function withoutDefault({ default: _, orNull: __, required: ___, ...row }: Setting): Setting {
  return row;
}

function rowsWhere(test: (row: Setting) => boolean): Rows {
  return Object.fromEntries(Object.entries(all).filter(([, row]) => test(row)));
}

/** A setting as one command takes it. */
export interface CommandSetting extends Omit<Setting, 'on'> {
  readonly key: string;
  /** In files; the name of the parser for the option, too. */
  readonly name: string;
  /** The option, such as `--wait-for` or `--no-env`. */
  readonly flag: string;
  readonly option: OptionRow;
}

/** The settings of a command, in the order of its help page. */
export function settingsOn(command: SettingCommand): readonly CommandSetting[] {
  return Object.entries(all).flatMap(([key, { on, ...row }]) => {
    const option = on?.[command];
    if (option === undefined) return [];
    const name = row.name ?? key;
    const ofBatch = (command === 'fanout' || command === 'resume') && row.batch !== undefined;
    const own = ofBatch ? { ...withoutDefault(row), ...row.batch } : row;
    return [{ ...own, key, name, flag: flagOf(name, row), option }];
  });
}

function flagOf(name: string, { kind, sets }: Setting): string {
  if (kind === 'labels') return '--label';
  if (name === 'checks') return '--check';
  const dashed = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
  return kind === 'flag' && sets !== undefined ? `--no-${dashed}` : `--${dashed}`;
}
