/** Shows a watched batch on stderr: a board in a terminal, periodic lines elsewhere, nothing when quiet. */
import type { FanoutProgress } from '../../../protocol/fanout/fanout-progress.js';
import type { OutputStream } from '../../io.js';
import type { Reporter } from '../../output/reporter.js';
import { createScreenLines } from '../../output/screen-lines.js';
import { createPaint } from '../../output/terminal.js';
import { setIn } from '../../output/terminal-safe.js';
import type { FailuresSeen } from '../results/failed-items.js';
import { type BoardView, boardLines, plainLine } from './board.js';
import { fitted, lineOf } from './line.js';
import { createProgressRate } from './pace.js';
import { endedOf, type ItemRow, type KnownItems, noItems } from './shown-items.js';

const lineEveryMs = 5_000;

/** Shows one batch. Notices appear above the board. */
export interface BatchView extends Pick<Reporter, 'notice' | 'close'> {
  /** True if progress is shown. */
  readonly looks: boolean;
  /** Shows a transient line, for a step during which the batch reports no progress. */
  step(text: string): void;
  show(progress: FanoutProgress): void;
  /** How many items there is room for; 0 where no table is shown. */
  readonly room: number;
  running(items: KnownItems['running']): void;
  failed(items: FailuresSeen): void;
  price(dollarsPerSecond: number | null): void;
}

export interface BatchViewOptions {
  readonly stream: OutputStream;
  readonly quiet: boolean;
  readonly now?: () => number;
}

export function createBatchView({ stream, quiet, now = Date.now }: BatchViewOptions): BatchView {
  const paint = createPaint(stream);
  const screen = createScreenLines(stream, { enabled: !quiet });
  const rate = createProgressRate();
  let failures: readonly ItemRow[] = [];
  let running: KnownItems['running'] = { ...noItems, endedTries: 0 };
  let dollarsPerSecond: number | null = null;
  let said = '';
  let saidAtMs = Number.NEGATIVE_INFINITY;
  let saidPhase = '';
  let blockedSince = '';

  const viewOf = (progress: FanoutProgress): BoardView => {
    const perMinute = rate.perMinute();
    return { progress, nowMs: now(), perMinute, dollarsPerSecond, failures, running };
  };

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
      screen.show((width) => [fitted([['dim', text]], { width, paint })]);
    },
    show(progress) {
      // A resumed batch has no items until it has read them, those that ended in earlier runs among them.
      if (progress.counts.items > 0)
        rate.observe({ ended: endedOf(progress.counts), running: progress.counts.running }, now());
      const { blocked } = progress;
      if (blocked && blocked.since !== blockedSince && !screen.enabled) {
        screen.printAbove(paint('yellow', `The batch is blocked: ${lineOf(blocked.message)}`));
      }
      blockedSince = blocked?.since ?? '';
      screen.show((width, rows) => boardLines(viewOf(progress), { width, rows, paint }));
      if (!screen.enabled) say(progress);
    },
    get room() {
      return screen.rows;
    },
    running(items) {
      running = items;
    },
    failed({ fresh, all }) {
      failures = all;
      if (screen.enabled || quiet) return;
      for (const { itemId, phase, text } of fresh) {
        const known = [phase, text].filter((part) => part !== '');
        screen.printAbove(`failed ${lineOf(itemId)}: ${known.map(lineOf).join(', ')}`);
      }
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
