/** `sandflow fanout watch` and `cancel`. */

import { cancelFanout } from '../../workflow-client/fanouts/fanout-client.js';
import type { CommandContext } from '../command.js';
import { askToCancel } from '../connect/ask-to-cancel.js';
import { exitCodeOfEnd, exitCodes } from '../exit-codes.js';
import { printJson } from '../output/json.js';
import { programName } from '../program-name.js';
import type { WatchFanoutOptions } from './options.js';
import { watchFanout } from './progress/watch-fanout.js';
import { watchFanoutToEnd } from './watch-to-end.js';
import { withBatch } from './with-batch.js';

/** @returns the exit code */
export function watchAgain(batchId: string, options: WatchFanoutOptions, context: CommandContext): Promise<number> {
  return withBatch(context, { quiet: options.quiet }, (platform, view) =>
    watchFanoutToEnd(platform, batchId, options, { context, view }),
  );
}

/**
 * Safe to repeat: for a batch that has ended, it reports how.
 * @returns the exit code
 */
export async function cancelAndReport(
  batchId: string,
  { wait, json }: { readonly wait?: boolean; readonly json?: boolean },
  context: CommandContext,
): Promise<number> {
  const { io } = context;
  const { asked, end } = await withBatch(context, {}, async (platform, view) => {
    const batch = { deployment: platform.config.deployment, batchId };
    const cancel = () => cancelFanout(platform.temporal, batch).then(() => undefined);
    const asked = await askToCancel(cancel, 'fanout_ended');
    if (!wait && asked !== 'ended') return { asked, end: undefined };
    return { asked, end: await watchFanout(platform, batch, { view, interrupted: io.interrupted }) };
  });
  const outcome = end?.kind === 'ended' ? end.result.outcome : null;
  if (json) printJson(io.stdout, { batchId, outcome, error: null });
  const had = asked === 'ended' ? 'had already ended' : 'ended';
  const text = outcome ? `Batch ${batchId} ${had}: ${outcome}.` : `Cancelling batch ${batchId}.`;
  io.stderr.write(`${text} See its results with: ${programName} fanout watch ${batchId}\n`);
  return end?.kind === 'detached' ? exitCodeOfEnd(end) : exitCodes.done;
}
