/** `sandflow fanout show`. */
import { fanoutProgress } from '../../temporal/fanouts/index.js';
import type { CommandContext } from '../command.js';
import { exitCodes } from '../exit-codes.js';
import { printJson } from '../output/json.js';
import { createPaint } from '../output/paint.js';
import { oneLine, setIn } from '../output/terminal-safe.js';
import { boardLines } from './progress/board.js';
import { findDollarsPerSecond } from './progress/price.js';
import { withBatch } from './with-batch.js';

/** @returns the exit code: that of the outcome if the batch has ended, otherwise 0 */
export function showFanout(
  batchId: string,
  { json }: { readonly json?: boolean },
  context: CommandContext,
): Promise<number> {
  const { io } = context;
  return withBatch(context, { batchId }, async (platform) => {
    const progress = await fanoutProgress(platform.temporal, { deployment: platform.config.deployment, batchId });
    const { outcome, error } = progress;
    if (json) printJson(io.stdout, progress);
    else {
      const dollarsPerSecond = await findDollarsPerSecond(platform.service);
      const view = { progress, nowMs: Date.now(), perMinute: null, dollarsPerSecond, failures: [] };
      const width = io.stdout.isTTY ? (io.stdout.columns ?? 80) : 200;
      for (const { text } of boardLines(view, { width, paint: createPaint(io.stdout) })) io.stdout.write(`${text}\n`);
      const outcomes = Object.entries(progress.counts.byOutcome);
      for (const [name, count] of outcomes) if (count > 0) io.stdout.write(`  ${count} ${oneLine(name)}\n`);
      if (error) io.stdout.write(`${error.code}: ${setIn(error.message)}\n`);
    }
    return outcome === null || outcome === 'completed' ? exitCodes.done : exitCodes.otherOutcome;
  });
}
