import { describe, expect, test } from 'vitest';
import { failureGroups } from '../../../src/report/batch/failures.js';
import { matrixOf } from '../../../src/report/batch/matrix.js';
import { pageItem } from '../../../src/report/batch/page-items.js';
import { type VariantRow, variantRows } from '../../../src/report/batch/variants.js';
import { type FanoutReportData, renderFanoutReport } from '../../../src/report/index.js';
import type { PageItem } from '../../../src/report/page-data.js';
import { sampleBatch } from './sample-batch.js';

function pageItemsOf({ items, result }: FanoutReportData): PageItem[] {
  const startMs = Date.parse(result.startedAt);
  return items.map((item) => pageItem(item, startMs, startMs + 900_000));
}

/** The HTML before the data, as a reader sees it without a script. */
function shownIn(data: FanoutReportData): string {
  return renderFanoutReport(data).split('<script')[0] ?? '';
}

describe('failures', () => {
  const [item] = pageItemsOf(sampleBatch(1, { outcome: 'prompt_failed' })) as [PageItem];
  const failed = (error: string, outcome = 'prompt_failed'): PageItem => ({ ...item, error, outcome });

  test('with the same reason are one group, the largest first; ids and numbers do not matter', () => {
    const groups = failureGroups([
      failed('', 'completed'),
      failed('no disk'),
      failed('sandbox sbx_1a2b3c stopped after 12 s'),
      failed('sandbox sbx_9z8y7x stopped after 7 s'),
      failed('no disk', 'rejected'),
      failed('', 'not_started'),
      failed(''),
    ]);
    expect(groups.map(({ outcome, message, isSame, items }) => [outcome, message, isSame, items.length])).toEqual([
      ['prompt_failed', 'sandbox sbx_1a2b3c stopped after 12 s', false, 2],
      ['prompt_failed', 'no disk', true, 1],
      ['rejected', 'no disk', true, 1],
      ['prompt_failed', 'It ended as prompt failed, without a message.', true, 1],
    ]);
  });

  test('say why a stored result cannot be read', () => {
    const data = sampleBatch(1, { outcome: 'outcome_unknown' });
    const items = data.items.map((one) => ({ ...one, job: null, unreadable: 'written by another version' }));
    expect(failureGroups(pageItemsOf({ ...data, items }))).toMatchObject([{ message: 'written by another version' }]);
  });

  test.each([
    ['block 1 exited with 3', 'block 2 exited with 7'],
    ['exit code 1 after 20 s', 'exit code 137 after 7 s'],
    ['exit_code=1', 'exit_code=2'],
    ['killed by signal 9', 'killed by signal 15'],
    ['HTTP 500 for bx_abcd2345', 'HTTP 503 for bx_wxyz2345'],
    ['it exited with status: 1', 'it exited with status: 2'],
  ])('are two groups if they ended in different ways: %s', (one, other) => {
    expect(failureGroups([failed(one), failed(other), failed(one)]).map(({ items }) => items.length)).toEqual([2, 1]);
    expect(failureGroups([failed(`${one} at line 4`), failed(`${one} at line 31`)])).toHaveLength(1);
  });

  test('come before everything else, and a batch without any has no panel for them', () => {
    const shown = shownIn(sampleBatch(60));
    expect(shown.indexOf('id="failures"')).toBeGreaterThan(0);
    expect(shown.indexOf('id="failures"')).toBeLessThan(shown.indexOf('id="outcomes"'));
    expect(shownIn(sampleBatch(9, { outcome: 'completed' }))).not.toContain('id="failures"');
  });
});

describe('variants', () => {
  const variantsOf = (items: readonly PageItem[]): VariantRow[] => {
    const matrix = matrixOf(items);
    return matrix ? variantRows(matrix) : [];
  };

  test('of a matrix are compared by success, time and cost', () => {
    const items = pageItemsOf(sampleBatch(24, { matrix: true, outcome: 'completed' }));
    const half = items.map((item) => (item.index % 6 === 0 ? { ...item, outcome: 'rejected' } : item));
    const rows = variantsOf(half);
    expect(rows.map(({ name, items, completed }) => [name, items, completed])).toEqual([
      ['small · low', 8, 4],
      ['small · high', 8, 8],
      ['large · high', 8, 8],
    ]);
    const total = items.reduce((sum, { machineSeconds }) => sum + machineSeconds, 0);
    expect(rows.reduce((sum, { machineSeconds }) => sum + machineSeconds, 0)).toBeCloseTo(total);
    expect(matrixOf(pageItemsOf(sampleBatch(24)))).toBeNull();
  });

  test('are compared by the items that ended by themselves', () => {
    const items = pageItemsOf(sampleBatch(24, { matrix: true, outcome: 'completed' }));
    const cut = items.map((item): PageItem => {
      if (item.index < 9) return item;
      return { ...item, outcome: item.index < 15 ? 'cancelled' : 'not_started', machineSeconds: 1_000 };
    });
    const rows = variantsOf(cut);
    expect(rows.map(({ items, completed, leftOut }) => [items, completed, leftOut])).toEqual([
      [3, 3, 5],
      [3, 3, 5],
      [3, 3, 5],
    ]);
    expect(rows[0]?.machineSeconds).toBeLessThan(3_000);
  });

  test('of which no item ended by itself have no share', () => {
    const shown = shownIn(sampleBatch(6, { matrix: true, outcome: 'cancelled' }));
    expect(shown).toContain('<span>–</span> <span class="note">0 of 0, 2 left out</span>');
    expect(shown).not.toMatch(/NaN|Infinity/);
  });

  test('that never completed cost nothing per completed item', () => {
    const shown = shownIn({ ...sampleBatch(6, { matrix: true, outcome: 'rejected' }), dollarsPerSecond: 0.01 });
    expect(shown).toContain('Cost per completed</th>');
    expect(shown).toMatch(/0 %<\/span> <span class="note">0 of 2<\/span>[\s\S]*?–<\/td><\/tr>/);
    expect(shown).not.toMatch(/NaN|Infinity/);
  });
});

test('money is shown if the price is known, as the board shows it', () => {
  const data = sampleBatch(30, { outcome: 'completed' });
  const seconds = data.result.budget.spentSeconds;
  expect(shownIn({ ...data, dollarsPerSecond: 0.01 })).toContain(`<strong>$${(seconds * 0.01).toFixed(2)}</strong>`);
  expect(shownIn(data)).not.toMatch(/\$\d/);
});

test('a budget is shown as it was given', () => {
  const { result, ...rest } = sampleBatch(3, { outcome: 'completed' });
  const shown = (limitSeconds: number) =>
    shownIn({ ...rest, result: { ...result, budget: { ...result.budget, limitSeconds } } });
  expect(shown(1_080_000)).toMatch(/Budget<\/th><td class="number">300 h<\/td>/);
  expect(shown(1_080_000)).toContain('of 300 h');
  expect(shown(5_400)).toContain('Budget</th><td class="number">90 m</td>');
});

test('a completed batch that lacks a file does not look as if all were well', () => {
  const { result, ...rest } = sampleBatch(3, { outcome: 'completed' });
  expect(shownIn({ ...rest, result })).toMatch(/badge tone-good[^/]*<\/span> Completed<\/strong>/);
  expect(shownIn({ ...rest, result: { ...result, shortfall: '1 file missing' } })).toMatch(
    /badge tone-warn[^/]*<\/span> Completed, 1 file missing<\/strong>/,
  );
});

describe('a resumed batch', () => {
  const whole = sampleBatch(30, { outcome: 'completed' });
  const ends = whole.items.map(({ times }) => Date.parse(times.endedAt ?? '')).sort((a, b) => a - b);
  const startMs = (ends[19] ?? 0) + 1;
  const earlier = whole.items.filter(({ times }) => Date.parse(times.endedAt ?? '') < startMs);
  const result = { ...whole.result, startedAt: new Date(startMs).toISOString(), durationMs: 3_600_000 };

  test('says which numbers are those of its newest run, and the machine times add up', () => {
    const shown = shownIn({ ...whole, result });
    expect(shown).toContain('20 items ended in an earlier run');
    expect(shown).toContain('API calls of this run</dt>');
    // 10 items completed in the hour of the newest run.
    expect(shown).toMatch(/Pace of this run<\/span><strong>10 \/ h/);
    const seconds = (name: string) =>
      Number(new RegExp(`${name}</th><td class="number">([\\d,]+)`).exec(shown)?.[1]?.replace(',', ''));
    const spent = earlier.reduce((sum, { machineSeconds }) => sum + machineSeconds, 0);
    expect(Math.abs(seconds('Items of earlier runs') - spent)).toBeLessThan(1);
    const parts = seconds('Items of this run') + seconds('Items of earlier runs');
    expect(Math.abs(parts - seconds('All runs together'))).toBeLessThan(2);
  });

  test('tells one story of an item that ran again and failed: a retry, and no pace', () => {
    const [item] = sampleBatch(1, { outcome: 'prompt_failed' }).items;
    if (!item) throw new Error('the sample has no item');
    const counts = { ...result.counts, items: 1, completed: 0, failed: 1, retried: 0, byOutcome: { prompt_failed: 1 } };
    const again = shownIn({ ...whole, items: [{ ...item, generation: 2 }], result: { ...whole.result, counts } });
    expect(again).toContain('1 retry in new forks.');
    expect(again).not.toMatch(/No item was retried|Pace/);
  });

  test('keeps the times of earlier items, outside of the timeline', () => {
    const [first] = earlier;
    if (!first) throw new Error('no item ended in an earlier run');
    const [whole, shifted] = [result.startedAt, new Date(Date.parse(first.times.queuedAt ?? '')).toISOString()].map(
      (start) => pageItem(first, Date.parse(start), startMs),
    );
    expect(whole?.earlier).toBe(true);
    expect(whole?.durationMs).toBe(shifted?.durationMs);
    expect(whole?.segments.every(({ to }) => to <= 0)).toBe(true);
  });

  test('names the machine time of attempts that later ones replaced', () => {
    const budget = { ...whole.result.budget, spentSeconds: whole.result.budget.spentSeconds + 500 };
    expect(shownIn({ ...whole, result: { ...result, budget } })).toMatch(
      /Attempts that were replaced<\/th><td class="number">500 s/,
    );
  });
});

describe('ids', () => {
  const ui = { url: 'http://127.0.0.1:8233/', namespace: 'default', deployment: 'main' };

  test('are links where the UI has an address', () => {
    const page = renderFanoutReport({ ...sampleBatch(2), ui });
    expect(page).toContain('href="http://127.0.0.1:8233/namespaces/default/workflows/sf-main-nightly-review"');
    expect(page).toContain('"workflowUrl":"http://127.0.0.1:8233/namespaces/default/workflows/');
    expect(renderFanoutReport({ ...sampleBatch(2), ui: { ...ui, url: 'javascript:alert(1)' } })).not.toContain(
      'alert(1)',
    );
  });
});
