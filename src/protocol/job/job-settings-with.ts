/** Completes the settings of a job that a workflow starts. Pure. */
import { fieldOf, settingsOf } from '../../job-settings/fields.js';
import type { JobEnd, JobSettings } from './job-input.js';

/** The given settings, and the defaults of the others, in the order of the rows. */
export function jobSettingsWith(given: Partial<JobSettings> & Pick<JobSettings, 'end'>): JobSettings {
  const values: Readonly<Record<string, unknown>> = { ...given };
  const settings = Object.entries(settingsOf('job')).flatMap(([key, row]): [string, unknown][] => {
    const field = fieldOf(key, row);
    const value = values[field] === undefined ? row.default : values[field];
    return value === undefined ? [] : [[field, value]];
  });
  return Object.fromEntries(settings) as unknown as JobSettings;
}

/** The default of `end` depends on the source of the sandbox, a new one without any. */
export function defaultEnd(source?: { readonly kind?: unknown }): JobEnd {
  return source?.kind === 'existing' ? 'keep' : 'stop';
}
