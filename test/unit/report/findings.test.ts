import { describe, expect, test } from 'vitest';
import type { ItemResult } from '../../../src/protocol/fanout/fanout-result.js';
import { comparisonSection, matrixOf } from '../../../src/report/comparison.js';
import { type FailedItem, failureGroups, failureOf } from '../../../src/report/failures.js';
import { type PageItem, pageItem } from '../../../src/report/items.js';
import { pageOf, type SampleBatch, sampleBatch } from './sample-batch.js';

function pageItemsOf({ items, result }: SampleBatch): PageItem[] {
  return items.map((item) => pageItem(item, Date.parse(result.startedAt), null));
}

describe('failures', () => {
  const failed = (code: string, message: string, itemId = 'x'): FailedItem => ({
    ...{ itemId, outcome: 'prompt_failed', code, message, failureClass: 'agent' },
  });

  test('with one code are one group, the largest first, and its messages are counted', () => {
    const groups = failureGroups([
      failed('disk_full', 'no disk'),
      failed('exit_code', 'block 1 exited with 3'),
      failed('exit_code', 'block 2 exited with 7'),
      failed('exit_code', 'block 2 exited with 7'),
    ]);
    expect(
      groups.map(({ code, count, reasons }) => [
        code,
        count,
        reasons.map(({ message, items }) => [message, items.length]),
      ]),
    ).toEqual([
      [
        'exit_code',
        3,
        [
          ['block 2 exited with 7', 2],
          ['block 1 exited with 3', 1],
        ],
      ],
      ['disk_full', 1, [['no disk', 1]]],
    ]);
  });

  test('are not items that completed or that somebody ended early, and each says something', () => {
    const [item] = sampleBatch(1, { outcome: 'prompt_failed' }).items as [ItemResult];
    for (const outcome of ['completed', 'cancelled', 'not_started'] as const)
      expect(failureOf({ ...item, outcome })).toBeNull();
    expect(failureOf({ ...item, job: null })).toMatchObject({
      code: 'prompt_failed',
      message: 'It ended as prompt failed, without a message.',
    });
    expect(failureOf({ ...item, job: null, unreadable: 'written by another version' })).toMatchObject({
      code: 'result_of_other_version',
      message: 'written by another version',
    });
  });

  test('come before the outcomes with links to their items, and a batch without any has no panel for them', () => {
    const shown = pageOf(sampleBatch(60));
    expect(shown.indexOf('<h2>Failures')).toBeGreaterThan(0);
    expect(shown.indexOf('<h2>Failures')).toBeLessThan(shown.indexOf('<h2>Outcomes'));
    expect(/<h2>Failures.*?<\/section>/s.exec(shown)?.[0]).toMatch(/<a href="#case-\d+"/);
    expect(pageOf(sampleBatch(9, { outcome: 'completed' }))).not.toContain('<h2>Failures');
  });
});

describe('variants', () => {
  const rowsOf = (items: readonly PageItem[], dollarsPerSecond: number | null = null) => {
    const shown = comparisonSection(matrixOf(items), dollarsPerSecond)?.html.split('<h2>Matrix')[0] ?? '';
    const [, ...rows] = [...shown.matchAll(/<tr>(.*?)<\/tr>/gs)].map(([, row = '']) => row);
    return rows.map((row) =>
      row
        .replace(/<[^>]*>/g, ' ')
        .replace(/\s+/g, ' ')
        .trim(),
    );
  };

  test('of a matrix are compared by success, time and cost', () => {
    const items = pageItemsOf(sampleBatch(24, { matrix: true, outcome: 'completed' }));
    const timed = items.map((item) => ({ ...item, durationMs: 5_000, machineSeconds: 6 }));
    const half = timed.map((item) => (item.index % 6 === 0 ? { ...item, outcome: 'rejected' } : item));
    expect(rowsOf(half)).toEqual([
      'small · low 50 % 4 of 8 5.0 s 6 s 12 s',
      'small · high 100 % 8 of 8 5.0 s 6 s 6 s',
      'large · high 100 % 8 of 8 5.0 s 6 s 6 s',
    ]);
    expect(rowsOf(half, 0.5)[0]).toBe('small · low 50 % 4 of 8 5.0 s 6 s, $3.00 12 s, $6.00');
  });

  test('are compared by the items that ended by themselves', () => {
    const items = pageItemsOf(sampleBatch(24, { matrix: true, outcome: 'completed' }));
    const cut = items.map((item): PageItem => {
      if (item.index < 9) return { ...item, durationMs: 5_000, machineSeconds: 6 };
      return { ...item, outcome: item.index < 15 ? 'cancelled' : 'not_started', machineSeconds: 1_000 };
    });
    expect(rowsOf(cut)[0]).toBe('small · low 100 % 3 of 3, 5 left out 5.0 s 6 s 6 s');
  });

  test('are compared without what failed neither by the agent nor by a check', () => {
    const items = pageItemsOf(sampleBatch(24, { matrix: true, outcome: 'completed' }));
    const classes = ['agent', 'machine', 'service', 'setup', null] as const;
    const failed = items.map((item): PageItem => {
      if (item.index < 9) return { ...item, durationMs: 5_000, machineSeconds: 6 };
      return {
        ...item,
        outcome: 'rejected',
        failureClass: classes[(item.index - 9) % 5] ?? null,
        machineSeconds: 1_000,
      };
    });
    expect(rowsOf(failed)[0]).toMatch(/^small · low \d+ % 3 of [45], [34] left out /);
  });

  test('of which no item ended by itself or completed have no share and no cost', () => {
    const none = pageItemsOf(sampleBatch(6, { matrix: true, outcome: 'cancelled' }));
    expect(rowsOf(none)[0]).toBe('small · low – 0 of 0, 2 left out – – –');
    const rejected = pageItemsOf(sampleBatch(6, { matrix: true, outcome: 'rejected' }));
    expect(rowsOf(rejected, 0.01)[0]).toMatch(/^small · low 0 % 0 of 2 .* –$/);
  });
});

describe('the matrix', () => {
  const items = (count: number, matrix = true) => pageItemsOf(sampleBatch(count, { matrix }));

  test('is detected in a batch of prompts and variants', () => {
    const matrix = matrixOf(items(24));
    expect(matrix?.rows.length).toBe(8);
    expect(matrix?.columns).toEqual(['small · low', 'small · high', 'large · high']);
    expect(matrix?.rows.flatMap(({ cells }) => cells).flat().length).toBe(24);
  });

  test('has a link to the item in each cell', () => {
    const shown = comparisonSection(matrixOf(items(24)), null)?.html;
    expect(shown).toContain('<a href="#1%2Fsmall%2Flow" rel="noopener noreferrer"><bdi>1/small/low</bdi></a>');
  });

  test('puts repeats into one cell', () => {
    const repeats = items(24).flatMap((item) =>
      ['1', '2'].map((repeat) => ({ ...item, id: `${item.id}/${repeat}`, labels: { ...item.labels, repeat } })),
    );
    const cells = matrixOf(repeats)?.rows.flatMap((row) => row.cells);
    expect(cells?.map((own) => own.length)).toEqual(Array.from({ length: 24 }, () => 2));
  });

  test('keeps lines of one prompt apart, and takes labels as variants only with an axis', () => {
    const [first, second, third] = items(3);
    const two = [first, second, third].flatMap((item) =>
      item ? [item, { ...item, id: item.id.replace('1/', '2/') }] : [],
    );
    expect(matrixOf(two)?.rows.map(({ prompt }) => prompt)).toEqual([first?.prompt, first?.prompt]);
    const tagged = two.map((item, at) => ({ ...item, labels: { tone: at % 2 ? 'calm' : 'short', repeat: '1' } }));
    expect(matrixOf(tagged)?.columns).toEqual(['short', 'calm']);
  });

  test('is not detected in a list of prompts with one label each', () => {
    expect(matrixOf(items(24, false))).toBeNull();
  });
});

test('money is shown if the price is known, as the board shows it', () => {
  const data = sampleBatch(30, { outcome: 'completed' });
  const seconds = data.result.budget.spentSeconds;
  expect(pageOf(data, { dollarsPerSecond: 0.01 })).toContain(`), $${(seconds * 0.01).toFixed(2)}</bdi></dd>`);
  expect(pageOf(data)).not.toMatch(/\$\d/);
});

describe('a resumed batch', () => {
  const whole = sampleBatch(30, { outcome: 'completed' });
  const ends = whole.items.map(({ times }) => Date.parse(times.endedAt ?? '')).sort((a, b) => a - b);
  const startMs = (ends[19] ?? 0) + 1;
  const result = { ...whole.result, startedAt: new Date(startMs).toISOString(), durationMs: 3_600_000 };

  test('says which numbers are those of its newest run', () => {
    const shown = pageOf({ ...whole, result });
    expect(shown).toContain('20 items ended in an earlier run');
    expect(shown).toContain('<dt>This run started</dt>');
    expect(shown).toContain('<dt>Took</dt><dd><bdi>1 h</bdi>');
  });

  test('counts the retries of all runs', () => {
    const [item] = sampleBatch(1, { outcome: 'prompt_failed' }).items as [ItemResult];
    const counts = { ...result.counts, items: 1, completed: 0, failed: 1, retried: 0, byOutcome: { prompt_failed: 1 } };
    const again = pageOf({ ...whole, items: [{ ...item, generation: 2 }], result: { ...whole.result, counts } });
    expect(again).toContain('<dt>Retries</dt><dd><bdi>1</bdi>');
  });
});
