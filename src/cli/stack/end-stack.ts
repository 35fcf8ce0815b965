/** `sandflow down`. */

import { existsSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { SandflowError } from '../../errors/sandflow-error.js';
import { tryAcquireFileLock } from '../../os/file-lock.js';
import { askSupervisor } from '../../supervisor/control-client.js';
import type { StackStatus } from '../../supervisor/control-protocol.js';
import { stackPaths } from '../../supervisor/stack-paths.js';
import { endedText, readStackRecord, removeStackRecord } from '../../supervisor/stack-record.js';
import type { CliIo } from '../io.js';
import { printJson } from '../output/json.js';
import { oneLine } from '../output/terminal-safe.js';
import { asCalled, programName } from '../program-name.js';
import { plural } from '../units.js';
import { undeliveredLines } from './undelivered-text.js';

/** A worker that drains takes up to 15 s; the other parts take up to 10 s each. */
const patienceMs = 60_000;
const pollMs = 50;

/**
 * Ends the stack and waits until its processes have ended. Undelivered notifications do not keep it up: the Temporal
 * server stores them, and the next stack repeats them. Safe to repeat.
 * @throws SandflowError `stack_in_use`, `supervisor_unresponsive`
 */
export async function endStack(
  { force, json }: { readonly force?: boolean; readonly json?: boolean },
  io: CliIo,
): Promise<void> {
  const { home, deployment } = await io.readConfig();
  const paths = stackPaths(home);
  // In a home that has never had a stack, no file is created.
  const hasEverRun = () => existsSync(paths.lockFile);
  const status = hasEverRun() ? await askSupervisor(paths.stateFile, force ? 'force_end' : 'end') : undefined;
  if (status && status.state !== 'ending') throw inUse(status);
  if (hasEverRun()) await untilFree(paths.lockFile, status !== undefined, io.interrupted);
  const earlier = status ? undefined : await readStackRecord(paths.recordFile);
  // Nobody keeps it up from now on.
  if (earlier) await removeStackRecord(paths.recordFile);
  if (json) {
    const { undelivered = [], openIds = [], scheduleNames = [] } = status ?? {};
    const waiting = { openIds, scheduleNames, undelivered };
    return printJson(io.stdout, { home, ended: status !== undefined, ...waiting, error: null });
  }
  if (!status) {
    const text = earlier ? `${asCalled(endedText(earlier))} It stays down now.` : `No stack is running in ${home}.`;
    return void io.stderr.write(`${oneLine(text)}\n`);
  }
  io.stderr.write('The stack has stopped.\n');
  for (const line of waitingLines(status)) io.stderr.write(`${oneLine(line)}\n`);
  for (const line of undeliveredLines(status, deployment)) io.stderr.write(`Not delivered: ${line}\n`);
}

/** The supervisor holds the lock until all its child processes have ended. */
async function untilFree(lockFile: string, isEnding: boolean, signal: AbortSignal): Promise<void> {
  const giveUpAt = Date.now() + (isEnding ? patienceMs : 0);
  for (;;) {
    const lock = tryAcquireFileLock(lockFile);
    if (lock) return lock.release();
    if (Date.now() > giveUpAt) {
      const message = `The supervisor that holds ${lockFile} does not answer. Find its process ("supervisor" is in its command line) and stop it.`;
      throw new SandflowError('supervisor_unresponsive', message);
    }
    await sleep(pollMs, undefined, { signal });
  }
}

/** What stands still from now on. */
function waitingLines({ openJobs, openIds, activeSchedules, scheduleNames }: StackStatus): string[] {
  return [
    ...(openJobs
      ? [`${plural(openJobs, 'open workflow')}${named(openJobs, openIds)}: on hold until the stack is up again.`]
      : []),
    ...(activeSchedules
      ? [
          `${plural(activeSchedules, 'active schedule')}${named(activeSchedules, scheduleNames)}: nothing runs until \`${programName} up\`.`,
        ]
      : []),
  ];
}

/** Some of the names, in brackets. */
function named(count: number | null, names: readonly string[]): string {
  if (names.length === 0) return '';
  return ` (${names.map(oneLine).join(', ')}${(count ?? 0) > names.length ? ', …' : ''})`;
}

function inUse({ openJobs, openIds, clients }: StackStatus): SandflowError {
  const jobs = openJobs === null ? 'an unknown number of open workflows' : plural(openJobs, 'open workflow');
  const users = clients.map(({ command, pid }) => `${oneLine(command)} (process ${pid})`).join(', ');
  const uses = [openJobs === 0 ? '' : `${jobs}${named(openJobs, openIds)}`, users && `used by ${users}`]
    .filter(Boolean)
    .join('; ');
  return new SandflowError(
    'stack_in_use',
    `The stack is in use: ${uses}. Wait until it is idle, or stop it now with \`${programName} down --force\`. Open jobs continue when the stack is up again.`,
  );
}
