import { describe, expect, it } from 'vitest';
import { displayWidth } from '../../../../src/cli/output/display-width.js';
import { formatTable, printList } from '../../../../src/cli/output/table.js';
import { createTerminal } from '../../../../src/cli/output/terminal.js';

const why = 'skipped: the newest snapshot is older than the work in the sandbox, and a job leases it';
const header = ['SANDBOX', 'RULE', 'DECISION'];
const narrow = [['bx_abcd2345', 'nightly', why]];
const wide = [['bx_abcd2345', 'a rule with a long name that takes the whole of the line', why]];
const linesOf = (rows: readonly string[][], fit: Parameters<typeof formatTable>[2]) =>
  formatTable(header, rows, fit).trimEnd().split('\n').slice(1);

it('a list has the colours of its cells on a terminal, and its last cell is cut where the line ends', () => {
  const written = (isTTY: boolean) => {
    let text = '';
    const stdout = { write: (part: string | Uint8Array) => (text += part), isTTY, columns: 30, hasColors: () => isTTY };
    const list = { none: '', header: ['JOB', 'STATUS', 'PROMPT'], cells: (row: string[]) => row, last: 'cut' } as const;
    const rows = [
      ['a', 'failed', 'a prompt that is too long'],
      ['b', 'completed', 'p'],
    ];
    const colours = ([, status]: string[]) => [null, status === 'failed' ? 'red' : null] as const;
    printList({ stdout: createTerminal(stdout), stderr: stdout }, false, { list: { jobs: rows }, ...list, colours });
    return text.split('\n').slice(1, 3);
  };
  const plain = ['a    failed     a prompt that…', 'b    completed  p'];
  expect(written(true)).toEqual([plain[0]?.replace('failed', '\u001b[31mfailed\u001b[39m'), plain[1]]);
  expect(written(false)[0]).toBe('a    failed     a prompt that is too long');
});

describe('a list on a terminal', () => {
  const name = 'sf-71cb94-hello-d8c6884d5046-main-1';
  const sandboxes = [
    ['bx_abcd2345', name, 'archived', '29 m 41 s', '日本語の環境', 'Default'],
    ['bx_efgh6789', 'website', 'running', '3 m', '', 'Default'],
  ];
  const titles = ['ID', 'NAME', 'STATE', 'AGE', 'OWNER', 'ENVIRONMENT'];
  const written = (columns: number, { rows = sandboxes, isTTY = true, last = undefined as 'cut' | undefined } = {}) => {
    let text = '';
    const stdout = { isTTY, columns, write: (part: string | Uint8Array) => (text += part) };
    printList({ stdout, stderr: stdout }, false, {
      list: { rows },
      none: '',
      header: titles,
      cells: (row) => row,
      last,
    });
    return text.trimEnd().split('\n');
  };

  it('cuts the widest cells first, and never the first one', () => {
    expect(written(80)).toEqual([
      'ID           NAME                 STATE     AGE        OWNER         ENVIRONMENT',
      'bx_abcd2345  sf-71cb94-hello-d8…  archived  29 m 41 s  日本語の環境  Default',
      'bx_efgh6789  website              running   3 m                      Default',
    ]);
  });

  it.each([200, 100, 80, 72, 60, 50, 40, 30])('fits %i columns: every line, and every id is whole', (columns) => {
    for (const last of ['cut', undefined] as const) {
      const lines = written(columns, { last });
      for (const line of lines) expect(displayWidth(line), line).toBeLessThanOrEqual(columns);
      for (const [id] of sandboxes) expect(lines.filter((line) => line.split(' ')[0] === id)).toHaveLength(1);
      if (columns >= 72) expect(lines).toHaveLength(3);
    }
  });

  it('is whole where it has room, and in a pipe', () => {
    const long = [['bx_abcd2345', 'n'.repeat(150), 'archived', '3 m', '', 'Default']];
    for (const lines of [written(300, { rows: long }), written(40, { rows: long, isTTY: false })]) {
      expect(lines[1]).toContain('n'.repeat(150));
      expect(lines).toHaveLength(2);
    }
  });

  it('keeps an id that is wider than the terminal', () => {
    const id = 'a-job-whose-id-is-longer-than-the-terminal-is-wide';
    expect(written(40, { rows: [[id, name, 'archived', '', '', '']] })).toContain(id);
  });
});

describe('a table on a terminal of 80 columns', () => {
  it('continues its last cell below itself, between words', () => {
    expect(linesOf(narrow, { width: 80 })).toEqual([
      'bx_abcd2345  nightly  skipped: the newest snapshot is older than the work in the',
      '                      sandbox, and a job leases it',
    ]);
  });

  it('continues it below the row if there is no room', () => {
    expect(linesOf(wide, { width: 80 })).toEqual([
      'bx_abcd2345  a rule with a long name that takes the whole of the line',
      '    skipped: the newest snapshot is older than the work in the sandbox, and a',
      '    job leases it',
    ]);
  });

  it('continues the columns that do not fit below the row, aligned with their titles', () => {
    const titles = ['ID', 'NAME', 'TTL LEFT', 'ENVIRONMENT'];
    const name = 'sf-71cb94-hello-d8c6884d5046-main-1'.padEnd(60, '-');
    const rows = [
      ['bx_abcd2345', name, '29 m 41 s', 'Default'],
      ['bx_efgh6789', 'website', '', 'Default'],
    ];
    expect(formatTable(titles, rows, { width: 80 }).trimEnd().split('\n')).toEqual([
      'ID           NAME',
      '    TTL LEFT   ENVIRONMENT',
      `bx_abcd2345  ${name}`,
      '    29 m 41 s  Default',
      'bx_efgh6789  website',
      '               Default',
    ]);
  });

  it('cuts a headline, also of wide characters', () => {
    for (const text of [why, '日本語'.repeat(40), 'x'.repeat(5_000)]) {
      const [line = ''] = linesOf([['bx_abcd2345', 'nightly', text]], { width: 80, last: 'cut' });
      expect(line).toMatch(/…$/);
      expect(displayWidth(line)).toBeLessThanOrEqual(80);
    }
  });

  it('splits a long word, and leaves a table in a pipe as it is', () => {
    for (const line of linesOf([['bx_abcd2345', 'nightly', 'x'.repeat(500)]], { width: 80 })) {
      expect(displayWidth(line)).toBeLessThanOrEqual(80);
    }
    expect(linesOf(wide, { width: undefined })).toEqual([wide[0]?.join('  ')]);
  });

  it.each([
    [true, 2],
    [false, 1],
  ])('is fitted by the lists (a terminal: %s)', (isTTY, lines) => {
    let out = '';
    const stream = { isTTY, columns: 80, write: (text: string | Uint8Array) => (out += text) };
    printList({ stdout: stream, stderr: stream }, false, {
      list: { rows: narrow },
      header,
      cells: (row) => row,
      none: '',
    });
    expect(out.trimEnd().split('\n')).toHaveLength(1 + lines);
  });
});
