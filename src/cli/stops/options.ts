/** The arguments of `stop`, and what they ask for. Pure. */
import { randomBytes } from 'node:crypto';
import type { NotifyTarget } from '../../../workflows/job/types.js';
import { isSandboxId } from '../../contract/ids.js';
import { parseDurationMs } from '../duration.js';
import { notifyTargetOf } from '../notify/notify-target.js';
import { UsageError } from '../usage-error.js';

/** As the command line's parser leaves them. */
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

/** What is asked of each sandbox. */
export interface StopSelection {
  readonly requestId: string;
  readonly deadlineMs: number;
  readonly alertAfterMs: number | null;
  readonly notify: NotifyTarget | undefined;
}

export interface StopCommand {
  /** Those that were named, each once; undefined where all are meant. */
  readonly sandboxIds: readonly string[] | undefined;
  readonly wish: StopSelection;
}

/** @throws UsageError where the arguments contradict each other or name nothing */
export function readStopCommand(named: readonly string[], options: StopCommandOptions): StopCommand {
  const { all = false, name, request } = options;
  const wrong = named.find((id) => !isSandboxId(id));
  if (wrong !== undefined) throw new UsageError(`"${wrong}" is not a sandbox id. \`sandflow sandboxes\` shows them.`);
  if (named.length === 0 && !all) {
    throw new UsageError('Name the sandboxes to stop, or say --all. `sandflow sandboxes` shows them.');
  }
  if (named.length > 0 && all) throw new UsageError('Name sandboxes, or say --all: not both.');
  if (name !== undefined && !all) throw new UsageError('--name narrows --all: say both.');
  if (name === '') throw new UsageError('--name: an empty pattern fits no sandbox. * stands for any characters.');
  if (request !== undefined && (request === '' || request.length > 200)) {
    throw new UsageError('--request: an id has 1 to 200 characters.');
  }
  const deadlineMs = parseDurationMs(options.deadline, '--deadline');
  const alertAfterMs = options.alertAfter === undefined ? null : parseDurationMs(options.alertAfter, '--alert-after');
  if (alertAfterMs !== null && alertAfterMs >= deadlineMs) {
    throw new UsageError('--alert-after: the deadline comes first, so that nobody would be told. Make it shorter.');
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
