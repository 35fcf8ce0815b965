import type { Command } from 'commander';
import type { CommandContext, Parent } from '../command.js';
import { declareCompletion } from './options.js';

/** @param whole builds the program with all its commands: this one may have been built for one command */
export function addCompletion(parent: Parent, context: CommandContext, whole: () => Command): void {
  declareCompletion(parent).action(async (shell) => {
    const { completionScript } = await import('./completion-script.js');
    context.io.stdout.write(completionScript(whole(), shell));
  });
}
