import { describe, expect, test } from 'vitest';
import { exitCodes } from '../../../src/cli/exit-codes.js';
import { errorCodes, errorMeaning, errorMeanings } from '../../../src/contract/workflow-safe/error-codes.js';
import { sandflowErrors } from '../../../src/errors/sandflow-error-codes.js';
import { failureClassOf } from '../../../src/protocol/failure-class.js';
import type { JobPhase } from '../../../src/protocol/job/job-phases.js';
import { failureClasses, resultErrors } from '../../../src/protocol/result-error-codes.js';
import { readSource, sourceFiles } from './source-imports.js';

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
  test('lists exactly the codes of the contract, with statuses and meaning', () => {
    const listed = rowsUnder('Codes of the service').map(([code, statuses, meaning, failureClass]) => ({
      code,
      statuses,
      meaning,
      failureClass,
    }));
    const known = Object.entries(errorCodes).map(([code, { statuses, meaning }]) => ({
      code,
      statuses: statuses.join(', '),
      meaning,
      failureClass: failureClassOf({ outcome: 'rejected', error: { code, status: statuses[0] } }),
    }));
    expect(listed).toEqual(known);
  });

  test('lists exactly the codes of sandflow, with exit code and what to do', () => {
    const { usage, unreachable, otherOutcome, internal } = exitCodes;
    const exitCodeOf = { usage, unavailable: unreachable, outcome: otherOutcome };
    const known = Object.entries(sandflowErrors).map(([code, kind]) => [code, String(exitCodeOf[kind])]);
    const listed = rowsUnder('Codes of sandflow');
    expect(listed.map((cells) => cells.slice(0, 2))).toEqual([...known, ['internal', String(internal)]]);
    expect(listed.filter(([, , fix]) => !fix)).toEqual([]);
  });

  test('lists exactly the codes in results, with their class and what they say', () => {
    const listed = rowsUnder('Codes in results');
    expect(listed.map((cells) => cells.slice(0, 2))).toEqual(Object.entries(resultErrors));
    expect(listed.filter(([, , meaning]) => !meaning)).toEqual([]);
  });

  test('lists only codes that the source uses', () => {
    const registries = ['src/errors/sandflow-error-codes.ts', 'src/protocol/result-error-codes.ts'];
    const text = sourceFiles('src', 'activities', 'workflows', 'local-service/src')
      .filter((file) => !registries.includes(file))
      .map(readSource)
      .join('\n');
    const codes = [...Object.keys(sandflowErrors), ...Object.keys(resultErrors)];
    expect(codes.filter((code) => !text.includes(`'${code}'`))).toEqual([]);
  });

  test('explains every class, and the class of a deadline in every phase', () => {
    const rows = rowsUnder('Whose failure it is');
    expect(rows.slice(0, failureClasses.length).map(([name]) => name)).toEqual([...failureClasses]);
    for (const [phase, failureClass] of rows.slice(failureClasses.length)) {
      const ending = { outcome: 'deadline_exceeded', error: { code: 'deadline_exceeded' } };
      expect(failureClassOf({ ...ending, deadlineIn: phase as JobPhase }), phase).toBe(failureClass);
    }
  });

  test('explains every meaning', () => {
    expect(rowsUnder('What each meaning does to a job').map(([meaning]) => meaning)).toEqual([...errorMeanings]);
  });

  test('gives an unlisted code the meaning of its status', () => {
    for (const [statuses = '', meaning] of rowsUnder('Unlisted codes')) {
      const status = Number(statuses.slice(0, 3).replace('4xx', '418').replace('5xx', '503'));
      expect(errorMeaning(status, 'an_unlisted_code'), statuses).toBe(meaning);
    }
    expect(rowsUnder('Unlisted codes')).toHaveLength(7);
  });
});
