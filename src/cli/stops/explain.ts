import type { AddCommand } from '../command.js';

export const addStopsExplain: AddCommand = (parent, context) => {
  parent
    .command('explain')
    .description("Explain the state of a sandbox's last stop, what happens next and what you can do")
    .argument('<sandbox>', 'id of the sandbox')
    .option('--json', 'print one JSON object on stdout')
    .action(async (sandboxId: string, options: { readonly json?: boolean }) => {
      const { showExplanation } = await import('./show-explanation.js');
      await showExplanation(sandboxId, options, context);
    });
};
