/** `sandflow stops sweep`: a cleanup whose policy escalates failing stops. */
import { type CleanupPolicy, patternProblem, sweepPolicy } from '../../retention/index.js';
import { runPolicy } from '../cleanup/run-cleanup.js';
import type { CommandContext } from '../command.js';
import { notifyTargetOf } from '../notify/notify-target.js';
import { anyLength, parseCount, parseDurationMs } from '../units.js';
import { UsageError } from '../usage-error.js';
import { escalationOf } from './escalation-options.js';
import type { SweepCommandOptions } from './options.js';

const mostStops = 10_000;

/** @returns the exit code */
export async function sweepStops(options: SweepCommandOptions, context: CommandContext): Promise<number> {
  const { dryRun = false, apply = false } = options;
  if (dryRun === apply) throw new UsageError('Use --dry-run to see what a sweep would do, or --apply to do it.');
  const policy = readSweep(options);
  context.undone = 'started no sweep';
  return runPolicy({ policy, mode: apply ? 'apply' : 'plan', only: 'failing stops' }, options, context);
}

/** @throws UsageError; SandflowError `bad_escalation` */
export function readSweep(options: SweepCommandOptions): CleanupPolicy {
  const escalate = escalationOf(options);
  if (escalate === undefined) throw new UsageError('Say what to do with --escalate, like "30m: resume-and-stop".');
  for (const pattern of options.protect) {
    const problem = pattern === '' ? 'is empty' : patternProblem(pattern);
    if (problem !== null) throw new UsageError(`--protect: "${pattern}" ${problem}.`);
  }
  const target = notifyTargetOf(options.notify);
  return sweepPolicy({
    escalate,
    failingForMs: parseDurationMs(options.failingFor, '--failing-for', anyLength),
    protect: options.protect,
    protectMayMatchNothing: options.protectMayMatchNothing ?? false,
    maxActions: parseCount(options.limit, '--limit', 1, mostStops),
    ...(target && { notify: target }),
  });
}
