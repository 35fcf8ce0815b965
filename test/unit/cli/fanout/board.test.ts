import { stripVTControlCharacters } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it, vi } from 'vitest';
import { createBatchView } from '../../../../src/cli/fanout/progress/batch-view.js';
import { type BoardView, boardLines, plainLine } from '../../../../src/cli/fanout/progress/board.js';
import { createProgressRate, timeLeftMs } from '../../../../src/cli/fanout/progress/pace.js';
import { endedTries, type ItemRow } from '../../../../src/cli/fanout/progress/shown-items.js';
import { cutToWidth, displayWidth } from '../../../../src/cli/output/display-width.js';
import { createScreenLines } from '../../../../src/cli/output/screen-lines.js';
import { createPaint, createTerminal } from '../../../../src/cli/output/terminal.js';
import type { FanoutProgress } from '../../../../src/protocol/fanout/fanout-progress.js';

const startMs = Date.parse('2026-03-01T10:00:00Z');
const at = (seconds: number) => new Date(startMs + seconds * 1_000).toISOString();
const paint = createPaint({ write: () => true });
/** The bytes that a terminal receives. */
function written(text: string): string {
  let out = '';
  createTerminal({ isTTY: true, write: (part) => (out += part) }).write(text);
  return out;
}
/** A terminal that wraps, and knows the sequences of redrawn lines. */
function createScreen(columns: number) {
  let cells: string[][] = [[]];
  let [row, column] = [0, 0];
  return {
    rows: () => cells.map((line) => line.join('')).filter((line) => line !== ''),
    write(text: string | Uint8Array) {
      // biome-ignore lint/suspicious/noControlCharactersInRegex: these are the sequences of redrawn lines
      for (const [part, count = '1', move] of String(text).matchAll(/\u001b\[(\d*)([GAJ])|[^\u001b]/gu)) {
        if (move === 'G') column = 0;
        else if (move === 'A') row = Math.max(0, row - Number(count));
        else if (move === 'J') cells = [...cells.slice(0, row), (cells[row] ?? []).slice(0, column)];
        else if (part === '\n') {
          row += 1;
          column = 0;
        } else {
          if (column === columns) [row, column] = [row + 1, 0];
          cells[row] ??= [];
          (cells[row] as string[])[column] = part;
          column += 1;
        }
        cells[row] ??= [];
      }
      return true;
    },
  };
}

const coloured = createPaint({ write: () => true, isTTY: true, hasColors: () => true });

const progress: FanoutProgress = {
  batchId: '0301-abc',
  batchKey: 'key',
  title: 'nightly fixes',
  phase: 'running',
  since: at(0),
  startedAt: at(0),
  deadlineAt: at(7_200),
  sourceSandboxId: 'bx_2345abcd',
  sealed: true,
  chunks: 5,
  counts: {
    items: 500,
    queued: 220,
    running: 20,
    completed: 240,
    failed: 20,
    retried: 3,
    byOutcome: { completed: 240, prompt_failed: 20 },
  },
  budget: { limitSeconds: 36_000, spentSeconds: 11_520, reservedSeconds: 6_000 },
  throttledUntil: at(612),
  blocked: { message: 'the limit is reached', since: at(0) },
  outcome: null,
  shortfall: null,
  error: null,
};
/** What a list finds that is as new as the counters. */
function running(rows: readonly ItemRow[] = [], counts = progress.counts): BoardView['running'] {
  return { rows, indexes: new Set(rows.map(({ index }) => index)), endedTries: endedTries(counts) };
}
const view: BoardView = {
  progress,
  nowMs: startMs + 600_000,
  perMinute: 30,
  dollarsPerSecond: 1 / 36_000,
  failures: [{ index: 16, itemId: '17', phase: 'prompt_failed', since: at(590), text: 'exit code 3' }],
  running: running(),
};
const texts = (shown: BoardView, width = 100, rows = 40) =>
  boardLines(shown, { width, rows, paint }).map(({ text }) => text.trimEnd());
const row = (index: number, change: Partial<ItemRow> = {}): ItemRow => ({
  ...{ index, itemId: `item-${index}`, phase: 'agent works', since: at(600 - index), text: '$ npm test' },
  ...change,
});

describe('the board of a batch', () => {
  it('tells whose the failures are', () => {
    const counts = { ...progress.counts, byClass: { machine: 3, agent: 17 } };
    expect(texts({ ...view, progress: { ...progress, counts } })[2]).toContain(
      '20 failed (17 agent, 3 machine) · 20 running',
    );
  });

  it('shows progress, rate, remaining time, cost, waits and failures', () => {
    expect(texts(view)).toEqual([
      'nightly fixes (0301-abc) · running · 10 m',
      `${'█'.repeat(21)}${'▒'.repeat(2)}${'░'.repeat(17)} 52 % · 260 of 500`,
      '240 done · 20 failed · 20 running · 220 queued · 3 retried',
      '30 a minute · about 8 m left · deadline in 1 h 50 m',
      'machine time 3 h 12 m of 10 h · 1 h 40 m reserved · $0.3200',
      'throttled: new forks wait 12 s',
      'blocked: the limit is reached',
      'ITEM  PHASE          FOR',
      '17    prompt_failed  10 s ago  exit code 3',
      '… 19 more failed, 20 more running',
    ]);
  });

  it('lists items below the counters: failures first, then what runs, then how many more there are', () => {
    const rows = [row(300, { phase: 'blocked', isBlocked: true, text: 'quota' }), row(30), row(5, { itemId: 'é日' })];
    const failures = [row(40, { phase: 'prompt_failed', text: 'exit code 3' }), row(30, { phase: 'prompt_failed' })];
    const shown = { ...view, running: running(rows), failures };
    expect(texts(shown).slice(7)).toEqual([
      'ITEM      PHASE          FOR',
      'item-40   prompt_failed  40 s ago  exit code 3',
      'item-300  blocked        5 m       quota',
      'item-30   agent works    30 s      $ npm test',
      'é日       agent works    5 s       $ npm test',
      '… 19 more failed, 17 more running',
    ]);
    // Half of the room is for items that run, and the counters stay in any height.
    const many = {
      ...shown,
      failures: Array.from({ length: 9 }, (_, at) => row(100 + at, { phase: 'prompt_failed' })),
    };
    expect(
      texts(many, 100, 13)
        .slice(8)
        .map((line) => line.slice(0, 8)),
    ).toEqual([
      ...['item-100', 'item-101', 'item-300', 'item-30', '… 18 mor'].map((cell) => expect.stringContaining(cell)),
    ]);
    for (let rows = 1; rows < 12; rows += 1) {
      const lines = texts(many, 40, rows);
      expect(lines.length).toBeLessThanOrEqual(Math.max(7, rows));
      expect(lines.slice(0, 7)).toEqual(texts({ ...view, failures: [] }, 40));
    }
  });

  it('omits what is unknown', () => {
    const counts = { ...progress.counts, items: 0, queued: 0, running: 0, completed: 0, failed: 0, retried: 0 };
    const budget = { limitSeconds: null, spentSeconds: 0, reservedSeconds: 0 };
    const begun: FanoutProgress = {
      ...progress,
      title: null,
      phase: 'preparing',
      sealed: false,
      counts,
      budget,
      throttledUntil: null,
      blocked: null,
    };
    expect(
      texts({
        progress: begun,
        nowMs: startMs,
        perMinute: null,
        dollarsPerSecond: null,
        failures: [],
        running: running([], counts),
      }),
    ).toEqual([
      '0301-abc · preparing the source · 0 s',
      `${'░'.repeat(40)} 0 % · 0 of 0 so far`,
      '0 done · 0 failed · 0 running · 0 queued',
      'deadline in 2 h',
      'machine time 0 s',
    ]);
  });

  it('says what is reserved only where a budget limits the batch', () => {
    const budget = { limitSeconds: null, spentSeconds: 60, reservedSeconds: 27_000 };
    expect(texts({ ...view, progress: { ...progress, budget } })[4]).toBe('machine time 1 m · $0.0017');
  });

  it('is one line outside a terminal', () => {
    expect(plainLine(view)).toBe(
      'running · 260 of 500 · 240 done · 20 failed · 20 running · 220 queued · 3 retried · about 8 m left · throttled',
    );
  });

  it('is never wider than the terminal and never shows an invalid number, with or without colours', () => {
    const count = fc.nat({ max: 10_000_000 });
    const seconds = fc.oneof(fc.double({ min: 0, max: 1e12, noNaN: true }), fc.constantFrom(0, Number.NaN, Infinity));
    const text = fc.string({ unit: 'grapheme', maxLength: 40 });
    const time = fc.oneof(fc.integer({ min: -1e6, max: 1e7 }).map(at), fc.constant('no date'));
    const item = fc.record({ index: count, itemId: text, phase: text, since: fc.option(time), text });
    const items = fc.array(item, { maxLength: 3 });
    const views = fc.record({
      counts: fc.record({
        items: count,
        queued: count,
        running: count,
        completed: count,
        failed: count,
        retried: count,
      }),
      limitSeconds: fc.option(seconds),
      spentSeconds: seconds,
      reservedSeconds: seconds,
      title: fc.option(text),
      message: fc.option(text),
      throttledUntil: fc.option(time),
      deadlineAt: time,
      startedAt: time,
      sealed: fc.boolean(),
      perMinute: fc.option(fc.oneof(fc.double(), fc.double({ min: 0, max: 100 }))),
      dollarsPerSecond: fc.option(seconds),
      failures: items,
      runningRows: items,
      rows: fc.integer({ min: 0, max: 20 }),
    });
    fc.assert(
      fc.property(views, fc.integer({ min: 0, max: 130 }), fc.boolean(), (given, width, colours) => {
        const { counts, limitSeconds, spentSeconds, reservedSeconds, message, perMinute, dollarsPerSecond } = given;
        const { failures, runningRows, rows } = given;
        const shown: BoardView = {
          progress: {
            ...progress,
            ...given,
            counts: { ...counts, byOutcome: {} },
            budget: { limitSeconds, spentSeconds, reservedSeconds },
            blocked: message === null ? null : { message, since: at(0) },
          },
          nowMs: startMs,
          perMinute,
          dollarsPerSecond,
          failures,
          running: running(runningRows, { ...counts, byOutcome: {} }),
        };
        const lines = boardLines(shown, { width, rows, paint: colours ? coloured : paint });
        expect(lines.length).toBeLessThanOrEqual(Math.max(7, rows));
        const plain = lines.map((line) => stripVTControlCharacters(written(line.text)));
        for (const [index, line] of plain.entries()) {
          expect(displayWidth(line)).toBe(lines[index]?.width);
          expect(displayWidth(line)).toBeLessThanOrEqual(width);
          expect(line).not.toMatch(/[\n\t\r]/);
        }
        const own = [...plain.slice(1, 5), plainLine(shown)].join(' ');
        expect(own).not.toMatch(/NaN|Infinity|undefined|null/);
      }),
      { numRuns: 150 },
    );
  });
});

describe('the board never ends a command', () => {
  const absent = undefined as never;
  const shapes: readonly [string, Partial<BoardView>][] = [
    ['an item without an id', { failures: [row(1, { itemId: absent })] }],
    ['an item without a reason', { failures: [row(1, { text: absent })] }],
    ['an item without a phase and its time', { running: running([row(1, { phase: absent, since: absent })]) }],
    ['an item with an empty id and reason', { failures: [row(1, { itemId: '', text: '' })] }],
    ['an item of several lines', { failures: [row(1, { itemId: 'a\nb', text: 'x\r\ny\u001b[2J'.repeat(60) })] }],
    [
      'no title, block, throttling or outcome',
      {
        progress: { ...progress, title: absent, blocked: absent, throttledUntil: absent, outcome: absent },
      },
    ],
    [
      'no texts',
      {
        progress: { ...progress, batchId: absent, phase: absent, blocked: { message: absent, since: absent } },
      },
    ],
  ];

  it.each(shapes)('for %s, at any width', (_, shape) => {
    const shown = { ...view, ...shape };
    for (const width of [0, 1, 40, 80]) {
      const lines = boardLines(shown, { width, rows: 30, paint: coloured });
      if (width > 0) expect(lines.length).toBeGreaterThan(4);
      for (const { text, width: took } of lines) {
        expect(took).toBeLessThanOrEqual(width);
        expect(text).not.toMatch(/undefined|null/);
      }
    }
    expect(plainLine(shown)).not.toMatch(/undefined|null/);
  });

  it('but leaves the batch followed in plain lines after a defect, with one note', () => {
    vi.useFakeTimers();
    const out: string[] = [];
    const stream = { isTTY: true, columns: 80, rows: 24, write: (text: string | Uint8Array) => out.push(String(text)) };
    const batch = createBatchView({ stream: createTerminal(stream), quiet: false });
    let isBroken = false;
    const counts = {
      ...progress.counts,
      get failed(): number {
        if (isBroken) throw new TypeError('no such field');
        return 20;
      },
    };
    batch.show({ ...progress, counts });
    isBroken = true;
    // The redraw of a timer, whose error nobody would catch.
    vi.advanceTimersByTime(1_000);
    vi.advanceTimersByTime(10_000);
    batch.show({ ...progress, phase: 'ending' });
    const failed = row(16, { itemId: '17', phase: 'prompt_failed', text: 'exit code 3' });
    batch.failed({ fresh: [failed], all: [failed] });
    batch.notice('said');
    batch.close();
    expect(vi.getTimerCount()).toBe(0);
    vi.useRealTimers();
    const plain = stripVTControlCharacters(out.slice(1).join(''));
    expect(plain.split('\n').filter((line) => line !== '')).toEqual([
      'The live display has a defect (TypeError: no such field). Progress follows in plain lines.',
      expect.stringMatching(/^ending the remaining items · 260 of 500/),
      'failed 17: prompt_failed, exit code 3',
      'said',
    ]);
  });

  it('nor does the status line of a job', () => {
    const out: string[] = [];
    const stream = { isTTY: true, columns: 80, rows: 24, write: (text: string | Uint8Array) => out.push(String(text)) };
    const lines = createScreenLines(createTerminal(stream), { enabled: true });
    lines.show(() => {
      throw new Error('broken');
    });
    expect(lines.enabled).toBe(false);
    lines.show(() => [{ text: 'x', width: 1 }]);
    lines.printAbove('said');
    lines.close();
    expect(out).toEqual([
      'The live display has a defect (Error: broken). Progress follows in plain lines.\n',
      'said\n',
    ]);
  });
});

describe('the rate of a batch', () => {
  it('counts only what ended since, also for a batch that a resume has just started again', () => {
    const out: string[] = [];
    let nowMs = startMs;
    const view = createBatchView({
      stream: { write: (text) => out.push(String(text)) },
      quiet: false,
      now: () => nowMs,
    });
    const show = (second: number, items: number, completed: number) => {
      nowMs = startMs + second * 1_000;
      const counts = { ...progress.counts, items, queued: items - completed, running: 0, completed, failed: 0 };
      view.show({ ...progress, phase: items === 0 ? 'checking_source' : 'running', throttledUntil: null, counts });
    };
    show(0, 0, 0);
    for (let second = 2; second <= 62; second += 10) show(second, 500, 300 + second);
    view.close();
    // One a second, and 138 left. The 302 items of the earlier run would make it minutes less.
    expect(out.at(-1)).toContain('about 2 m 18 s left');
  });

  it('is that of the last minutes, and unknown until enough was seen', () => {
    const rate = createProgressRate();
    expect(rate.perMinute()).toBeNull();
    const observe = (ended: number, second: number) => rate.observe({ ended, running: 2 }, second * 1_000);
    observe(0, 0);
    observe(5, 2);
    expect(rate.perMinute()).toBeNull();
    for (let second = 10; second <= 600; second += 10) observe(second, second);
    expect(rate.perMinute()).toBe(60);
    for (let second = 610; second <= 1_200; second += 10) observe(600, second);
    expect(rate.perMinute()).toBe(0);
    observe(3, 1_300);
    expect(rate.perMinute()).toBeNull();
  });

  it('is unknown until some items have ended, and at first until as many have ended as run at once', () => {
    const rate = createProgressRate();
    const observed = (second: number, ended: number, running: number) => {
      rate.observe({ ended, running }, second * 1_000);
      return rate.perMinute();
    };
    expect([observed(0, 0, 30), observed(10, 0, 30), observed(20, 3, 30), observed(30, 29, 30)]).toEqual([
      null,
      null,
      null,
      null,
    ]);
    expect([observed(40, 40, 30), observed(50, 40, 50)]).toEqual([60, 48]);
    // Of a batch that has long been running, a few are enough.
    const attached = createProgressRate();
    attached.observe({ ended: 1_000, running: 30 }, 0);
    attached.observe({ ended: 1_002, running: 30 }, 30_000);
    expect(attached.perMinute()).toBeNull();
    attached.observe({ ended: 1_003, running: 30 }, 60_000);
    expect(attached.perMinute()).toBe(3);
  });

  it('gives the remaining time only if items end', () => {
    expect(timeLeftMs(30, 60)).toBe(30_000);
    for (const perMinute of [null, 0, -1, Number.NaN, 1e-320]) expect(timeLeftMs(30, perMinute)).toBeNull();
    expect(timeLeftMs(0, 10)).toBeNull();
  });
});

describe('the width of text', () => {
  it.each([
    ['plain', 5],
    ['naïve', 5],
    ['e\u0301', 1],
    ['日本', 4],
    ['👩‍👩‍👧', 2],
    ['…', 1],
  ])('of %j is %i', (text, width) => {
    expect(displayWidth(text)).toBe(width);
  });

  it('is limited by cutting between characters', () => {
    expect(cutToWidth('日本語', 5)).toBe('日本…');
    expect(cutToWidth('日本語', 4)).toBe('日…');
    expect(cutToWidth('abc', 3)).toBe('abc');
    expect(cutToWidth('abc', 0)).toBe('');
  });
});

describe('redrawn lines', () => {
  it('replace what they drew, even in a narrower terminal, and are removed at the end', () => {
    vi.useFakeTimers();
    const written: string[] = [];
    const stream = {
      isTTY: true,
      columns: 40,
      rows: 10,
      write: (text: string | Uint8Array) => written.push(String(text)),
    };
    const lines = createScreenLines(createTerminal(stream), { enabled: true });
    const wide = { text: 'x'.repeat(39), width: 39 };
    lines.show(() => [wide, { text: 'b', width: 1 }]);
    stream.columns = 20;
    vi.advanceTimersByTime(1_000);
    lines.printAbove('said');
    lines.close();
    vi.useRealTimers();
    expect(written).toEqual([
      `${wide.text}\nb\u001b[1G`,
      `\u001b[1G\u001b[2A\u001b[J${wide.text}\nb\u001b[1G`,
      `\u001b[1G\u001b[2A\u001b[Jsaid\n${wide.text}\nb\u001b[1G`,
      '\u001b[1G\u001b[2A\u001b[J',
    ]);
  });

  it('are removed as a whole after Ctrl-C, which a terminal echoes as ^C at the cursor', () => {
    vi.useFakeTimers();
    const screen = createScreen(40);
    const stream = { isTTY: true, columns: 40, rows: 10, write: screen.write };
    const lines = createScreenLines(createTerminal(stream), { enabled: true });
    lines.printAbove('before');
    lines.show((width) => ['a', 'b', 'c'].map((letter) => ({ text: letter.repeat(width), width })));
    screen.write('^C');
    lines.close();
    vi.useRealTimers();
    expect(screen.rows()).toEqual(['before']);
  });

  it('are never more than the rows of the terminal, and elsewhere only messages are written', () => {
    const written: string[] = [];
    const stream = { isTTY: true, rows: 5, write: (text: string | Uint8Array) => written.push(String(text)) };
    const lines = createScreenLines(createTerminal(stream), { enabled: true });
    lines.show(() => Array.from({ length: 9 }, (_, index) => ({ text: `${index}`, width: 1 })));
    lines.close();
    const off = createScreenLines(createTerminal(stream), { enabled: false });
    off.show(() => [{ text: 'x', width: 1 }]);
    off.printAbove('said');
    off.close();
    expect(written).toEqual(['0\n1\n2\u001b[1G', '\u001b[1G\u001b[2A\u001b[J', 'said\n']);
  });
});
