import type { Parent } from '../command.js';

const help = `
For every new shell, add this line to ~/.bashrc:
  source <(sandflow completion bash)
zsh reads the same script after \`autoload -U +X bashcompinit && bashcompinit\`; nobody has tried it.
`;

export const declareCompletion = (parent: Parent) =>
  parent
    .command('completion')
    .description('Print a script that completes commands and options in a shell')
    .argument('<shell>', 'bash')
    .addHelpText('after', help);
