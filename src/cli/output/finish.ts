/** Ends a watch: prints the result on stdout and everything else on stderr, and returns the exit code. */
import { mayBeRepeated } from '../../protocol/failure-class.js';
import type { JobError, JobResult } from '../../protocol/job/job-result.js';
import { endText, type HowItEnded, isDone, shortfallOfJob } from '../../protocol/shortfall.js';
import { plainError } from '../errors.js';
import { exitCodeOfEnd, type Unfinished } from '../exit-codes.js';
import type { CliIo } from '../io.js';
import { programName } from '../program-name.js';
import { formatDuration, plural } from '../units.js';
import type { SandboxIsolation } from './isolation.js';
import { type JobLinks, linksText, nextAfterEnd } from './job-links.js';
import { emptyReport, type JobReport, type ReportedFile, reportOf, withWholeResults } from './job-report.js';
import { checkText, keptTexts, leftText, roundText, wasDegradedText } from './job-text.js';
import { printJson } from './json.js';
import { pasteable } from './pasteable.js';
import { createPaint } from './terminal.js';
import { oneLine, setIn, shownText } from './terminal-safe.js';

/** The code of a completed job that lacks a file which was to be collected. */
const filesMissing = 'files_missing';

/** How watching a job ended. */
export type WatchEnd =
  | { readonly kind: 'ended'; readonly result: JobResult }
  /** The job ended without a result, for example because it was terminated or failed with a defect. */
  | { readonly kind: 'broken'; readonly error: JobError }
  | Unfinished;

type Streams = Pick<CliIo, 'stdout' | 'stderr'>;

export interface FinishOptions {
  readonly jobId: string;
  readonly json: boolean;
  readonly quiet: boolean;
  readonly files: readonly ReportedFile[];
  /** Reads the whole text of a cut result from the result store. */
  readonly readWhole: (ref: string) => Promise<Buffer>;
  readonly isolation?: SandboxIsolation | null;
  /** Whether the watch has shown an answer. Then it is not printed again on the same terminal. Default: it has not. */
  readonly hasShown?: (answer: string) => boolean;
  /** A line for the summary: that waits ended by polls. */
  readonly polled?: string;
  /** A line for the summary: how the sandbox ends that the job has kept. */
  readonly kept?: string;
  /** Shown in the summary if given. */
  readonly links?: JobLinks;
  /** True to print the links with --json too. */
  readonly linksInJson?: boolean;
}

/** @returns the exit code */
export async function finish(end: WatchEnd, io: Streams, options: FinishOptions): Promise<number> {
  const { jobId, json, isolation = null } = options;
  const comeBack = `Reattach with: ${programName} jobs watch ${jobId}`;
  if (end.kind === 'detached' || end.kind === 'deadline') {
    const detached = end.kind === 'detached';
    const message = `${detached ? 'Detached' : 'Stopped watching'}; job ${jobId} is still running. ${comeBack}`;
    io.stderr.write(`${message}\n`);
    const error = plainError(detached ? 'detached' : 'watch_deadline', message);
    if (json) printJson(io.stdout, { ...emptyReport(jobId, error), isolation });
    return exitCodeOfEnd(end);
  }
  if (end.kind === 'broken') {
    io.stderr.write(`${setIn(end.error.message)}\n`);
    if (json) printJson(io.stdout, { ...emptyReport(jobId, end.error), isolation });
    return exitCodeOfEnd({ kind: 'ended', isDone: false });
  }
  const report = await wholeReport(end.result, options);
  const ended = { ...end.result, shortfall: shortfallOfJob(end.result) };
  const isUnverified = ended.outcome === 'unverified' && ended.shortfall === null;
  const done = isDone(ended) && report.error === null;
  if (!options.quiet || !done) printSummary(report, io, { ...options, ended });
  if (json) printJson(io.stdout, { ...report, ...(options.linksInJson && options.links), isolation });
  else printAnswers(report, io, options);
  const { failureClass, error } = end.result;
  const isOfOthers = ended.shortfall === null && mayBeRepeated(failureClass, error?.code);
  return exitCodeOfEnd({ kind: 'ended', isDone: done, isUnverified, isOfOthers });
}

/** The answer to the last prompt, or all answers if the prompts ran in separate conversations. */
function printAnswers({ prompts }: JobReport, io: Streams, { hasShown }: Pick<FinishOptions, 'hasShown'>): void {
  const isShown = (answer: string) => io.stdout.isTTY && io.stderr.isTTY && hasShown?.(answer);
  const sideBySide = new Set(prompts.map(({ conversationId }) => conversationId)).size > 1;
  const answers = (sideBySide ? prompts : prompts.slice(-1)).flatMap(({ result }) =>
    result && !isShown(result) ? [result] : [],
  );
  for (const [index, answer] of answers.entries()) {
    const text = `${index > 0 ? '\n' : ''}${answer}${answer.endsWith('\n') ? '' : '\n'}`;
    // Written as bytes, so that a pipe gets the agent's answer unchanged.
    io.stdout.write(io.stdout.isTTY ? shownText(text) : Buffer.from(text));
  }
}

function printSummary(
  report: JobReport,
  io: Streams,
  { links, polled, kept, ended }: Pick<FinishOptions, 'links' | 'polled' | 'kept'> & { readonly ended: HowItEnded },
): void {
  const paint = createPaint(io.stderr);
  const parts = [
    paint(isDone(ended) ? 'green' : 'red', oneLine(endText(ended))),
    oneLine(`job ${report.jobId}`),
    ...(report.sandboxId ? [`sandbox ${oneLine(report.sandboxId)}${endOfSandbox(report)}`] : []),
    formatDuration(report.durationMs),
    plural(report.apiCalls, 'API call'),
  ];
  io.stderr.write(`${parts.join(' · ')}\n`);
  // The lines of the files name the files that are missing.
  if (report.error && report.error.code !== filesMissing)
    io.stderr.write(`  ${oneLine(report.error.code)}: ${setIn(report.error.message, '    ')}\n`);
  for (const { status, error, note } of report.prompts) {
    if (error && error !== report.error?.message)
      io.stderr.write(`  prompt ${oneLine(status)}: ${setIn(error, '    ')}\n`);
    else if (note) io.stderr.write(`  prompt ${oneLine(status)}: ${setIn(note, '    ')}\n`);
  }
  for (const round of report.rounds ?? []) io.stderr.write(`  ${roundText(round)}\n`);
  const after = [...(report.after ?? []), ...(report.always ?? [])];
  for (const run of after) io.stderr.write(`  at the end: ${checkText(run)}\n`);
  for (const file of report.files) {
    const unsaved = file.error === null ? ` (save it with: --get ${pasteable(file.path, 'PATH')})` : '';
    const where = file.localPath ? ` → ${file.localPath}` : unsaved;
    // A saved folder may lack something, too.
    const why = file.error === null ? '' : `: ${file.error}`;
    io.stderr.write(`  ${oneLine(file.path)}${oneLine(`${where}${why}`)}${marksOf(file)}\n`);
  }
  if (report.degraded) io.stderr.write(`${paint('yellow', `  ${wasDegradedText(report.degraded)}`)}\n`);
  for (const one of report.left) io.stderr.write(`${paint('yellow', `  ${leftText(one)}`)}\n`);
  if (kept) io.stderr.write(`  ${kept}\n`);
  if (polled) io.stderr.write(`${paint('yellow', `  ${polled}`)}\n`);
  if (links) io.stderr.write(`  ${linksText(links)}\n`);
  io.stderr.write(`${paint('dim', `  ${nextAfterEnd(report)}`)}\n`);
}

/** Notes about a collected file. */
function marksOf({ ref, partial, unchanged, diff }: ReportedFile): string {
  if (ref === null) return '';
  const marks = [
    ...(diff ? [diff.outcome === 'no_changes' ? 'no changes' : plural(diff.changedFiles ?? 0, 'changed file')] : []),
    ...(partial ? ['partial: collected before the job had finished'] : []),
    ...(unchanged && !diff ? ['unchanged: the job did not change it'] : []),
    ...(diff?.notes ?? []).map(oneLine),
  ];
  return marks.length === 0 ? '' : ` (${marks.join('; ')})`;
}

function endOfSandbox({ stop, deletion }: JobReport): string {
  if (deletion) return ` (delete ${oneLine(deletion.status)})`;
  if (!stop) return ' (kept running)';
  return ` (stop ${oneLine(stop.status)}${stop.kept ? `, ${keptTexts[stop.kept]}` : ''})`;
}

/** Restores cut results and lists missing files. */
async function wholeReport(result: JobResult, options: FinishOptions): Promise<JobReport> {
  const prompts = await withWholeResults(result.prompts, options.readWhole);
  const missing = options.files.filter(({ error }) => error !== null);
  const error =
    missing.length === 0
      ? null
      : plainError(filesMissing, missing.map((file) => `${file.path}: ${file.error}`).join('; '));
  return reportOf({ ...result, prompts }, options.files, error);
}
