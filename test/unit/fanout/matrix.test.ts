import { describe, expect, it } from 'vitest';
import type { Matrix } from '../../../src/fanout/index.js';
import { parseFanoutItem } from '../../../src/workflow-client/fanouts/fanout-input.js';
import { read } from './read.js';

const one: Matrix = { providers: [], models: [], efforts: [], repeats: 1 };

describe('a matrix', () => {
  it('creates each item once per combination, with readable ids and labels', async () => {
    const matrix: Matrix = { providers: ['codex'], models: ['m1', 'm2'], efforts: ['low', 'high'], repeats: 2 };
    const items = await read('a\nb', { matrix });
    expect(items).toHaveLength(2 * 8);
    expect(items.slice(0, 4).map(({ id }) => id)).toEqual(['1/m1/low/1', '1/m1/low/2', '1/m1/high/1', '1/m1/high/2']);
    expect(items[8]).toMatchObject({
      id: '2/m1/low/1',
      prompts: [{ prompt: 'b', provider: 'codex', model: 'm1', reasoningEffort: 'low' }],
      labels: { model: 'm1', effort: 'low', repeat: '1' },
    });
    expect(items[0]?.labels).not.toHaveProperty('provider');
    expect(new Set(items.map(({ id }) => id)).size).toBe(items.length);
  });

  it('of one value is a default that an item may override, and keeps ids', async () => {
    const items = await read('{"prompt": "a", "model": "own"}\n"b"', {
      format: 'jsonl',
      matrix: { ...one, models: ['m'] },
    });
    expect(items.map(({ id, prompts }) => [id, prompts[0]?.model])).toEqual([
      ['1', 'own'],
      ['2', 'm'],
    ]);
  });

  it('counts for the one limit of an id, however the item got it', async () => {
    const id = (length: number) => JSON.stringify({ id: 'x'.repeat(length), prompt: 'a' });
    const refusal = (length: number) => `f:1: the id has ${length} characters; the limit is 200.`;
    await expect(read(id(300), { format: 'jsonl' })).rejects.toThrow(refusal(300));
    await expect(read(`id,prompt\n${'x'.repeat(201)},a\n`, { format: 'csv' })).rejects.toThrow('f:2: the id has 201');
    const matrix = { ...one, repeats: 2 };
    await expect(read(id(199), { format: 'jsonl', matrix })).rejects.toThrow(refusal(201));
  });

  it('leaves room for every id that a batch takes', async () => {
    const items = await read(JSON.stringify({ id: 'x'.repeat(200), prompt: 'a' }), { format: 'jsonl' });
    for (const { id, prompts } of items) expect(() => parseFanoutItem({ id, prompts }, 0)).not.toThrow();
    expect(() => parseFanoutItem({ id: 'x'.repeat(201), prompts: [{ prompt: 'a' }] }, 0)).toThrow('id');
  });

  it('of several values conflicts with an item that has its own', async () => {
    const matrix = { ...one, models: ['m', 'n'] };
    await expect(read('{"prompt": "a", "model": "own"}', { format: 'jsonl', matrix })).rejects.toThrow(
      'f:1: the item sets model own, but --model has several values.',
    );
  });
});
