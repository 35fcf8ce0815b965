/** Reads the arguments of `stop`. Pure. */
import { randomBytes } from 'node:crypto';
import type { NotifyTarget } from '../../../workflows/job/types.js';
import { isSandboxId } from '../../contract/ids.js';
import { parseDurationMs } from '../duration.js';
import { notifyTargetOf } from '../notify/notify-target.js';
import { UsageError } from '../usage-error.js';

/** As the command line parser returns them. */
export interface StopCommandOptions {
  readonly all?: boolean;
  readonly name?: string;
  readonly yes?: boolean;
  readonly wait?: boolean;
  readonly deadline: string;
  readonly alertAfter?: string;
  readonly notify?: string;
  readonly request?: string;
  readonly json?: boolean;
  readonly quiet?: boolean;
}

/** The request for each sandbox. */
export interface StopSelection {
  readonly requestId: string;
  readonly deadlineMs: number;
  readonly alertAfterMs: number | null;
  readonly notify: NotifyTarget | undefined;
}

export interface StopCommand {
  /** The named sandboxes, each once; undefined for `--all`. */
  readonly sandboxIds: readonly string[] | undefined;
  readonly wish: StopSelection;
}

/** @throws UsageError if the arguments conflict or name nothing */
export function readStopCommand(named: readonly string[], options: StopCommandOptions): StopCommand {
  const { all = false, name, request } = options;
  const wrong = named.find((id) => !isSandboxId(id));
  if (wrong !== undefined) throw new UsageError(`"${wrong}" is not a sandbox id. \`sandflow sandboxes\` lists them.`);
  if (named.length === 0 && !all) {
    throw new UsageError('Name the sandboxes to stop, or use --all. `sandflow sandboxes` lists them.');
  }
  if (named.length > 0 && all) throw new UsageError('Name sandboxes or use --all, not both.');
  if (name !== undefined && !all) throw new UsageError('--name requires --all.');
  if (name === '') throw new UsageError('--name: an empty pattern matches no sandbox. Use * for any characters.');
  if (request !== undefined && (request === '' || request.length > 200)) {
    throw new UsageError('--request must have 1 to 200 characters.');
  }
  const deadlineMs = parseDurationMs(options.deadline, '--deadline');
  const alertAfterMs = options.alertAfter === undefined ? null : parseDurationMs(options.alertAfter, '--alert-after');
  if (alertAfterMs !== null && alertAfterMs >= deadlineMs) {
    throw new UsageError('--alert-after must be shorter than --deadline, or no alert is sent.');
  }
  return {
    sandboxIds: all ? undefined : [...new Set(named)],
    wish: {
      requestId: request ?? randomBytes(5).toString('hex'),
      deadlineMs,
      alertAfterMs,
      notify: notifyTargetOf(options.notify),
    },
  };
}
