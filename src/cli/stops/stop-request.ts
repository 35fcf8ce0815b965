/** Builds the request that the arguments of `stop` describe. Pure. */

import { randomBytes } from 'node:crypto';
import type { StopRequest } from '../../protocol/stop.js';
import { deadlineProblem, stopDeadlineMs } from '../../workflow-client/stops/stop-input.js';
import { notifyTargetOf } from '../notify/notify-target.js';
import { programName } from '../program-name.js';
import { nameMatches } from '../sandboxes/list-sandboxes.js';
import { parseDurationMs } from '../units.js';
import { requireSandboxId, UsageError } from '../usage-error.js';
import { escalationOf } from './escalation-options.js';
import type { StopCommandOptions } from './options.js';

export type StopCommand = ReturnType<typeof readStopCommand>;

/**
 * @returns the named sandboxes, each once, undefined for `--all`; and the request that each sandbox gets
 * @throws UsageError if the arguments conflict or select no sandbox
 */
export function readStopCommand(named: readonly string[], options: Omit<StopCommandOptions, 'check'>) {
  const { all = false, name, request: requestId } = options;
  for (const id of named) requireSandboxId(id);
  if (named.length === 0 && !all) {
    throw new UsageError(`Name the sandboxes to stop, or use --all. \`${programName} sandboxes\` lists them.`);
  }
  if (named.length > 0 && all) throw new UsageError('Name sandboxes or use --all, not both.');
  if (name !== undefined && !all) throw new UsageError('--name requires --all.');
  nameMatches(name);
  if (requestId !== undefined && (requestId === '' || requestId.length > 200)) {
    throw new UsageError('--request must have 1 to 200 characters.');
  }
  const escalate = escalationOf(options);
  const deadlineMs = parseDurationMs(options.deadline, '--deadline') ?? stopDeadlineMs(escalate);
  const problem = escalate && deadlineProblem(escalate, deadlineMs);
  if (problem !== undefined) throw new UsageError(`--deadline ${problem}.`);
  const alertAfterMs = parseDurationMs(options.alertAfter, '--alert-after') ?? null;
  if (alertAfterMs !== null && alertAfterMs >= deadlineMs) {
    throw new UsageError('--alert-after must be shorter than --deadline, or no alert is sent.');
  }
  const request: StopRequest = {
    requestId: requestId ?? randomBytes(5).toString('hex'),
    deadlineMs,
    alertAfterMs,
    ...(escalate && { escalate }),
    notify: notifyTargetOf(options.notify),
  };
  return { sandboxIds: all ? undefined : [...new Set(named)], request };
}
