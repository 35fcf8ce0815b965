/** The command line's grammar. */
import { Command } from 'commander';
import { addApi } from './api/command.js';
import { addCleanup } from './cleanup/command.js';
import type { AddCommand, CommandContext, Parent } from './command.js';
import { applyDefaults } from './config/apply-defaults.js';
import { addConfig } from './config/command.js';
import { addDoctor } from './doctor/command.js';
import { addEncryption } from './encryption/command.js';
import { addFanout } from './fanout/command.js';
import { addExamples, addHelpCommand, helpStyle } from './help.js';
import { addContinue, addJobs } from './jobs/command.js';
import { addLocal } from './local/command.js';
import { addNotify } from './notify/command.js';
import { refuseHomeMarks } from './refuse-home-mark.js';
import { addRun } from './run/command.js';
import { addSandboxes } from './sandboxes/command.js';
import { addSchedules } from './schedule/command.js';
import { addBridge, addCodecServer, addDev, addSupervisor, addWorker } from './serve/command.js';
import { addStack } from './stack/command.js';
import { addStop, addStops } from './stops/command.js';
import { addWebhooks } from './webhooks/command.js';

const examplesHelp = `
Examples:
  sandflow run "Say hello"
  sandflow run task.md --get out/report.md
  sandflow fanout prompts.txt
  sandflow help jobs show
`;

const exitCodesHelp = `
Exit codes:
  0    the job or batch completed and left nothing behind, or the command succeeded
  1    the job or batch ended with another outcome, left something behind, or a file is missing
  2    invalid usage or configuration, an id that does not exist, or the service rejected the key; nothing was started
  3    Temporal or the service is unreachable, throttles or returns errors, or a disk is full; try again later
  4    --watch-deadline passed; the job or batch is still running
  70   an unexpected error: a bug in sandflow
  130  ended by Ctrl-C; the job or batch is still running, if it was started

Settings come from the environment (sandflow help config): SANDBOX_API_URL, SANDBOX_API_KEY, SANDBOX_WEBHOOK_SECRET, TEMPORAL_*,
SANDFLOW_DEPLOYMENT, SANDFLOW_TASK_QUEUE, SANDFLOW_PATIENCE_SECONDS, SANDFLOW_ENCRYPTION_KEYS_FILE,
SANDFLOW_HOME, SANDFLOW_IDLE_SECONDS, SANDFLOW_TEMPORAL_UI. If none is set, everything runs on this machine.
`;

const groups: Readonly<Record<string, readonly AddCommand[]>> = {
  'Run:': [addRun, addContinue, addFanout, addJobs, addSchedules],
  'Sandboxes:': [addSandboxes, addStop, addStops, addCleanup],
  'The stack on this machine:': [addStack, addDev, addLocal, addSupervisor],
  'Set up and operate:': [
    addDoctor,
    addConfig,
    addWorker,
    addBridge,
    addWebhooks,
    addNotify,
    addEncryption,
    addCodecServer,
  ],
  'Other commands:': [addApi],
};

/** Builds the program; parses and runs nothing. */
export function createProgram(context: CommandContext, version: string): Command {
  const program = new Command('sandflow')
    .description('Durable jobs for remote sandboxes.')
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
    .addHelpText('after', `${examplesHelp}${exitCodesHelp}`);
  for (const [group, adds] of Object.entries(groups)) {
    program.commandsGroup(group);
    // The class is the same at run time. Only the types that infer options come from another package.
    for (const add of adds) add(program as unknown as Parent, context);
  }
  addHelpCommand(program);
  addExamples(program);
  refuseHomeMarks(program);
  applyDefaults(program, context);
  return program;
}
