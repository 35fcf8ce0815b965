/** `sandflow fanout watch`, `cancel` and `resume`. */
import { SandflowError } from '../../contract/workflow-safe/sandflow-error.js';
import type { FanoutPolicy } from '../../protocol/fanout/fanout-input.js';
import { cancelFanout, type FanoutAddress, fanoutProgress } from '../../workflow-client/fanouts/fanout-client.js';
import { resumeFanout, sourceOfBatch } from '../../workflow-client/fanouts/resume-fanout.js';
import type { CommandContext } from '../command.js';
import { askToCancel } from '../connect/ask-to-cancel.js';
import { type CheckSourceOptions, checkSource } from '../connect/check-source.js';
import { sayLocalFacts } from '../connect/local-facts.js';
import { namedSourceOf } from '../connect/named-source.js';
import type { Platform } from '../connect/platform.js';
import { exitCodes } from '../exit-codes.js';
import { printJson } from '../output/json.js';
import { nextWhileBatchRuns } from './next-commands.js';
import type { ResumeFanoutOptions, WatchFanoutOptions } from './options.js';
import { watchFanout } from './progress/watch-fanout.js';
import { claimResultFolder } from './result-places.js';
import { printStarted } from './results/finish-fanout.js';
import { watchFanoutToEnd } from './watch-to-end.js';
import { withBatch } from './with-batch.js';

/** @returns the exit code */
export function watchAgain(batchId: string, options: WatchFanoutOptions, context: CommandContext): Promise<number> {
  return withBatch(context, { batchId, quiet: options.quiet }, (platform, view) =>
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
  const { asked, end } = await withBatch(context, { batchId }, async (platform, view) => {
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
  io.stderr.write(`${text} See its results with: sandflow fanout watch ${batchId}\n`);
  return end?.kind === 'detached' ? exitCodes.detached : exitCodes.done;
}

/**
 * @param policy the parts of the policy that the command line changes, checked
 * @returns the exit code
 */
export async function resumeBatch(
  batchId: string,
  policy: Partial<FanoutPolicy>,
  options: ResumeFanoutOptions,
  context: CommandContext,
): Promise<number> {
  const { io } = context;
  return withBatch(context, { batchId, quiet: options.quiet }, async (platform, view) => {
    const { deployment, taskQueue } = platform.config;
    const batch = { deployment, batchId };
    const { counts, sealed } = await fanoutProgress(platform.temporal, batch);
    const left = counts.items - counts.completed - (options.retryFailed ? 0 : counts.failed);
    if (sealed && left === 0) {
      const done = counts.completed === counts.items ? 'completed' : 'completed or failed';
      view.notice(`Nothing left to run in ${batchId}: every item has ${done}.`, 'detail');
    } else {
      const { retryFailed } = options;
      if (options.check) await requireSource(platform, batch, { signal: io.interrupted, notices: view });
      sayLocalFacts(await platform.readFacts(), view);
      io.interrupted.throwIfAborted();
      const release = options.detach ? undefined : await claimResultFolder(batch, options, io);
      context.undone = undefined;
      try {
        await resumeFanout(platform.temporal, batch, { taskQueue, retryFailed, policy });
      } catch (error) {
        // Only a refusal proves that the batch was not resumed.
        if (error instanceof SandflowError) await release?.();
        throw error;
      }
      view.notice(`Batch ${batchId} resumed: running the items that are missing or failed.`, 'detail');
    }
    if (!options.detach) return watchFanoutToEnd(platform, batchId, options, { context, view });
    for (const line of nextWhileBatchRuns(batchId)) view.notice(line, 'detail');
    view.close();
    return printStarted(batchId, platform, io, options);
  });
}

/** @throws SandflowError if the source of the batch no longer exists; `fanout_runs` is reported by the resume itself */
async function requireSource(
  { temporal, service, patiently }: Pick<Platform, 'temporal' | 'service' | 'patiently'>,
  batch: FanoutAddress,
  asking: Pick<CheckSourceOptions, 'signal' | 'notices'>,
): Promise<void> {
  const named = namedSourceOf(await patiently(() => sourceOfBatch(temporal, batch)));
  if (named) await checkSource(named, { service, ...asking });
}
