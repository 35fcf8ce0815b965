/** `sandflow config`. Shows no secret. */
import type { CommandContext } from '../command.js';
import { printJson } from '../output/json.js';
import { formatTable } from '../output/table.js';
import { oneLine } from '../output/terminal-safe.js';
import { readSettings, type Setting } from './settings.js';

/** @throws SandflowError as `readProject` */
export async function showConfig({ json }: { readonly json?: boolean }, context: CommandContext): Promise<void> {
  const { io } = context;
  const { projectFile, settings } = await readSettings(await io.readConfig(), context);
  if (json) return printJson(io.stdout, { projectFile, settings, error: null });
  io.stdout.write(`project file  ${oneLine(projectFile ?? 'none')}\n\n${settingsTable(settings)}`);
}

/** The value is last: a long path wraps, and leaves the other rows as they are. */
export function settingsTable(settings: readonly Setting[]): string {
  return formatTable(
    ['SETTING', 'FROM', 'VALUE'],
    settings.map(({ name, value, from }) => [name, from, value ?? '']),
  );
}
