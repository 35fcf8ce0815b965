/** What `sandflow fanout resume` does. */
import { resumeFanout } from '../../temporal/resume-fanout.js';
import type { CommandContext } from '../command.js';
import { parseDurationMs } from '../duration.js';
import { exitCodes } from '../exit-codes.js';
import { printJson } from '../output/json.js';
import { type PolicyOptions, policyOf } from './fanout-options.js';
import { type SeeThroughOptions, seeFanoutThrough } from './see-fanout-through.js';
import { withBatch } from './with-batch.js';

export interface ResumeOptions extends PolicyOptions, SeeThroughOptions {
  readonly retryFailed: boolean;
  readonly detach?: boolean;
}

/** @returns the exit code */
export function resumeBatch(batchId: string, options: ResumeOptions, context: CommandContext): Promise<number> {
  const { io } = context;
  // All that can be wrong is found before anything is started.
  const policy = policyOf(options);
  if (options.watchDeadline !== undefined) parseDurationMs(options.watchDeadline, '--watch-deadline');
  return withBatch(context, { batchId, quiet: options.quiet }, async (platform, view) => {
    const { deployment, taskQueue } = platform.config;
    await resumeFanout(
      platform.temporal,
      { deployment, batchId },
      { taskQueue, retryFailed: options.retryFailed, policy },
    );
    if (!options.detach) return seeFanoutThrough(platform, batchId, options, { context, view });
    if (options.json) printJson(io.stdout, { batchId, outcome: null, error: null });
    else io.stdout.write(`${batchId}\n`);
    return exitCodes.done;
  });
}
