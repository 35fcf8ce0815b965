/** What is written to terminals that draw nothing, know no width, or show wide characters. Tier: unit. */
import { describe, expect, it } from 'vitest';
import { createBatchView } from '../../../../src/cli/fanout/progress/batch-view.js';
import { cutToWidth, displayWidth } from '../../../../src/cli/output/display-width.js';
import { createReporter } from '../../../../src/cli/output/reporter.js';
import { createScreenLines, textLine } from '../../../../src/cli/output/screen-lines.js';
import { formatTable, tableWidth } from '../../../../src/cli/output/table.js';
import { createTerminal, isPlainTerminal } from '../../../../src/cli/output/terminal.js';

describe('lines are drawn again', () => {
  it.each<[Record<string, string>, boolean]>([
    [{ TERM: 'xterm-256color' }, true],
    [{}, true],
    [{ CI: '', TERM: 'xterm' }, true],
    [{ CI: 'false', TERM: 'xterm' }, true],
    [{ CI: 'False', TERM: 'xterm' }, true],
    [{ CI: '0', TERM: 'xterm' }, true],
    [{ NO_COLOR: '1', TERM: 'xterm' }, true],
    [{ CI: 'true', TERM: 'xterm' }, false],
    [{ CI: '1' }, false],
    [{ CI: 'woodpecker', TERM: 'xterm' }, false],
    [{ CI: 'true', FORCE_COLOR: '1', TERM: 'xterm' }, false],
    [{ TERM: 'dumb' }, false],
    [{ TERM: 'unknown' }, false],
    [{ TERM: '' }, false],
    [{ CI: 'false', TERM: 'dumb' }, false],
  ])('with %j: %s', (env, drawn) => {
    expect(isPlainTerminal(env)).toBe(!drawn);
  });

  it('nowhere on a plain terminal: the status of a job, the board of a batch, a step', () => {
    const out: string[] = [];
    const write = (text: string | Uint8Array) => out.push(String(text));
    const stream = createTerminal({ isTTY: true, columns: 80, rows: 24, write, hasColors: () => false }, true);
    const reporter = createReporter({ stream, quiet: false });
    reporter.busy?.('starting');
    reporter.notice('said');
    const batch = createBatchView({ stream, quiet: false });
    batch.step('reading');
    batch.notice('told');
    const lines = createScreenLines(stream, { enabled: true });
    lines.show((width) => [textLine('drawn', width)]);
    for (const one of [reporter, batch, lines]) one.close();
    expect(out.join('')).toBe('said\ntold\n');
    expect(lines.enabled).toBe(false);
    expect(batch.room).toBe(0);
  });
});

describe('a terminal', () => {
  it.each([
    [undefined, 80],
    [0, 80],
    [1, 80],
    [9, 80],
    [10, 10],
    [40, 40],
    [200, 200],
  ])('of %s columns is written to as one of %i', (columns, width) => {
    const stream = createTerminal({ isTTY: true, columns, write: () => true });
    expect(tableWidth(stream)).toBe(width);
  });

  it.each([0, 1])('of %i columns gets the rows of a table on a line each', (columns) => {
    const width = tableWidth(createTerminal({ isTTY: true, columns, write: () => true }));
    const rows = [['bx_abcd2345', 'nightly', 'running']];
    expect(formatTable(['ID', 'NAME', 'STATE'], rows, { width, cuts: true }).split('\n')).toHaveLength(3);
  });
});

/** As most terminals show them, by `wcswidth`. */
const widths: readonly (readonly [string, string, number])[] = [
  ['Kanji', '東京', 4],
  ['Hangul', '서울', 4],
  ['Hangul of single letters', '\u1112\u1161\u11ab', 2],
  ['full-width digits', '１２', 4],
  ['half-width Kana', 'ｱｲ', 2],
  ['half-width Kana with a voice mark', 'ｶﾞﾊﾟ', 4],
  ['an ideographic space', '\u3000', 2],
  ['a combining mark', 'e\u0301', 1],
  ['two combining marks', 'a\u0308\u0323', 1],
  ['an emoji', '🧪-a', 4],
  ['an emoji of several', '👨‍👩‍👧‍👦', 2],
  ['an emoji with a skin', '👍🏽', 2],
  ['a flag', '🇩🇪', 2],
  ['a flag of tags', '🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}', 2],
  ['a keycap', '1\ufe0f\u20e3', 2],
  ['Thai', 'สวัสดี', 4],
  ['Devanagari with a vowel beside', 'कि', 2],
  ['Tamil with a vowel beside', '\u0bb7\u0bbf', 2],
  ['Arabic', 'سلام', 4],
  ['Cyrillic', 'дом', 3],
];

describe('a text on a terminal', () => {
  it.each(widths)('of %s: %s takes %i columns', (_, text, width) => {
    expect(displayWidth(text)).toBe(width);
    expect(displayWidth(cutToWidth(text.repeat(20), 11))).toBeLessThanOrEqual(11);
  });

  it('aligns the columns of a table, whatever it is', () => {
    const texts = widths.map(([, text]) => text);
    const lines = formatTable(['NAME', 'STATE'], [...texts.map((text) => [text, 'running']), ['plain', 'running']]);
    const starts = lines
      .trimEnd()
      .split('\n')
      .slice(1)
      .map((line) => displayWidth(line.slice(0, line.indexOf('running'))));
    expect(new Set(starts)).toEqual(new Set([7]));
  });
});
