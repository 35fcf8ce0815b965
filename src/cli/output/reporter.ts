/** Shows a watched job on stderr: one status line in a terminal, plain lines elsewhere, nothing when quiet. */
import type { JobProgress } from '../../../workflows/job/progress.js';
import type { Wake } from '../../../workflows/job/result.js';
import type { OutputStream } from '../io.js';
import { formatDuration } from '../units.js';
import { blockedText, degradedText, phaseText } from './job-text.js';
import { createScreenLines, textLine } from './screen-lines.js';
import { createPaint } from './terminal.js';
import { setIn, terminalSafe } from './terminal-safe.js';

export interface Notices {
  /** A message for the user. Shown even when quiet, unless its weight is `detail`. */
  notice(text: string, weight?: 'warning' | 'detail'): void;
}

export interface Reporter extends Notices {
  progress(progress: JobProgress): void;
  /** Takes all wakes since the start of the job, and shows each wake once. */
  wakes(wakes: readonly Wake[]): void;
  /** Live output of the agent. */
  agent(text: string): void;
  /** Removes the status line. */
  close(): void;
}

export interface ReporterOptions {
  readonly stream: OutputStream;
  readonly quiet: boolean;
}

export function createReporter({ stream, quiet }: ReporterOptions): Reporter {
  const paint = createPaint(stream);
  const status = createScreenLines(stream, { enabled: !quiet && stream.isTTY === true });
  let phase = '';
  let blockedSince = '';
  let degradedShown = false;
  let wakesShown = 0;

  const detail = (text: string) => {
    if (!quiet) status.printAbove(paint('dim', text));
  };
  const warning = (text: string) => status.printAbove(paint('yellow', text));

  const showWakes = (wakes: readonly Wake[]) => {
    for (const wake of wakes.slice(wakesShown)) detail(wakeText(wake));
    wakesShown = Math.max(wakesShown, wakes.length);
  };

  return {
    wakes: showWakes,
    notice: (text, weight = 'warning') => (weight === 'warning' ? warning(setIn(text)) : detail(setIn(text))),
    progress(progress) {
      showWakes(progress.wakes);
      if (progress.phase !== phase) {
        phase = progress.phase;
        if (!status.enabled) detail(`${phaseText(progress)} …`);
      }
      if (progress.blocked && progress.blocked.since !== blockedSince) warning(blockedText(progress));
      blockedSince = progress.blocked?.since ?? '';
      if (progress.degraded && !degradedShown) warning(degradedText(progress.degraded));
      degradedShown = progress.degraded != null;
      const since = Date.parse(progress.since);
      const text = () => `${phaseText(progress)} · ${formatDuration(Math.max(0, Date.now() - since))}`;
      status.show((width) => [textLine(text(), width)]);
    },
    agent(text) {
      if (quiet) return;
      const lines = terminalSafe(text).replace(/\n$/, '').split('\n');
      for (const line of lines) status.printAbove(`${paint('cyan', 'agent |')} ${line}`);
    },
    close: () => status.close(),
  };
}

function wakeText(wake: Wake): string {
  const waited = `after ${formatDuration(wake.waitedMs)}`;
  if (wake.by === 'webhook') {
    const lag = wake.lagMs === null ? '' : `, ${formatDuration(wake.lagMs)} old`;
    return `woken by the ${wake.event ?? ''} webhook ${waited} (waiting for ${wake.waitedFor}${lag})`;
  }
  const cause = wake.by === 'safety_poll' ? 'the safety poll' : 'the deadline';
  return `woken by ${cause} ${waited} (waiting for ${wake.waitedFor})`;
}
