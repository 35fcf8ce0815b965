/** The command line's grammar. */
import { Command } from 'commander';
import { addApi } from './api/command.js';
import { addCleanup } from './cleanup/command.js';
import type { AddCommand, CommandContext, Parent } from './command.js';
import { addConfig } from './config/command.js';
import { addDoctor } from './doctor/command.js';
import { addEncryption } from './encryption/command.js';
import { addFanout } from './fanout/command.js';
import { addExamples, addHelpCommand, helpStyle, topHelpStyle } from './help.js';
import { addContinue, addJobs } from './jobs/command.js';
import { addLocal } from './local/command.js';
import { addHelpAll } from './rare-options.js';
import { addRun } from './run/command.js';
import { addCopy, addExec, addSandboxes, addSsh } from './sandboxes/command.js';
import { addSchedules } from './schedule/command.js';
import { addBridge, addCodecServer, addWorker } from './serve/command.js';
import { applyFiles } from './settings/apply-files.js';
import { addStack, addSupervisor } from './stack/command.js';
import { addStop, addStops } from './stops/command.js';
import { addStore } from './store/command.js';
import { addUpgrade } from './upgrade/command.js';
import { addWebhooks } from './webhooks/command.js';

const moreHelp = '\nExit codes: sandflow help run. Settings: sandflow help config.';

/** Each command by its name, in the groups of the help page. */
const groups: Readonly<Record<string, Readonly<Record<string, AddCommand>>>> = {
  'Jobs and batches:': { run: addRun, fanout: addFanout, continue: addContinue, jobs: addJobs, schedule: addSchedules },
  'Sandboxes:': { sandboxes: addSandboxes, exec: addExec, cp: addCopy, ssh: addSsh, stop: addStop },
  'This machine:': {
    ...{ up: addStack, status: addStack, down: addStack, supervisor: addSupervisor },
    ...{ doctor: addDoctor, config: addConfig },
  },
  'For operators:': {
    ...{ worker: addWorker, bridge: addBridge, webhooks: addWebhooks },
    ...{ encryption: addEncryption, 'codec-server': addCodecServer, store: addStore, upgrade: addUpgrade },
    ...{ cleanup: addCleanup, stops: addStops, local: addLocal, api: addApi },
  },
};

/**
 * Builds the program; parses and runs nothing.
 * @param word the first word of the command line. If it names a command, the program has no other command: all of them
 *   take longer to declare than some of them take to run. Default: none.
 */
export function createProgram(context: CommandContext, version: string, word?: string): Command {
  const program = new Command('sandflow')
    .description('Durable jobs for remote sandboxes. Try: sandflow run "Say hello"')
    .version(version, '-V, --version', 'print the version')
    .helpOption('-h, --help', 'print help')
    .helpCommand(false)
    .configureHelp(helpStyle)
    .showSuggestionAfterError()
    // `fanout` and `fanout resume` have options of the same name. An option belongs to the command that it follows.
    .enablePositionalOptions()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => void context.io.stdout.write(text),
      writeErr: (text) => void context.io.stderr.write(text),
      // `runCli` reports a failed parse, like every other failure.
      outputError: () => undefined,
    })
    .addHelpText('after', moreHelp);
  const named = new Map(Object.values(groups).flatMap((commands) => Object.entries(commands))).get(word ?? '');
  for (const [group, commands] of Object.entries(groups)) {
    program.commandsGroup(group);
    for (const add of new Set(Object.values(commands))) {
      // The class is the same at run time. Only the types that infer options come from another package.
      if (!named || add === named) add(program as unknown as Parent, context);
    }
  }
  addHelpAll(program);
  addHelpCommand(program);
  addExamples(program);
  applyFiles(program, context);
  // The commands keep the style that they have got.
  program.configureHelp(topHelpStyle);
  return program;
}
