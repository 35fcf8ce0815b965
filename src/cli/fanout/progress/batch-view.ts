/** Shows a watched batch on stderr: a board in a terminal, periodic lines elsewhere, nothing when quiet. */
import type { FanoutProgress } from '../../../../workflows/fanout/progress.js';
import type { OutputStream } from '../../io.js';
import type { Reporter } from '../../output/reporter.js';
import { createScreenLines } from '../../output/screen-lines.js';
import { createPaint } from '../../output/terminal.js';
import { setIn } from '../../output/terminal-safe.js';
import { type BoardView, boardLine, boardLines, endedOf, lineOf, plainLine } from './board.js';
import { createProgressRate } from './rate.js';

const lineEveryMs = 5_000;
const failuresShown = 3;

export interface FailedItem {
  readonly itemId: string;
  readonly text: string;
}

/** Shows one batch. Notices appear above the board. */
export interface BatchView extends Pick<Reporter, 'notice' | 'close'> {
  /** True if progress is shown. */
  readonly looks: boolean;
  /** Shows a transient line, for a step during which the batch reports no progress. */
  step(text: string): void;
  show(progress: FanoutProgress): void;
  failed(items: readonly FailedItem[]): void;
  price(dollarsPerSecond: number | null): void;
}

export interface BatchViewOptions {
  readonly stream: OutputStream;
  readonly quiet: boolean;
  readonly now?: () => number;
}

export function createBatchView({ stream, quiet, now = Date.now }: BatchViewOptions): BatchView {
  const paint = createPaint(stream);
  const screen = createScreenLines(stream, { enabled: !quiet && stream.isTTY === true });
  const rate = createProgressRate();
  let failures: readonly FailedItem[] = [];
  let dollarsPerSecond: number | null = null;
  let said = '';
  let saidAtMs = Number.NEGATIVE_INFINITY;
  let saidPhase = '';
  let blockedSince = '';

  const viewOf = (progress: FanoutProgress): BoardView => ({
    progress,
    nowMs: now(),
    perMinute: rate.perMinute(),
    dollarsPerSecond,
    failures,
  });

  const say = (progress: FanoutProgress) => {
    const line = plainLine(viewOf(progress));
    const isNewPhase = progress.phase !== saidPhase;
    if (quiet || line === said || (!isNewPhase && now() - saidAtMs < lineEveryMs)) return;
    [said, saidAtMs, saidPhase] = [line, now(), progress.phase];
    screen.printAbove(line);
  };

  return {
    looks: !quiet,
    step(text) {
      screen.show((width) => [boardLine(text, { width, paint })]);
    },
    show(progress) {
      rate.observe(endedOf(progress.counts), now());
      const { blocked } = progress;
      if (blocked && blocked.since !== blockedSince && !screen.enabled) {
        screen.printAbove(paint('yellow', `The batch is blocked: ${lineOf(blocked.message)}`));
      }
      blockedSince = blocked?.since ?? '';
      screen.show((width) => boardLines(viewOf(progress), { width, paint }));
      if (!screen.enabled) say(progress);
    },
    failed(items) {
      failures = [...items, ...failures].slice(0, failuresShown);
      if (screen.enabled || quiet) return;
      for (const { itemId, text } of items) screen.printAbove(`failed ${lineOf(itemId)}: ${lineOf(text)}`);
    },
    price(dollars) {
      dollarsPerSecond = dollars;
    },
    notice(text, weight = 'warning') {
      if (weight === 'detail' && quiet) return;
      screen.printAbove(paint(weight === 'warning' ? 'yellow' : 'dim', setIn(text)));
    },
    close: () => screen.close(),
  };
}
