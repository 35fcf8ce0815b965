/** The command line's grammar. */
import { Command } from 'commander';
import { addApi } from './api/command.js';
import { addCleanup } from './cleanup/command.js';
import type { AddCommand, CommandContext, Parent } from './command.js';
import { addCompletion } from './completion/command.js';
import { applyDefaults } from './config/apply-defaults.js';
import { addConfig } from './config/command.js';
import { addDoctor } from './doctor/command.js';
import { addEncryption } from './encryption/command.js';
import { addFanout } from './fanout/command.js';
import { addExamples, addHelpCommand, helpStyle } from './help.js';
import { addContinue, addJobs } from './jobs/command.js';
import { addLocal } from './local/command.js';
import { addNotify } from './notify/command.js';
import { addRun } from './run/command.js';
import { addCopy, addExec, addSandboxes, addSsh } from './sandboxes/command.js';
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

/** Each command by its name, in the groups of the help page. */
const groups: Readonly<Record<string, Readonly<Record<string, AddCommand>>>> = {
  'Run:': { run: addRun, continue: addContinue, fanout: addFanout, jobs: addJobs, schedule: addSchedules },
  'Sandboxes:': {
    ...{ sandboxes: addSandboxes, exec: addExec, cp: addCopy, ssh: addSsh },
    ...{ stop: addStop, stops: addStops, cleanup: addCleanup },
  },
  'The stack on this machine:': {
    ...{ up: addStack, status: addStack, down: addStack },
    ...{ dev: addDev, local: addLocal, supervisor: addSupervisor },
  },
  'Set up and operate:': {
    doctor: addDoctor,
    config: addConfig,
    worker: addWorker,
    bridge: addBridge,
    webhooks: addWebhooks,
    notify: addNotify,
    encryption: addEncryption,
    'codec-server': addCodecServer,
  },
  'Other commands:': {
    api: addApi,
    completion: (parent, context) => addCompletion(parent, context, () => createProgram(context, '')),
  },
};

/**
 * Builds the program; parses and runs nothing.
 * @param word the first word of the command line. If it names a command, the program has no other command: all of them
 *   take longer to declare than some of them take to run. Default: none.
 */
export function createProgram(context: CommandContext, version: string, word?: string): Command {
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
  const named = new Map(Object.values(groups).flatMap((commands) => Object.entries(commands))).get(word ?? '');
  for (const [group, commands] of Object.entries(groups)) {
    program.commandsGroup(group);
    for (const add of new Set(Object.values(commands))) {
      // The class is the same at run time. Only the types that infer options come from another package.
      if (!named || add === named) add(program as unknown as Parent, context);
    }
  }
  addHelpCommand(program);
  addExamples(program);
  applyDefaults(program, context);
  return program;
}
