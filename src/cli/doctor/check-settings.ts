/** Checks that the settings of the project can be read, and that no variable has a mistyped name. */
import type { Config } from '../../config.js';
import { settingVariables } from '../../config.js';
import { editsBetween } from '../../contract/texts/edits.js';
import type { CommandContext } from '../command.js';
import { ownSettings, readSettings, type Setting } from '../config/settings.js';
import { failureOf } from '../errors.js';
import { type Check, failed, ok, warning } from './check.js';

const name = 'settings';

/** @returns the finding, and the current settings, without those of a file that cannot be read */
export async function checkSettings(
  config: Config,
  context: CommandContext,
): Promise<{ readonly check: Check; readonly settings: readonly Setting[] }> {
  try {
    const { projectFile, settings } = await readSettings(config, context);
    const from = projectFile === null ? 'the environment alone' : `the environment and ${projectFile}`;
    return { check: mistyped(config) ?? ok(name, `Settings come from ${from}.`), settings };
  } catch (error) {
    const mend = 'Correct the file: `run` and `fanout` refuse to start with it.';
    return { check: failed(name, failureOf(error).error.message, mend), settings: ownSettings(config) };
  }
}

function mistyped({ variables = [] }: Pick<Config, 'variables'>): Check | undefined {
  for (const variable of variables) {
    if (settingVariables.includes(variable)) continue;
    const meant = settingVariables.find((known) => editsBetween(variable, known) <= 2);
    if (meant === undefined) continue;
    return warning(name, `The environment sets ${variable}, which is not a setting.`, `Did you mean ${meant}?`);
  }
  return undefined;
}
