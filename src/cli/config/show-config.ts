/** `sandflow config`. Shows no secret. */
import type { CommandContext } from '../command.js';
import { printJson } from '../output/json.js';
import { formatTable } from '../output/table.js';
import { oneLine } from '../output/terminal-safe.js';
import { readSettings, type Setting } from './settings.js';

/** @throws SandflowError as `readProfile` */
export async function showConfig({ json }: { readonly json?: boolean }, context: CommandContext): Promise<void> {
  const { io } = context;
  const { profile, userFile, projectFile, settings } = await readSettings(await io.readConfig(), context);
  if (json) return printJson(io.stdout, { profile, userFile, projectFile, settings, error: null });
  const files = [
    ['profile', profile ?? 'none'],
    ['your file', userFile ?? 'none'],
    ['project file', projectFile ?? 'none'],
  ];
  for (const [label = '', text = ''] of files) io.stdout.write(`${label.padEnd(14)}${oneLine(text)}\n`);
  io.stdout.write(`\n${settingsTable(settings)}`);
}

/** The value is last: a long path wraps, and leaves the other rows as they are. */
export function settingsTable(settings: readonly Setting[]): string {
  return formatTable(
    ['SETTING', 'FROM', 'VALUE'],
    settings.map(({ name, value, from }) => [name, from, value ?? '']),
  );
}
