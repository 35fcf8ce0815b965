import { describe, expect, test } from 'vitest';
import { matrixOf } from '../../../src/report/batch/matrix.js';
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
const { addressOf, itemAt } = await browserModule<{
  addressOf(item: PageItem): string;
  itemAt(hash: string, items: readonly PageItem[]): PageItem | undefined;
}>('items/item-address');
const { sortItems, filterItems } = await browserModule<ItemOrder>('items/item-order');

function pageItems(count: number, matrix = false): PageItem[] {
  const { items, result } = sampleBatch(count, { matrix });
  const startMs = Date.parse(result.startedAt);
  return items.map((item) => pageItem(item, startMs, startMs + 900_000));
}

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

describe('the address of an item', () => {
  test('is its id after the address of the page, and leads back to it', () => {
    const [item] = pageItems(1);
    if (!item) throw new Error('the sample has no item');
    const items = ['row-03', 'ä b/c#d', '100%', 'x'].map((id) => ({ ...item, id }));
    expect(addressOf({ ...item, id: 'row-03' })).toBe('#row-03');
    for (const one of items) expect(itemAt(addressOf(one), items)).toBe(one);
    expect(itemAt('#100%', items)?.id).toBe('100%');
    for (const other of ['', '#', '#row-04', '#%']) expect(itemAt(other, items)).toBeUndefined();
  });
});

describe('the matrix', () => {
  test('is detected in a batch of prompts and variants', () => {
    const matrix = matrixOf(pageItems(24, true));
    expect(matrix?.rows.length).toBe(8);
    expect(matrix?.columns).toEqual(['small · low', 'small · high', 'large · high']);
    expect(matrix?.rows.flatMap(({ cells }) => cells).flat().length).toBe(24);
  });

  test('puts repeats into one cell', () => {
    const repeats = pageItems(24, true).flatMap((item) =>
      ['1', '2'].map((repeat) => ({ ...item, id: `${item.id}/${repeat}`, labels: { ...item.labels, repeat } })),
    );
    const cells = matrixOf(repeats)?.rows.flatMap((row) => row.cells);
    expect(cells?.map((own) => own.length)).toEqual(Array.from({ length: 24 }, () => 2));
  });

  test('keeps lines of one prompt apart, and takes labels as variants only with an axis', () => {
    const [first, second, third] = pageItems(3, true);
    const items = [first, second, third].flatMap((item) =>
      item ? [item, { ...item, id: item.id.replace('1/', '2/') }] : [],
    );
    expect(matrixOf(items)?.rows.map(({ prompt }) => prompt)).toEqual([first?.prompt, first?.prompt]);
    const tagged = items.map((item, at) => ({ ...item, labels: { tone: at % 2 ? 'calm' : 'short', repeat: '1' } }));
    expect(matrixOf(tagged)?.columns).toEqual(['short', 'calm']);
  });

  test('is not detected in a list of prompts with one label each', () => {
    expect(matrixOf(pageItems(24))).toBeNull();
  });
});
