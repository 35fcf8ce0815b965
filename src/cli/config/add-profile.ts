/** `--profile` on every command, and the defaults of `run` and `fanout` from profile and project. */
import { type Command, Option } from 'commander';
import type { CommandContext } from '../command.js';
import { createPaint } from '../output/terminal.js';
import { oneLine } from '../output/terminal-safe.js';
import type { JobCommand } from './job-defaults.js';

/** Commands that need no settings. */
const without: ReadonlySet<string> = new Set(['help']);

export function addProfile(program: Command, context: CommandContext): void {
  const addBelow = (parent: Command) => {
    for (const command of parent.commands) {
      if (without.has(command.name())) continue;
      command.addOption(
        new Option('--profile <name>', 'profile of your settings, or SANDFLOW_PROFILE; none: no profile'),
      );
      addBelow(command);
    }
  };
  addBelow(program);
  program.hook('preAction', async (_, command) => {
    context.profile = command.optsWithGlobals<{ readonly profile?: string }>().profile;
    const name = command.parent === program ? command.name() : '';
    if (name === 'run' || name === 'fanout') await applyDefaults(command, name, context);
  });
}

async function applyDefaults(command: Command, name: JobCommand, { io, profile }: CommandContext): Promise<void> {
  // The command itself reports settings that cannot be read, after errors of its own arguments.
  const config = await io.readConfig().catch(() => undefined);
  if (!config) return;
  const { readProfile } = await import('./profile.js');
  const { layers } = await readProfile(config, { named: profile ?? config.profile, cwd: io.cwd });
  if (layers[name].length === 0) return;
  const { jobDefaults } = await import('./job-defaults.js');
  const given = Object.fromEntries(
    Object.entries(command.opts()).filter(([option]) => command.getOptionValueSource(option) !== 'default'),
  );
  const defaults = jobDefaults(name, given, layers[name]);
  for (const [option, { value }] of defaults) command.setOptionValueWithSource(option, value, 'config');
  // A project file comes with the code, so show its choices.
  if (defaults.size === 0 || given.quiet === true) return;
  const chosen = [...defaults].map(([option, { value, from }]) => `${option} ${[value].flat().join(',')} (${from})`);
  io.stderr.write(`${createPaint(io.stderr)('dim', oneLine(`Defaults: ${chosen.join('; ')}`))}\n`);
}
