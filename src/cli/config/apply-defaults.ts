/** Gives `run` and `fanout` the defaults of the project. */
import type { Command } from 'commander';
import type { CommandContext } from '../command.js';
import { createPaint } from '../output/terminal.js';
import { oneLine } from '../output/terminal-safe.js';
import { jobDefaults } from './job-defaults.js';
import { readProject } from './project-file.js';

export function applyDefaults(program: Command, { io }: CommandContext): void {
  program.hook('preAction', async (_, command) => {
    const name = command.name();
    if (command.parent !== program || (name !== 'run' && name !== 'fanout')) return;
    const project = await readProject(io.cwd);
    if (!project) return;
    const given = Object.fromEntries(
      Object.entries(command.opts()).filter(([option]) => command.getOptionValueSource(option) !== 'default'),
    );
    const defaults = jobDefaults(name, given, project.settings[name] ?? {});
    for (const [option, value] of defaults) command.setOptionValueWithSource(option, value, 'config');
    // A project file comes with the code, so show its choices.
    if (defaults.size === 0 || given.quiet === true) return;
    const chosen = [...defaults].map(([option, value]) => `${option} ${[value].flat().join(',')}`);
    const line = oneLine(`Defaults of ${project.path}: ${chosen.join('; ')}`);
    io.stderr.write(`${createPaint(io.stderr)('dim', line)}\n`);
  });
}
