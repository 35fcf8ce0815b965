import { describe, expect, test } from 'vitest';
import { errorCodes, errorMeaning, errorMeanings } from '../../../src/contract/error-codes.js';
import { readSource } from './source-imports.js';

const page = readSource('docs/errors.md');

/** The rows of the table under a heading, as cells without code marks. */
function rowsUnder(heading: string): string[][] {
  const section = page.split(`## ${heading}\n`)[1]?.split('\n## ')[0] ?? '';
  return section
    .split('\n')
    .filter((line) => /^\| (`|\d)/.test(line))
    .map((line) => line.split('|').slice(1, -1))
    .map((cells) => cells.map((cell) => cell.trim().replaceAll('`', '')));
}

describe('docs/errors.md', () => {
  test('lists every code of the contract with its statuses and meaning, and no others', () => {
    const listed = rowsUnder('Codes of the service').map(([code, statuses, meaning]) => ({ code, statuses, meaning }));
    const known = Object.entries(errorCodes).map(([code, { statuses, meaning }]) => ({
      code,
      statuses: statuses.join(', '),
      meaning,
    }));
    expect(listed).toEqual(known);
  });

  test('says what every meaning does', () => {
    expect(rowsUnder('What each meaning does to a job').map(([meaning]) => meaning)).toEqual([...errorMeanings]);
  });

  test('says what a code that nobody listed means', () => {
    for (const [statuses = '', meaning] of rowsUnder('Codes that nobody listed')) {
      const status = Number(statuses.slice(0, 3).replace('4xx', '418').replace('5xx', '503'));
      expect(errorMeaning(status, 'a_code_that_nobody_listed'), statuses).toBe(meaning);
    }
    expect(rowsUnder('Codes that nobody listed')).toHaveLength(7);
  });
});
