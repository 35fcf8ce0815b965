/** Gives `run` and `fanout` the settings of the file that they name, and the defaults of the project. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import type { CommandContext } from '../command.js';
import type { CliIo } from '../io.js';
import { createPaint } from '../output/terminal.js';
import { oneLine } from '../output/terminal-safe.js';
import { UsageError } from '../usage-error.js';
import type { FileCommand } from './file-schema.js';
import { optionsOfFile } from './file-values.js';
import { readProject } from './project-file.js';

/** True for the name of a YAML file, such as `job.yaml`. */
export function namesYaml(word: string): boolean {
  return /^[^@\n]*\.ya?ml$/i.test(word);
}

/** A prompt may end with the name of a file: "Fix the port in app.yaml". */
function isSettingsFile(word: string, cwd: string): boolean {
  return namesYaml(word) && (!/\s/.test(word) || existsSync(resolve(cwd, word)));
}

export function applyFiles(program: Command, { io }: CommandContext): void {
  program.hook('preAction', async (_, command) => {
    const name = command.name();
    if (command.parent !== program || (name !== 'run' && name !== 'fanout')) return;
    await applyNamedFile(name, command, io);
    const given = givenTo(command);
    const project = await readProject(io.cwd);
    if (!project) return;
    const defaults = optionsOfFile(name, given, project.settings[name] ?? {});
    for (const [option, value] of defaults) command.setOptionValueWithSource(option, value, 'config');
    // A project file comes with the code, so show its choices.
    if (defaults.size === 0 || given.quiet === true) return;
    const chosen = [...defaults].map(([option, value]) => `${option} ${[value].flat().join(',')}`);
    const line = oneLine(`Defaults of ${project.path}: ${chosen.join('; ')}`);
    io.stderr.write(`${createPaint(io.stderr)('dim', line)}\n`);
  });
}

function givenTo(command: Command): Readonly<Record<string, unknown>> {
  const given = Object.entries(command.opts()).filter(([name]) => command.getOptionValueSource(name) !== 'default');
  return Object.fromEntries(given);
}

/** An option on the command line counts more than the file. */
async function applyNamedFile(
  name: FileCommand,
  command: Command,
  io: Pick<CliIo, 'cwd' | 'stdin' | 'stderr'>,
): Promise<void> {
  const words = [command.processedArgs[0] ?? []].flat().map(String);
  const file = words.find((word) => isSettingsFile(word, io.cwd));
  // Then each file is what the format says, whatever its name is.
  if (file === undefined || command.opts().format !== undefined) return;
  if (words.length > 1) {
    const [what, also] =
      name === 'run'
        ? ['a job with its prompt', '']
        : ['a batch with its items', ' For one prompt a file use --format file.'];
    throw new UsageError(`${file} holds ${what}. Give it alone.${also}`);
  }
  const { readSettingsFile } = await import('./settings-file.js');
  const { settings, items } = await readSettingsFile(name, file, io);
  for (const [option, value] of optionsOfFile(name, givenTo(command), settings)) {
    command.setOptionValueWithSource(option, value, 'config');
  }
  if (name === 'run' && !io.stdin.isTTY && command.opts().quiet !== true)
    io.stderr.write(`${oneLine(`The job is that of the file ${file}.`)}\n`);
  command.processedArgs[0] = typeof items === 'string' ? [items] : [];
  if (typeof items === 'object') command.setOptionValueWithSource('itemsInFile', items, 'config');
}
