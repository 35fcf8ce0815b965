import { describe, expect, test } from 'vitest';
import type { ItemResult } from '../../../src/protocol/fanout/fanout-result.js';
import type { CheckRound } from '../../../src/protocol/job/job-result.js';
import type { FailureClass } from '../../../src/protocol/result-error-codes.js';
import { pageOf, type SampleBatch, sampleBatch } from './sample-batch.js';

const batch = sampleBatch(1, { outcome: 'completed' });
const [sample] = batch.items as [ItemResult];

/** The first round is that before the first prompt. */
function rounds(...passed: boolean[]): CheckRound[] {
  return passed.map((isPassed, round) => ({
    round,
    passed: isPassed,
    runs: [{ command: 'npm test', exitCode: isPassed ? 0 : 1, output: `ran <${round}>`, durationMs: 12_000 }],
    promptIndex: null,
  }));
}

function item(index: number, change: Partial<ItemResult>, checks?: CheckRound[]): ItemResult {
  const { outcome = 'completed' } = change;
  const code = outcome === 'unverified' ? 'check_failed' : outcome;
  const error = outcome === 'completed' ? null : { code, message: `${code}.`, ...{ status: null, requestId: null } };
  const job = sample.job && { ...sample.job, error: error && { ...error, details: null } };
  return {
    ...sample,
    index,
    itemId: `case-${index + 1}`,
    job: job && { ...job, ...(checks && { rounds: checks }) },
    ...change,
  };
}

const failed = (index: number, outcome: ItemResult['outcome'], failureClass: FailureClass | null) =>
  item(index, { outcome, failureClass });

const items = [
  item(0, {}, rounds(false, true)),
  item(1, {}, rounds(false, false, true)),
  item(2, {}, rounds(false, false, false, true)),
  item(3, {}, rounds(false, true)),
  item(4, { outcome: 'unverified', failureClass: 'check' }, rounds(false, false, false)),
  failed(5, 'prompt_failed', 'agent'),
  failed(6, 'sandbox_failed', 'machine'),
  failed(7, 'deadline_exceeded', 'agent'),
  failed(8, 'deadline_exceeded', 'service'),
  failed(9, 'rejected', null),
  failed(10, 'cancelled', 'cancelled'),
  item(11, { outcome: 'sandbox_failed', failureClass: 'setup' }, rounds(false)),
];

const shown = (own: readonly ItemResult[], change: Partial<SampleBatch['result']> = {}) =>
  pageOf({ ...batch, result: { ...batch.result, ...change } as SampleBatch['result'], items: own });
/** The words of each row, with those that only a screen reader has. */
const wordsOf = (html = '') =>
  html
    .replace(/ aria-label="([^"]*)" title="[^"]*">.*?<\/span><\/span>/g, '> [$1]')
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
const tableAfter = (title: string, page: string) => {
  const [, table = ''] = new RegExp(`<h2>${title}</h2>(<table class="bars">.*?</table>)`, 's').exec(page) ?? [];
  return [...table.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row]) => wordsOf(row)).slice(1);
};
const rowOf = (id: string, page: string) =>
  wordsOf(new RegExp(`<summary class="row">((?:(?!</summary>).)*<bdi>${id}</bdi>.*?)</summary>`, 's').exec(page)?.[1]);

describe('the classes of failures', () => {
  const page = shown(items);

  test('are counted above the failures, which they add up to', () => {
    expect(tableAfter('Failures', page)).toEqual([
      'agent 2 29 %',
      'check 1 14 %',
      'machine 1 14 %',
      'service 1 14 %',
      'setup 1 14 %',
      'unknown 1 14 %',
    ]);
    const [bars, groups] = [page.indexOf('<table class="bars">'), page.indexOf('<code>deadline_exceeded</code>')];
    expect(bars).toBeLessThan(groups);
  });

  test('are told of each code, with their numbers where there are several', () => {
    const chips = (code: string) => wordsOf(new RegExp(`<code>${code}</code>(.*?)</th>`).exec(page)?.[1]);
    expect(chips('deadline_exceeded')).toBe('agent 1 service 1');
    expect(chips('check_failed')).toBe('check');
  });

  test('are told of each item that failed, and of no other', () => {
    expect(rowOf('case-7', page)).toMatch(/sandbox failed machine /);
    expect(rowOf('case-11', page)).toMatch(/^11 case-11 ■ cancelled \d/);
    expect(page.match(/<span class="chip">/g)).toHaveLength(6 + 7 + 6);
  });

  test('of a resumed batch are those of all runs', () => {
    const counts = { ...batch.result.counts, items: 12, byClass: { agent: 1 }, byOutcome: {} };
    const resumed = shown(items, { counts, startedAt: '2026-03-02T09:00:00.000Z' });
    expect(resumed).toContain('12 items ended in an earlier run');
    expect(tableAfter('Failures', resumed)).toEqual(tableAfter('Failures', page));
    expect(tableAfter('Rounds of checks', resumed)).toEqual(tableAfter('Rounds of checks', page));
    expect(page).not.toContain('Whose failures');
  });
});

describe('the rounds of checks', () => {
  const page = shown(items);

  test('have a mark each in the row of the item, in words too', () => {
    expect(rowOf('case-1', page)).toContain('completed [1 round of checks: passed]');
    expect(rowOf('case-3', page)).toContain('completed [3 rounds of checks: failed, failed, passed]');
    expect(rowOf('case-5', page)).toContain('unverified check [2 rounds of checks: failed, failed]');
    expect(page).toContain('<span class="bad">✕</span><span class="bad">✕</span><span class="good">✓</span>');
    expect(rowOf('case-6', page)).not.toContain('checks');
    expect(rowOf('case-12', page), 'only the round before the first prompt').not.toContain('checks');
  });

  test('are counted by the round in which items passed', () => {
    expect(tableAfter('Rounds of checks', page)).toEqual([
      '✓ passed in round 1 2 40 %',
      '✓ passed in round 2 1 20 %',
      '✓ passed in round 3 1 20 %',
      '✕ not passed 1 20 %',
    ]);
    expect(shown([failed(0, 'prompt_failed', 'agent')])).not.toContain('Rounds of checks');
  });

  test('are shown with the item: each check, and what the failed ones wrote', () => {
    const [, details = ''] = /id="case-2">(.*?)<h3>Facts/s.exec(page) ?? [];
    expect(wordsOf(details)).toMatch(
      /Checks before the first prompt ■ failed npm test exit code 1, 12 s ran &lt;0&gt; Checks of round 1 ✕ failed npm test exit code 1, 12 s ran &lt;1&gt; Checks of round 2 ✓ passed npm test exit code 0, 12 s /,
    );
    expect(details).not.toContain('ran &lt;2&gt;');
  });
});

test('a bar has a width for each share, and a screen reader passes over it', () => {
  const page = shown(items);
  expect(page).toContain(
    '<td class="bar" aria-hidden="true"><svg><rect width="29%" height="100%" fill="currentColor"/></svg></td>',
  );
});
