import { describe, expect, it } from 'vitest';
import { read } from './read.js';

const jsonl = (record: object) => read(JSON.stringify(record), { format: 'jsonl' });

describe('an item names its source', () => {
  it.each([
    [{ source: 'bx_2345abcd' }, { source: 'bx_2345abcd' }],
    [{ snapshot: 'base' }, { snapshot: 'base' }],
    [
      { environment: 'web', setup: 'make' },
      { environment: 'web', setup: ['make'] },
    ],
    [
      { snapshot: 'base', environment: 'web', setup: ['make', 'make test'] },
      { snapshot: 'base', environment: 'web', setup: ['make', 'make test'] },
    ],
  ])('%j', async (fields, source) => {
    const [item] = await jsonl({ prompt: 'a', ...fields });
    expect(item).toMatchObject({ source, namedAs: { settings: Object.keys(source), data: [] } });
    const [ofList] = await read(JSON.stringify([{ prompt: 'a', ...fields }]), { format: 'json' });
    expect(ofList?.source).toEqual(source);
  });

  it('in CSV by columns; an empty cell names none', async () => {
    const items = await read('prompt,snapshot,setup\na,base,make; make test\nb,,\n', { format: 'csv' });
    expect(items.map(({ source }) => source)).toEqual([{ snapshot: 'base', setup: ['make; make test'] }, undefined]);
  });

  it.each([
    [{ source: 'web' }, 'f:1: source: must be the id of a sandbox, like bx_2345abcd.'],
    [{ source: 'bx_2345abcd', setup: 'make' }, 'f:1: the item has source and setup, but a sandbox is forked as it is.'],
    [
      { source: 'bx_2345abcd', snapshot: 'a', environment: 'b' },
      'Leave out source or snapshot, environment, or rename what is data.',
    ],
    [{ snapshot: '' }, 'f:1: snapshot: must not be empty'],
    [{ setup: [] }, 'f:1: setup: '],
    [{ setup: ' ' }, 'f:1: setup: must not be empty'],
  ])('%j is refused', async (fields, message) => {
    await expect(jsonl({ prompt: 'a', ...fields })).rejects.toThrow(message);
  });

  it('but what cannot be a source is data of a template', async () => {
    const templates = ['{{title}}'];
    const items = await read('title,source\na,github\nb,gitlab\n', { format: 'csv', templates });
    expect(items.map(({ source, labels }) => [source, labels?.source])).toEqual([
      [undefined, 'github'],
      [undefined, 'gitlab'],
    ]);
    await expect(read('title,source\na,github\nb,bx_2345abcd\n', { format: 'csv', templates })).rejects.toThrow(
      'f:2: source: must be the id of a sandbox, like bx_2345abcd. Mend it, or rename source if it is data: f:3 sets it.',
    );
  });

  it('and items that differ only in their source may have one prompt', async () => {
    const templates = ['Fix it.'];
    const items = await read('snapshot\na\nb\n', { format: 'csv', templates });
    expect(items.map(({ source }) => source)).toEqual([{ snapshot: 'a' }, { snapshot: 'b' }]);
    await expect(read('snapshot\na\na\n', { format: 'csv', templates })).rejects.toThrow('would have the same prompt');
  });
});
