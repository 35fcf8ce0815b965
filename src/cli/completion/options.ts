import type { Parent } from '../command.js';

/** The shells that scripts are generated for. */
export const shells = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof shells)[number];

const help = `
Examples:
  eval "$(sandflow completion bash)"                                            in ~/.bashrc
  eval "$(sandflow completion zsh)"                                             in ~/.zshrc, after compinit
  sandflow completion fish > ~/.config/fish/completions/sandflow.fish
`;

export const declareCompletion = (parent: Parent) =>
  parent
    .command('completion')
    .description('Print a script that completes commands and options in a shell')
    .addArgument(parent.createArgument('<shell>', 'the shell').choices(shells))
    .addHelpText('after', help);
