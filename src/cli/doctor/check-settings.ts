/** Checks that the settings of the project can be read, and that no variable has a mistyped name. */

import { type Config, settingVariables } from '../../config.js';
import { editsBetween } from '../../texts/edits.js';
import { failureOf } from '../errors.js';
import type { CliIo } from '../io.js';
import { programName } from '../program-name.js';
import { readProject } from '../settings/project-file.js';
import { type Check, failed, ok, warning } from './check.js';

const name = 'settings';

export async function checkSettings(config: Config, { cwd }: Pick<CliIo, 'cwd'>): Promise<Check> {
  try {
    const project = await readProject(cwd);
    const from = project ? `the environment and ${project.path}` : 'the environment alone';
    return mistyped(config) ?? ok(name, `Settings come from ${from}. \`${programName} config\` shows them.`);
  } catch (error) {
    const mend = 'Correct the file: `run` and `fanout` refuse to start with it.';
    return failed(name, failureOf(error).error.message, mend);
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
