/** Ends a watch: prints a summary on stderr and the path of the results on stdout, and returns the exit code. */
import { classesText } from '../../../protocol/failure-class.js';
import type { FanoutResult } from '../../../protocol/fanout/fanout-result.js';
import { endText, isDone } from '../../../protocol/shortfall.js';
import { dollarsText } from '../../../report/numbers.js';
import type { Platform } from '../../connect/platform.js';
import { plainError } from '../../errors.js';
import { exitCodeOfEnd, exitCodes, isFailedByOthers } from '../../exit-codes.js';
import type { CliIo } from '../../io.js';
import type { SandboxIsolation } from '../../output/isolation.js';
import { type JobLinks, linksText } from '../../output/job-links.js';
import { printJson } from '../../output/json.js';
import { createPaint } from '../../output/terminal.js';
import { oneLine, setIn } from '../../output/terminal-safe.js';
import { programName } from '../../program-name.js';
import { formatDuration, plural } from '../../units.js';
import { nextAfterBatch, watchCommand } from '../next-commands.js';
import { duration } from '../progress/line.js';
import type { DownloadedResults } from './download-results.js';

/** Maximum number of problems in the summary; `--json` prints all of them. */
const problemsShown = 10;

/** Maximum number of reasons of failures in the summary; the report has all of them. */
const reasonsShown = 3;

type Streams = Pick<CliIo, 'stdout' | 'stderr'>;

export interface FinishFanoutOptions {
  readonly json: boolean;
  readonly quiet: boolean;
  /** The values of `--get`, for the next commands. Default: none. */
  readonly get?: readonly string[];
  readonly dollarsPerSecond: number | null;
  readonly isolation?: SandboxIsolation | null;
  /** A line for the summary: that waits ended by polls. */
  readonly polled?: string;
  /** Shown in the summary if given. */
  readonly links?: JobLinks;
}

/** @returns the exit code */
export function finishFanout(
  result: FanoutResult,
  home: DownloadedResults,
  io: Streams,
  { json, quiet, isolation = null, ...said }: FinishFanoutOptions,
): number {
  const lacksNothing = home.problems.length === 0 && home.left.length === 0;
  const done = isDone(result) && lacksNothing;
  if (!quiet || !done) for (const line of summaryLines(result, home, io, said)) io.stderr.write(`${line}\n`);
  const { resultsFile, reportFile, filesFolder, problems, left } = home;
  if (json) printJson(io.stdout, { ...result, resultsFile, reportFile, filesFolder, problems, left, isolation });
  else io.stdout.write(`${resultsFile}\n`);
  return exitCodeOfEnd({ kind: 'ended', isDone: done, isOfOthers: lacksNothing && isFailedByOthers(result) });
}

/** Prints the id of a batch that is not watched. @returns the exit code */
export async function printStarted(
  batchId: string,
  { readFacts }: Pick<Platform, 'readFacts'>,
  { stdout }: Streams,
  { json }: { readonly json?: boolean },
): Promise<number> {
  if (json) {
    const { isolation } = await readFacts();
    printJson(stdout, { batchId, outcome: null, isolation: isolation.known, error: null });
  } else stdout.write(`${batchId}\n`);
  return exitCodes.done;
}

/** Prints that the batch keeps running, and how to reattach. @returns the exit code */
export function leaveFanout(
  kind: 'detached' | 'deadline',
  batchId: string,
  io: Streams,
  { json, get = [], isolation = null }: Pick<FinishFanoutOptions, 'json' | 'get' | 'isolation'>,
): number {
  const detached = kind === 'detached';
  const message = `${detached ? 'Detached' : 'Stopped watching'}; batch ${batchId} is still running.`;
  io.stderr.write(
    `${message}\n  reattach:  ${watchCommand(batchId, get)}\n  cancel:    ${programName} fanout cancel ${batchId}\n`,
  );
  const error = plainError(detached ? 'detached' : 'watch_deadline', message);
  if (json) printJson(io.stdout, { batchId, outcome: null, isolation, error });
  return exitCodeOfEnd({ kind });
}

export function summaryLines(
  result: FanoutResult,
  home: DownloadedResults,
  io: Streams,
  { dollarsPerSecond, polled, links, get }: Pick<FinishFanoutOptions, 'dollarsPerSecond' | 'polled' | 'links' | 'get'>,
): string[] {
  const paint = createPaint(io.stderr);
  const { batchId, counts, budget, durationMs, apiCalls, error, leftSandboxIds } = result;
  const minutes = durationMs / 60_000;
  const { spentSeconds } = budget;
  const pace = minutes > 0 && home.forks > 0 ? [`${(home.forks / minutes).toFixed(1)} forks a minute`] : [];
  const cost = [
    `machine time ${duration(spentSeconds * 1_000)}`,
    ...(dollarsPerSecond === null ? [] : [dollarsText(spentSeconds * dollarsPerSecond)]),
  ];
  const took = formatDuration(durationMs);
  const calls = plural(apiCalls, 'API call');
  const name = [paint(isDone(result) ? 'green' : 'red', oneLine(endText(result))), `batch ${batchId}`];
  const head =
    home.earlier === 0
      ? [[...name, `${plural(counts.items, 'item')} in ${took}`, ...pace, ...cost, calls]]
      : [
          [...name, plural(counts.items, 'item'), `${home.earlier} of them from earlier runs`],
          [`  this run: ${plural(counts.items - home.earlier, 'item')} in ${took}`, ...pace, calls],
          [`  all runs: ${cost[0]}`, ...cost.slice(1)],
        ];
  const whose = classesText(counts.byClass);
  const outcomes = Object.entries(counts.byOutcome).filter(([, count]) => count > 0);
  const widest = Math.max(0, ...outcomes.map(([, count]) => String(count).length));
  return [
    ...head.map((parts) => parts.join(' · ')),
    ...outcomes.map(([name, count]) => `  ${String(count).padStart(widest)} ${oneLine(name)}`),
    ...failureLines(home.failures).map((line) => paint('red', line)),
    ...(whose === '' ? [] : [`  whose failure: ${whose}`]),
    ...(counts.retried > 0 ? [`  ${counts.retried} retried`] : []),
    ...(error ? [`  ${oneLine(error.code)}: ${setIn(error.message, '    ')}`] : []),
    ...(leftSandboxIds.length > 0 ? [paint('yellow', oneLine(`  not cleaned up: ${leftSandboxIds.join(', ')}`))] : []),
    ...home.left.slice(0, problemsShown).map((text) => paint('yellow', `  ${oneLine(text)}`)),
    ...(home.left.length > problemsShown
      ? [`  … and ${home.left.length - problemsShown} more left behind by items`]
      : []),
    ...home.problems.slice(0, problemsShown).map((problem) => paint('yellow', `  ${oneLine(problem)}`)),
    ...(home.problems.length > problemsShown ? [`  … and ${home.problems.length - problemsShown} more files`] : []),
    ...(polled ? [paint('yellow', `  ${polled}`)] : []),
    `  results  ${home.resultsFile}`,
    `  report   ${home.reportFile}`,
    ...(home.filesFolder === null ? [] : [`  files    ${home.filesFolder} (${home.files})`]),
    ...(links ? [`  ${linksText(links)}`] : []),
    ...nextAfterBatch(result, home.failures[0]?.items[0]?.itemId, get).map((line) => paint('dim', `  ${line}`)),
  ];
}

function failureLines(failures: DownloadedResults['failures']): string[] {
  const lines = failures.slice(0, reasonsShown).map(({ message, items }) => {
    const first = items[0]?.itemId ?? '';
    const which = items.length === 1 ? first : `${plural(items.length, 'item')} such as ${first}`;
    return oneLine(`  failed   ${which}: ${message}`);
  });
  const more = failures.length - lines.length;
  return more > 0 ? [...lines, `  … and ${plural(more, 'more reason')}, in the report`] : lines;
}
