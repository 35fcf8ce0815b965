/** Reads `--notify`. The text of a command stays in a file of this machine; what is sent names it by its id. */
import type { NotifyTarget } from '../../../workflows/job/types.js';
import type { Config } from '../../config.js';
import { notifyCommandIdPattern } from '../../contract/notify-command.js';
import { SandflowError } from '../../contract/sandflow-error.js';
import { createNotifyCommands, notifyCommandId } from '../../notify/index.js';
import { UsageError } from '../usage-error.js';

/** @throws UsageError where it is neither a URL nor `command:…` nor `command-id:…` */
export function notifyTargetOf(text: string | undefined): NotifyTarget | undefined {
  if (text === undefined) return undefined;
  const command = commandIn(text);
  if (command) return { commandId: notifyCommandId(command) };
  const commandId = /^command-id:(.*)$/s.exec(text)?.[1]?.trim();
  if (commandId !== undefined && notifyCommandIdPattern.test(commandId)) return { commandId };
  if (/^https?:\/\//.test(text) && URL.canParse(text)) return { url: text };
  throw new UsageError(
    '--notify must be a URL (https://…), command:… with a command for the worker, or command-id:… with the id of a command in its configuration.',
  );
}

/**
 * Keeps the command of `--notify command:…` where the worker looks for it. Nothing for anything else.
 * @throws SandflowError `bad_configuration` where no file of commands is known; as `NotifyCommands.keep`
 */
export async function keepNotifyCommand(text: string | undefined, config: Pick<Config, 'notify'>): Promise<void> {
  const command = text === undefined ? undefined : commandIn(text);
  if (command) await keepCommand(command, config);
}

export async function keepCommand(command: string, { notify }: Pick<Config, 'notify'>): Promise<void> {
  if (notify.commandsFile === undefined) {
    throw new SandflowError(
      'bad_configuration',
      'A worker elsewhere runs only the notify commands of its own configuration: give its id, as command-id:… or, in a policy, ' +
        'as commandId. Where the worker is on this machine, set SANDFLOW_NOTIFY_COMMANDS to the file that it reads.',
    );
  }
  await createNotifyCommands(notify.commandsFile).keep(command);
}

function commandIn(text: string): string | undefined {
  return /^command:(.*)$/s.exec(text)?.[1]?.trim() || undefined;
}
