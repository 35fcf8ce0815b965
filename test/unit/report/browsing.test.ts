import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { pageItem } from '../../../src/report/batch/page-items.js';
import type { PageItem } from '../../../src/report/page-data.js';
import { browserModule } from './browser-module.js';
import { sampleBatch } from './sample-batch.js';

interface ItemOrder {
  sortItems(items: readonly PageItem[], key: string, descending: boolean): PageItem[];
  filterItems(
    items: readonly PageItem[],
    outcomes: ReadonlySet<string>,
    text: string,
    textOf: (item: PageItem) => string,
  ): PageItem[];
}
interface ForkLanes {
  packForks(items: readonly PageItem[]): { from: number; to: number; place: number; item: PageItem }[][];
}
interface VisibleRows {
  drawVisible(
    view: { readonly scrollTop: number; readonly clientHeight: number },
    rowHeight: number,
    count: number,
    draw: (rows: { first: number; end: number }) => void,
  ): void;
}
interface MatrixShape {
  matrixOf(
    items: readonly PageItem[],
  ): { rows: Map<string, string>; columns: string[]; cells: Map<string, PageItem[]> } | null;
}

const { sortItems, filterItems } = await browserModule<ItemOrder>('items/item-order');
const { packForks } = await browserModule<ForkLanes>('lanes/fork-lanes');
const { drawVisible } = await browserModule<VisibleRows>('items/visible-rows');
const { matrixOf } = await browserModule<MatrixShape>('matrix/matrix-shape');

function pageItems(count: number, matrix = false): PageItem[] {
  const { items, result } = sampleBatch(count, { matrix });
  const startMs = Date.parse(result.startedAt);
  return items.map((item) => pageItem(item, startMs, startMs + 900_000));
}

describe('the table of items', () => {
  /** As a browser: a view is as high as its rows with their spacers, up to a maximum. */
  const drawnIn = (count: number, scrollTop: number, before: number) => {
    let [height, drawn, draws] = [before, { first: 0, end: 0 }, 0];
    const view = {
      scrollTop,
      get clientHeight() {
        return height;
      },
    };
    drawVisible(view, 54, count, (rows) => {
      drawn = rows;
      draws += 1;
      height = Math.min(800, 40 + count * 54);
    });
    return { ...drawn, draws };
  };

  test.each([
    ['from the start', 40, 0, 40, { first: 0, end: 23, draws: 2 }],
    ['after a filter that few rows passed', 2_000, 0, 148, { first: 0, end: 23, draws: 2 }],
    ['after a scroll, once', 2_000, 5_400, 800, { first: 92, end: 123, draws: 1 }],
    ['if they are few', 3, 0, 40, { first: 0, end: 3, draws: 2 }],
    ['after a filter that few rows pass', 2, 0, 800, { first: 0, end: 2, draws: 1 }],
  ])('draws all rows in sight %s', (_, count, scrollTop, before, rows) => {
    expect(drawnIn(count, scrollTop, before)).toEqual(rows);
  });
});

describe('the order of items', () => {
  test.each(['index', 'id', 'outcome', 'duration', 'machine', 'files', 'generation'])(
    'by %s keeps every item, and can be reversed',
    (key) => {
      const items = pageItems(50);
      const rising = sortItems(items, key, false);
      const falling = sortItems(items, key, true);
      expect(new Set(rising)).toEqual(new Set(items));
      expect(falling[0]).not.toBe(rising[0]);
      expect(sortItems(falling, key, false)).toEqual(rising);
    },
  );

  test('by id compares numbers numerically', () => {
    expect(sortItems(pageItems(12), 'id', false).at(1)?.id).toBe('case-2');
  });

  test('filters keep items with an outcome and every word', () => {
    const items = pageItems(60);
    const text = (item: PageItem): string => `${item.id} ${item.prompt}`.toLowerCase();
    const none = new Set<string>();
    expect(filterItems(items, none, '  ', text)).toEqual(items);
    expect(filterItems(items, none, 'REFUND flaky', text).length).toBeGreaterThan(3);
    expect(filterItems(items, none, 'refund nowhere', text)).toEqual([]);
    const failed = filterItems(items, new Set(['sandbox_failed', 'rejected']), '', text);
    expect(failed.length).toBeGreaterThan(0);
    expect(failed.every(({ outcome }) => outcome !== 'completed')).toBe(true);
  });
});

test('forks in one lane do not overlap, and there are no more lanes than concurrent forks', () => {
  const spans = fc.array(fc.tuple(fc.nat(1_000), fc.integer({ min: 1, max: 300 })), { maxLength: 60 });
  const [sample] = pageItems(1);
  fc.assert(
    fc.property(spans, (all) => {
      const items = all.map(([from, length]): PageItem => {
        return { ...(sample as PageItem), segments: [{ kind: 'prompting', from, to: from + length }] };
      });
      const lanes = packForks(items);
      for (const lane of lanes) {
        for (const [at, { from }] of lane.entries()) expect(from).toBeGreaterThanOrEqual(lane[at - 1]?.to ?? 0);
      }
      expect(lanes.flat().length).toBe(items.length);
      const atOnce = all.map(
        ([moment]) => all.filter(([from, length]) => from <= moment && moment < from + length).length,
      );
      expect(lanes.length).toBe(Math.max(0, ...atOnce));
    }),
  );
});

describe('the matrix', () => {
  test('is detected in a batch of prompts and variants', () => {
    const matrix = matrixOf(pageItems(24, true));
    expect(matrix?.rows.size).toBe(8);
    expect(matrix?.columns).toEqual(['small · low', 'small · high', 'large · high']);
    expect([...(matrix?.cells.values() ?? [])].flat().length).toBe(24);
  });

  test('puts repeats into one cell', () => {
    const repeats = pageItems(24, true).flatMap((item) =>
      ['1', '2'].map((repeat) => ({ ...item, id: `${item.id}/${repeat}`, labels: { ...item.labels, repeat } })),
    );
    expect([...(matrixOf(repeats)?.cells.values() ?? [])].every((items) => items.length === 2)).toBe(true);
  });

  test('keeps lines of one prompt apart, and takes labels as variants only with an axis', () => {
    const [first, second, third] = pageItems(3, true);
    const items = [first, second, third].flatMap((item) =>
      item ? [item, { ...item, id: item.id.replace('1/', '2/') }] : [],
    );
    expect([...(matrixOf(items)?.rows ?? [])]).toEqual([
      ['1', first?.prompt],
      ['2', first?.prompt],
    ]);
    const tagged = items.map((item, at) => ({ ...item, labels: { tone: at % 2 ? 'calm' : 'short', repeat: '1' } }));
    expect(matrixOf(tagged)?.columns).toEqual(['short', 'calm']);
  });

  test('is not detected in a list of prompts with one label each', () => {
    expect(matrixOf(pageItems(24))).toBeNull();
  });
});
