/** Shows a watched job on stderr: one status line in a terminal, plain lines elsewhere, nothing when quiet. */
import type { JobProgress, Wake } from '../../../workflows/job/types.js';
import { formatDuration } from '../duration.js';
import type { OutputStream } from '../io.js';
import { createPaint } from './paint.js';
import { blockedText, phaseText } from './phase-text.js';
import { createStatusLine } from './status-line.js';
import { setIn, terminalSafe } from './terminal-safe.js';

export interface Reporter {
  /** A message for the user. Shown even when quiet, unless it is `detail`. */
  notice(text: string, weight?: 'warning' | 'detail'): void;
  progress(progress: JobProgress): void;
  /** What woke the job, from its start; each is shown once. */
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
  const status = createStatusLine(stream, { enabled: !quiet && stream.isTTY === true });
  let phase = '';
  let blockedSince = '';
  let wakesShown = 0;

  const detail = (text: string) => {
    if (!quiet) status.printAbove(`${paint('dim', text)}\n`);
  };
  const warning = (text: string) => status.printAbove(`${paint('yellow', text)}\n`);

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
      const since = Date.parse(progress.since);
      status.show(() => `${phaseText(progress)} · ${formatDuration(Math.max(0, Date.now() - since))}`);
    },
    agent(text) {
      if (quiet) return;
      for (const line of terminalSafe(text).replace(/\n$/, '').split('\n')) {
        status.printAbove(`${paint('cyan', 'agent |')} ${line}\n`);
      }
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
