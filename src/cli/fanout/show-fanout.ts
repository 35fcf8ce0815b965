/** `sandflow fanout show`: the progress of a batch and its items, once. */
import { isDone } from '../../protocol/shortfall.js';
import { fanoutProgress } from '../../workflow-client/fanouts/fanout-client.js';
import type { CommandContext } from '../command.js';
import { exitCodeOfEnd, exitCodes, isFailedByOthers } from '../exit-codes.js';
import { printJson } from '../output/json.js';
import { findDollarsPerSecond } from '../output/price.js';
import { rowsOf } from '../output/screen-lines.js';
import { tableWidth } from '../output/table.js';
import { createPaint } from '../output/terminal.js';
import { oneLine, setIn } from '../output/terminal-safe.js';
import { nextWhileBatchRuns } from './next-commands.js';
import { boardLines } from './progress/board.js';
import { createItemLooks } from './progress/item-looks.js';
import { endedTries, noItems } from './progress/shown-items.js';
import { createFailedItems } from './results/failed-items.js';
import { withBatch } from './with-batch.js';

/** Lines in a file or a pipe, which has no height. */
const rowsElsewhere = 40;

/** @returns the exit code of the outcome if the batch has ended, otherwise 0 */
export function showFanout(
  batchId: string,
  { json }: { readonly json?: boolean },
  context: CommandContext,
): Promise<number> {
  const { stdout, stderr, interrupted: signal } = context.io;
  return withBatch(context, {}, async (platform) => {
    const batch = { deployment: platform.config.deployment, batchId };
    const progress = await fanoutProgress(platform.temporal, batch);
    const { outcome, shortfall, error, counts } = progress;
    if (json) printJson(stdout, progress);
    else {
      const dollarsPerSecond = await findDollarsPerSecond(platform.service);
      const width = tableWidth(stdout) ?? 200;
      const rows = stdout.isTTY ? rowsOf(stdout) : rowsElsewhere;
      const failedItems = createFailedItems(platform.results, { ...batch, batchKey: progress.batchKey });
      const { all: failures } = await failedItems.look(Math.min(rows, counts.failed + counts.retried));
      const looks = createItemLooks(platform, batch);
      const lookAndList = () => looks.look(rows, signal).then(() => looks.list(signal));
      const found = outcome === null ? await lookAndList().catch(() => noItems) : noItems;
      const running = { ...found, endedTries: endedTries(counts) };
      const view = { progress, nowMs: Date.now(), perMinute: null, dollarsPerSecond, failures, running };
      for (const { text } of boardLines(view, { width, rows, paint: createPaint(stdout) })) stdout.write(`${text}\n`);
      const outcomes = Object.entries(counts.byOutcome);
      for (const [name, count] of outcomes) if (count > 0) stdout.write(`  ${count} ${oneLine(name)}\n`);
      if (shortfall) stdout.write(`  ${oneLine(shortfall)}\n`);
      if (error) stdout.write(`${oneLine(error.code)}: ${setIn(error.message)}\n`);
      const next = nextWhileBatchRuns(batchId, [], progress.held !== undefined);
      if (outcome === null) for (const line of next) stderr.write(`${line}\n`);
    }
    if (outcome === null) return exitCodes.done;
    return exitCodeOfEnd({
      kind: 'ended',
      isDone: isDone({ outcome, shortfall }),
      isOfOthers: isFailedByOthers(progress),
    });
  });
}
