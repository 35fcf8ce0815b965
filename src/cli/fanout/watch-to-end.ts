/** Watches a batch to its end and downloads its results, for `fanout`, `fanout watch` and `fanout resume`. */

import { isDiskFull } from '../../errors/disk-full.js';
import { SandflowError } from '../../errors/sandflow-error.js';
import { fanoutItemResults } from '../../result-store/index.js';
import type { CommandContext } from '../command.js';
import type { Platform } from '../connect/platform.js';
import { failureOf } from '../errors.js';
import { linksOf } from '../output/job-links.js';
import { readReportContext } from '../output/report-context.js';
import { pathProblemOf } from '../path-problems.js';
import { ofThisProcess, parseDurationMs } from '../units.js';
import { UsageError } from '../usage-error.js';
import { polledNotice } from '../webhooks/polled-waits.js';
import { watchCommand } from './next-commands.js';
import type { WatchFanoutOptions } from './options.js';
import type { BatchView } from './progress/batch-view.js';
import { watchFanout } from './progress/watch-fanout.js';
import { claimResultFolder, folderOf } from './result-places.js';
import { downloadResults } from './results/download-results.js';
import { finishFanout, leaveFanout } from './results/finish-fanout.js';
import { parseItemGets } from './results/item-places.js';

/**
 * @returns the exit code
 * @throws UsageError at once, if the results would be written into the folder of another batch
 */
export async function watchFanoutToEnd(
  platform: Platform,
  batchId: string,
  options: WatchFanoutOptions,
  { context, view }: { readonly context: CommandContext; readonly view: BatchView },
): Promise<number> {
  const { io } = context;
  const { deployment } = platform.config;
  const deadlineMs = parseDurationMs(options.watchDeadline, '--watch-deadline', ofThisProcess);
  const batch = { deployment, batchId };
  // What started or resumed the batch has claimed the folder before, and keeps it.
  const release = await claimResultFolder(batch, options, io);
  const watched = watchFanout(platform, batch, { view, interrupted: io.interrupted, deadlineMs });
  const end = await watched.catch(async (error: unknown) => {
    await release();
    throw error;
  });
  if (end.kind !== 'ended') {
    await release();
    view.close();
    return leaveFanout(end.kind, batchId, io, {
      get: options.get,
      json: options.json === true,
      isolation: (await platform.readFacts()).isolation.known,
    });
  }
  view.step('downloading the results');
  const { result } = end;
  const shared = await readReportContext(platform);
  const items = fanoutItemResults(platform.results, { ...batch, batchKey: result.batchKey });
  const out = options.out ?? folderOf(batchId);
  const claim = async () => void (await claimResultFolder(batch, options, io));
  const saving = { cwd: io.cwd, out, claim, gets: parseItemGets(options.get), context: shared };
  const home = await downloadResults(result, items, platform.results, saving).catch((error: unknown) => {
    view.close();
    throw withWayBack(error, batchId, result.outcome, options.get);
  });
  view.close();
  return finishFanout(result, home, io, {
    get: options.get,
    json: options.json === true,
    quiet: options.quiet === true,
    dollarsPerSecond: shared.dollarsPerSecond,
    isolation: (await platform.readFacts()).isolation.known,
    polled: options.quiet ? undefined : await polledNotice(platform, home.waits),
    links: linksOf({ deployment, jobId: batchId }, platform.ui),
  });
}

/**
 * If a path cannot be written, the results of an ended batch are not lost: adds to the error how to save them. Returns
 * other errors unchanged.
 */
export function withWayBack(error: unknown, batchId: string, outcome: string, get: readonly string[] = []): unknown {
  const next = `The batch has ended (${outcome}) and keeps its results: ${watchCommand(batchId, get)} --out DIR`;
  const { message } = failureOf(error).error;
  if (pathProblemOf(error) !== undefined || error instanceof UsageError) {
    return new SandflowError('download_not_written', `${message} ${next}`, { cause: error });
  }
  if (!isDiskFull(error)) return error;
  return new SandflowError('disk_full', `${message} Or save them on another disk. ${next}`, { cause: error });
}
