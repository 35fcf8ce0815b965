/** Watches a batch to its end and downloads its results, for `fanout`, `fanout watch` and `fanout resume`. */
import { isDiskFull } from '../../contract/disk-full.js';
import { SandflowError } from '../../contract/errors/sandflow-error.js';
import { fanoutItemResults } from '../../result-store/index.js';
import type { CommandContext } from '../command.js';
import type { Platform } from '../connect/platform.js';
import { failureOf } from '../errors.js';
import { linksOf } from '../output/job-links.js';
import { readReportContext } from '../output/report-context.js';
import { ofThisProcess, parseDurationMs } from '../units.js';
import type { WatchFanoutOptions } from './options.js';
import type { BatchView } from './progress/batch-view.js';
import { watchFanout } from './progress/watch-fanout.js';
import { downloadResults } from './results/download-results.js';
import { finishFanout, leaveFanout } from './results/finish-fanout.js';

/** Default folder for the results of a batch. */
export function folderOf(batchId: string): string {
  return `fanout-${batchId}`;
}

/** @returns the exit code */
export async function watchFanoutToEnd(
  platform: Platform,
  batchId: string,
  options: WatchFanoutOptions,
  { context, view }: { readonly context: CommandContext; readonly view: BatchView },
): Promise<number> {
  const { io } = context;
  const { deployment } = platform.config;
  const deadlineMs = parseDurationMs(options.watchDeadline, '--watch-deadline', ofThisProcess);
  const end = await watchFanout(platform, { deployment, batchId }, { view, interrupted: io.interrupted, deadlineMs });
  if (end.kind !== 'ended') {
    view.close();
    return leaveFanout(end.kind, batchId, io, { json: options.json === true, isolation: platform.isolation.known });
  }
  view.step('downloading the results');
  const { result } = end;
  const shared = await readReportContext(platform);
  const items = fanoutItemResults(platform.results, { deployment, batchId, batchKey: result.batchKey });
  const out = options.out ?? folderOf(batchId);
  const home = await downloadResults(result, items, platform.results, {
    cwd: io.cwd,
    out,
    report: options.report,
    context: shared,
  }).catch((error: unknown) => {
    view.close();
    throw withWayBack(error, batchId, result.outcome);
  });
  view.close();
  return finishFanout(result, home, io, {
    json: options.json === true,
    quiet: options.quiet === true,
    dollarsPerSecond: shared.dollarsPerSecond,
    isolation: platform.isolation.known,
    links: linksOf({ deployment, jobId: batchId }, platform.ui),
  });
}

/** A batch that has ended keeps its results, so a full disk loses nothing. Other errors pass. */
export function withWayBack(error: unknown, batchId: string, outcome: string): unknown {
  if (!isDiskFull(error)) return error;
  const next = `The batch has ended (${outcome}) and keeps its results: sandflow fanout watch ${batchId} --out DIR`;
  const { message } = failureOf(error).error;
  return new SandflowError('disk_full', `${message} Or save them on another disk. ${next}`, { cause: error });
}
