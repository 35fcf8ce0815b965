/** Saves the results of a batch in a folder: `results.jsonl`, the report, and the files of each item. */
import { open, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { isFolderPath } from '../../../contract/workflow-safe/folder-path.js';
import { isDiskFull, namingFullDisk } from '../../../errors/disk-full.js';
import { makeFolderOf } from '../../../os/inner-folder.js';
import { makeFolders } from '../../../os/make-folders.js';
import type { FanoutProgress } from '../../../protocol/fanout/fanout-progress.js';
import type { FanoutResult, ItemResult } from '../../../protocol/fanout/fanout-result.js';
import type { CollectedFile, Wake } from '../../../protocol/job/job-result.js';
import type { FailureReason } from '../../../report/failures.js';
import type { FanoutReport } from '../../../report/fanout-report.js';
import type { ReportContext } from '../../../report/overview.js';
import type { ResultStore } from '../../../result-store/index.js';
import { reportWakes } from '../../../workflow-client/jobs/wake-report.js';
import { piecesOf, unpackFolder } from '../../folders/unpack-folder.js';
import { withWholeResults } from '../../output/job-report.js';
import { leftText } from '../../output/job-text.js';
import { createPreviews } from '../../output/previews.js';
import { placeBelow } from '../../place-below.js';
import { programName } from '../../program-name.js';
import { replaceFile } from '../../replace-file.js';
import type { EndsOfWaits } from '../../webhooks/polled-waits.js';
import { createItemFolders } from './item-folders.js';
import { createItemPlaces, type ItemGets } from './item-places.js';

export interface DownloadResultsOptions {
  readonly cwd: string;
  /** The folder, relative to `cwd`. */
  readonly out: string;
  /** Makes the folder, or throws if it belongs to another batch by now. */
  readonly claim: () => Promise<void>;
  /** Where files are saved below the folder of their item. Default: at their remote paths. */
  readonly gets?: ItemGets;
  /** Further data for the report. Default: none. */
  readonly context?: ReportContext;
}

export interface DownloadedResults {
  /** Relative to `cwd`, like all paths here. */
  readonly resultsFile: string;
  readonly reportFile: string;
  /** Folder of the items' files; null if no file was saved. */
  readonly filesFolder: string | null;
  readonly files: number;
  /** Number of items whose newest fork was created by the newest run of the batch. */
  readonly forks: number;
  /** Number of items that ended in earlier runs of the batch; 0 unless it was resumed. */
  readonly earlier: number;
  /** How the waits of the items of the newest run ended. */
  readonly waits: EndsOfWaits;
  /** Why items failed, the most frequent reason first. */
  readonly failures: readonly FailureReason[];
  /** One text for each file that could not be downloaded, or that a completed item lacks. */
  readonly problems: readonly string[];
  /** One text for each sandbox, prompt or command that an item left running. */
  readonly left: readonly string[];
}

/** Writes each file under a temporary name and then renames it. Safe to repeat. */
export async function downloadResults(
  result: FanoutResult | FanoutProgress,
  items: AsyncIterable<ItemResult>,
  store: Pick<ResultStore, 'get' | 'getStream'>,
  options: DownloadResultsOptions,
): Promise<DownloadedResults> {
  const { cwd, out, gets = new Map<string, string>() } = options;
  const folder = resolve(cwd, out);
  await options.claim();
  const read = (ref: string) => store.get(ref);
  const previews = createPreviews();
  const { createFanoutReport } = await import('../../../report/fanout-report.js');
  const { endedInEarlierRun } = await import('../../../report/items.js');
  const report = createFanoutReport(result, previews.all, options.context);
  const folderOf = createItemFolders();
  let isCollected = false;
  const problems: string[] = [];
  const left: string[] = [];
  let files = 0;
  let forks = 0;
  let earlier = 0;
  const wakes: (readonly Wake[])[] = [];
  const notCollected = new Set(gets.keys());

  async function saveFiles(item: ItemResult): Promise<ReadonlyMap<string, string>> {
    const placeOf = createItemPlaces(gets);
    const saved = new Map<string, string>();
    for (const file of item.job?.files ?? []) {
      notCollected.delete(file.path);
      const place = await saveFile(item, file, placeOf);
      if (place !== undefined) saved.set(file.path, relative(folder, place).split(sep).join('/'));
    }
    return saved;
  }

  async function saveFile(
    item: ItemResult,
    { path, ref, error, sha256 }: CollectedFile,
    placeOf: (path: string) => string,
  ): Promise<string | undefined> {
    // If an item failed, missing files are expected.
    if (ref === null && item.outcome !== 'completed') return undefined;
    try {
      if (ref === null) throw new Error(error ?? 'it was not collected');
      const content = isFolderPath(path) ? undefined : await read(ref);
      if (content) previews.add(ref, content);
      const place = placeBelow(join(folder, 'files', folderOf(item)), placeOf(path));
      await namingFullDisk(place, () => makeFolderOf(place, folder));
      if (content === undefined) {
        // What an earlier download has left there is of the same item.
        const leftOut = await unpackFolder(piecesOf(store, ref), place, { sha256, replaces: true, taken: '' });
        if (leftOut !== null) problems.push(`${item.itemId}: ${path}: ${leftOut}`);
        files += 1;
        return place;
      }
      await replaceFile(place, (temporary) => writeFile(temporary, content, { flag: 'wx' }));
      files += 1;
      return place;
    } catch (cause) {
      // On a full disk, all further writes would fail too.
      if (isDiskFull(cause)) throw cause;
      problems.push(`${item.itemId}: ${path}: ${cause instanceof Error ? cause.message : String(cause)}`);
      return undefined;
    }
  }

  const results = join(folder, 'results.jsonl');
  await replaceFile(results, async (temporary) => {
    const lines = await open(temporary, 'wx');
    try {
      for await (const item of items) {
        await options.claim();
        if (item.outcome === 'completed' && item.job !== null) isCollected = true;
        if (Date.parse(item.times.forkedAt ?? '') >= Date.parse(result.startedAt)) forks += 1;
        if (endedInEarlierRun(item, Date.parse(result.startedAt))) earlier += 1;
        else wakes.push(item.job?.wakes ?? []);
        await lines.write(`${JSON.stringify(await withWholeAnswers(item, read))}\n`);
        for (const one of item.job?.left ?? []) left.push(`${item.itemId}: ${leftText(one)}`);
        report.add(item, await saveFiles(item));
      }
    } finally {
      await lines.close();
    }
  });

  // An item that failed may have collected nothing.
  if (isCollected) {
    for (const remote of notCollected) {
      problems.push(
        `--get: no item collected ${remote}. \`${programName} fanout --get\` names the files when the batch starts.`,
      );
    }
  }
  await options.claim();
  const page = join(folder, 'report.html');
  await writeReport(page, report);
  const shown = (path: string) => relative(cwd, path) || path;
  return {
    resultsFile: shown(results),
    reportFile: shown(page),
    filesFolder: files > 0 ? shown(join(folder, 'files')) : null,
    files,
    forks,
    earlier,
    waits: reportWakes(wakes),
    failures: report
      .failures()
      .flatMap(({ reasons }) => reasons)
      .sort((a, b) => b.items.length - a.items.length),
    problems,
    left,
  };
}

export async function writeReport(path: string, report: FanoutReport): Promise<void> {
  await makeFolders(dirname(path));
  await replaceFile(path, (temporary) => writeFile(temporary, report.render(), { flag: 'wx' }));
}

/** Restores cut answers from the result store. If the store lacks the whole answer, the cut one stays. */
export async function withWholeAnswers(item: ItemResult, read: (ref: string) => Promise<Buffer>): Promise<ItemResult> {
  if (!item.job?.prompts.some(({ resultRef }) => resultRef !== null)) return item;
  return { ...item, job: { ...item.job, prompts: await withWholeResults(item.job.prompts, read) } };
}
