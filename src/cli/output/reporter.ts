/** Shows a watched job on stderr: one status line in a terminal, plain lines elsewhere, nothing when quiet. */
import type { JobProgress } from '../../protocol/job/job-progress.js';
import type { OutputStream } from '../io.js';
import { formatDuration } from '../units.js';
import { holdNotice, phaseName } from './job-hold.js';
import { autoStopText, blockedText, degradedText, phaseText, roundText } from './job-text.js';
import { createScreenLines, textLine } from './screen-lines.js';
import { createPaint } from './terminal.js';
import { headLine, oneLine, setIn, shownText } from './terminal-safe.js';
import { agentLines, createRepeats, type TranscriptEntry, textLines, wakeText } from './transcript-entry.js';

export interface Notices {
  /** A message for the user. Shown even when quiet, unless its weight is `detail`. */
  notice(text: string, weight?: 'warning' | 'detail'): void;
  /** Shows on a terminal what the command waits for, and for how long; null when the wait is over. */
  busy?(text: string | null): void;
}

/** After this time without a line, a watch that writes to a file or a pipe says that the job is alive, in ms. */
const aliveEveryMs = 60_000;

/** Lines of an agent that are compared with its answer. An answer with later lines is printed again. */
const mostShownLines = 10_000;

export interface Reporter extends Notices {
  progress(progress: JobProgress): void;
  /** New entries of the job's transcript, in order. */
  entries(entries: readonly TranscriptEntry[], job: Pick<JobProgress, 'sandboxId'>): void;
  /** True if the lines of the agent that were shown have all lines of this answer, in order. */
  hasShown(answer: string): boolean;
  /** Removes the status line. */
  close(): void;
}

export function createReporter({ stream, quiet }: { stream: OutputStream; quiet: boolean }): Reporter {
  const paint = createPaint(stream);
  const status = createScreenLines(stream, { enabled: !quiet });
  const isRepeated = createRepeats();
  let blockedSince = '';
  let degradedShown = false;
  let unrenewedSince = '';
  let held: string | undefined;
  let toldRounds = 0;
  let lastLineMs = Date.now();
  const shown: string[] = [];

  const detail = (text: string) => {
    lastLineMs = Date.now();
    if (!quiet) status.printAbove(paint('dim', text));
  };
  const warning = (text: string) => status.printAbove(paint('yellow', text));

  const showEntry = (entry: TranscriptEntry, sandboxId: string | null) => {
    if (quiet || isRepeated(entry)) return;
    if (entry.kind === 'wake') detail(oneLine(wakeText(entry.wake)));
    // On a terminal, the status line shows the phase.
    if (entry.kind === 'phase' && !status.enabled) {
      const where = sandboxId === null || entry.phase === 'creating' ? '' : ` · ${oneLine(sandboxId)}`;
      detail(`${phaseName(entry.phase)}${where} …`);
    }
    if (entry.kind === 'prompt' && (entry.prompt ?? 1) > 1) detail(`prompt ${entry.prompt}: ${headLine(entry.text)}`);
    if (entry.kind !== 'message' && entry.kind !== 'command') return;
    lastLineMs = Date.now();
    for (const line of agentLines(entry)) {
      status.printAbove(`${paint('cyan', 'agent |')} ${line}`);
      if (shown.length < mostShownLines) shown.push(line);
    }
  };

  return {
    entries(entries, { sandboxId }) {
      for (const entry of entries) showEntry(entry, sandboxId);
    },
    notice: (text, weight = 'warning') => (weight === 'warning' ? warning(setIn(text)) : detail(setIn(text))),
    progress(progress) {
      if (progress.blocked && progress.blocked.since !== blockedSince) warning(blockedText(progress));
      blockedSince = progress.blocked?.since ?? '';
      if (progress.degraded && !degradedShown) warning(degradedText(progress.degraded));
      degradedShown = progress.degraded != null;
      if (progress.autoStop && progress.autoStop.since !== unrenewedSince) warning(autoStopText(progress.autoStop));
      unrenewedSince = progress.autoStop?.since ?? '';
      const holds = holdNotice(progress);
      // On a terminal, the status line says it.
      if (!status.enabled && holds !== undefined && holds !== held) detail(holds);
      held = holds;
      const rounds = progress.rounds ?? [];
      for (const round of rounds.slice(toldRounds)) detail(roundText(round));
      toldRounds = rounds.length;
      const since = Date.parse(progress.since);
      const text = () => `${phaseText(progress)} · ${formatDuration(Math.max(0, Date.now() - since))}`;
      if (!status.enabled && Date.now() - lastLineMs >= aliveEveryMs) detail(`${text()} …`);
      status.show((width) => [textLine(text(), width)]);
    },
    busy(text) {
      if (text === null) return status.close();
      const sinceMs = Date.now();
      status.show((width) => [textLine(`${text} · ${formatDuration(Date.now() - sinceMs)}`, width)]);
    },
    hasShown(answer) {
      let from = 0;
      return textLines(shownText(answer)).every((line) => {
        const at = shown.indexOf(line, from);
        from = at + 1;
        return at >= 0;
      });
    },
    close: () => status.close(),
  };
}
