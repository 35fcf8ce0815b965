import type { Command } from 'commander';
import type { AddCommand } from '../command.js';

export const addSandboxesShow: AddCommand = (parent, context) => {
  parent
    .command('show')
    .description('Show a sandbox: its state, machine, environment, snapshot and last stop')
    .argument('<sandbox>', 'id of the sandbox')
    .option('--json', 'print one JSON object on stdout')
    .action(async (sandboxId: string, _: object, command: Command) => {
      const { showSandbox } = await import('./show-sandbox.js');
      // The parent command has --json too, and parses it first.
      await showSandbox(sandboxId, command.optsWithGlobals<{ readonly json?: boolean }>(), context);
    });
};
