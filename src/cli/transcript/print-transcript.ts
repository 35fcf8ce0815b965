/** Prints a transcript on stdout: up to now, or live until the job ends. */
import { setTimeout as sleep } from 'node:timers/promises';
import { SandflowError } from '../../errors/sandflow-error.js';
import { anySignal } from '../../os/any-signal.js';
import type { JobProgress } from '../../protocol/job/job-progress.js';
import type { JobError, JobOutcome } from '../../protocol/job/job-result.js';
import { isTemporalUnreachable } from '../../temporal/errors.js';
import { exitCodes } from '../exit-codes.js';
import type { CliIo } from '../io.js';
import { phaseText } from '../output/job-text.js';
import { jsonText } from '../output/json.js';
import type { Notices } from '../output/reporter.js';
import { createScreenLines, textLine } from '../output/screen-lines.js';
import { tableWidth } from '../output/table.js';
import { createPaint } from '../output/terminal.js';
import { setIn } from '../output/terminal-safe.js';
import { createEntryText, type TranscriptEntry } from '../output/transcript-entry.js';
import { formatDuration, plural } from '../units.js';
import type { LookedAt, Transcript } from './transcript.js';

const firstPauseMs = 1_000;
const longestPauseMs = 5_000;
const notStarted = 'It has not started yet.';

/** The state of a job or an item at one moment. */
export type Looked =
  | { readonly kind: 'waiting' }
  | { readonly kind: 'running'; readonly progress: JobProgress }
  | {
      readonly kind: 'ended';
      /** Null if there is no result and no worker answers, so that it is unknown what the job did. */
      readonly job: LookedAt | null;
      readonly outcome: JobOutcome | null;
      readonly shortfall: string | null;
      readonly error: JobError | null;
      readonly at: string | null;
    };

export interface PrintTranscriptOptions {
  readonly io: Pick<CliIo, 'stdout' | 'interrupted'>;
  readonly reporter: Notices;
  readonly transcript: Transcript;
  /** Looks at the job. Asks Temporal only. */
  readonly look: () => Promise<Looked>;
  /** Restores a lost connection to Temporal. */
  readonly reconnect: (notices: Notices) => Promise<void>;
  readonly follow: boolean;
  readonly json: boolean;
}

/** @returns the exit code: 130 if Ctrl-C ended it while the job was running, otherwise 0 */
export async function printTranscript(options: PrintTranscriptOptions): Promise<number> {
  const { io, transcript, look, reconnect, follow } = options;
  const printer = createPrinter(options);
  // A reader such as `head` may leave before the job ends.
  const left = new AbortController();
  io.stdout.once?.('close', () => left.abort());
  const over = anySignal([io.interrupted, left.signal]);
  let pauseMs = firstPauseMs;
  let problem = '';
  try {
    while (!over.aborted) {
      try {
        const looked = await look();
        if (looked.kind === 'ended') return await printEnd(looked, options, printer);
        if (looked.kind === 'waiting' && problem !== notStarted) printer.notice(notStarted, 'detail');
        problem = looked.kind === 'waiting' ? notStarted : '';
        const entries = looked.kind === 'running' ? await transcript.readOn(looked.progress, over) : [];
        printer.print(entries);
        if (!follow) return exitCodes.done;
        if (looked.kind === 'running') printer.status(looked.progress);
        pauseMs = entries.length > 0 ? firstPauseMs : Math.min(longestPauseMs, pauseMs * 1.3);
      } catch (error) {
        if (over.aborted) break;
        const code = error instanceof SandflowError ? error.code : undefined;
        const isSilent = code === 'no_worker';
        const isAway = code === 'temporal_unreachable' || isTemporalUnreachable(error);
        if (!follow || !(isSilent || isAway)) throw error;
        const message = error instanceof Error ? error.message : '';
        if (!isSilent) await reconnect(printer);
        else if (problem !== message) printer.notice(message);
        problem = message;
      }
      await sleep(pauseMs, undefined, { signal: over }).catch(() => undefined);
    }
    return io.interrupted.aborted ? exitCodes.detached : exitCodes.done;
  } finally {
    printer.close();
  }
}

async function printEnd(
  { job, outcome, shortfall, error, at }: Extract<Looked, { kind: 'ended' }>,
  { io, transcript }: PrintTranscriptOptions,
  printer: Printer,
): Promise<number> {
  const entries = job === null ? [] : await transcript.readEnd(job, io.interrupted);
  printer.print([...entries, { kind: 'ended', outcome, shortfall, error, at }]);
  if (job?.prompts.some(({ status }) => status !== 'not_sent') && !transcript.hasHistory()) {
    printer.notice('The history of the sandbox no longer exists; these are the prompts and answers that the job kept.');
  } else if (!transcript.isComplete()) {
    printer.notice('The history is not complete: some of its events are missing.');
  }
  const unread = transcript.unreadRows();
  if (unread > 0) printer.notice(`${plural(unread, 'row')} of the history could not be read.`);
  return exitCodes.done;
}

type Printer = ReturnType<typeof createPrinter>;

function createPrinter({ io: { stdout }, reporter, json, follow }: PrintTranscriptOptions) {
  const columns = () => tableWidth(stdout);
  const format = createEntryText({ paint: createPaint(stdout), columns });
  const status = createScreenLines(stdout, { enabled: follow && !json });
  return {
    print(entries: readonly TranscriptEntry[]): void {
      for (const entry of entries) {
        const { at, kind, ...rest } = entry;
        const lines = json ? [jsonText({ at, kind, ...rest })] : format(entry);
        if (lines.length > 0) status.printAbove(lines.join('\n'));
      }
    },
    notice(...[text, weight]: Parameters<Notices['notice']>): void {
      if (status.enabled) status.printAbove(setIn(text));
      else reporter.notice(text, weight);
    },
    /** Shows on a terminal that the job is alive. */
    status(progress: JobProgress): void {
      const sinceMs = Date.parse(progress.since);
      const text = () => `${phaseText(progress)} · ${formatDuration(Math.max(0, Date.now() - sinceMs))}`;
      status.show((width) => [textLine(text(), width)]);
    },
    close: () => status.close(),
  };
}
