import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { kindOf, readItems } from '../../../src/fanout/index.js';
import { type Reading, read } from './read.js';

const list = (content: string, reading: Reading = {}) => read(content, { ...reading, format: 'json' });

describe('items of a JSON list', () => {
  it.each(['["a", {"id": "x", "prompt": "b"}]', '\ufeff[\n  "a",\n  {\n    "id": "x",\n    "prompt": "b"\n  }\n]\n'])(
    'are its entries: %j',
    async (content) => {
      expect(kindOf('Items.JSON').format).toBe('json');
      expect(await list(content)).toMatchObject([
        { id: '1', prompts: [{ prompt: 'a' }] },
        { id: 'x', prompts: [{ prompt: 'b' }] },
      ]);
    },
  );

  it('fill templates, and keep brackets and commas in texts', async () => {
    const items = await list('[{"n": 12345678901234567890, "t": "],[\\"{"}]', { templates: ['{{n}} {{t}}'] });
    expect(items).toMatchObject([
      { prompts: [{ prompt: '12345678901234567890 ],["{' }], place: { file: 'f', line: 1 } },
    ]);
  });

  it('are the same at any chunk boundary', async () => {
    const text = fc.string({ minLength: 1, maxLength: 9 }).map((one) => `p${one}`);
    await fc.assert(
      fc.asyncProperty(fc.array(text, { maxLength: 6 }), fc.integer({ min: 1, max: 7 }), async (texts, pieceBytes) => {
        const items = await list(JSON.stringify(texts, null, 2), { pieceBytes });
        expect(items.map(({ prompts }) => prompts[0]?.prompt)).toEqual(texts);
        expect(items.map(({ place }) => place.line)).toEqual(texts.map((_, at) => at + 2));
      }),
    );
  });

  it.each([
    ['{"prompt": "a"}', 'f:1:1: the file is not a JSON list. If each line is an item, use --format jsonl.'],
    ['["a"', 'f:1:4: the list is not closed.'],
    ['["a",,"b"]', 'f:1:6: an entry of the list is missing.'],
    ['["a",\n]', 'f:2:1: an entry of the list is missing.'],
    ['["a"]\n["b"]', 'f:2:1: the list has ended, but the file goes on.'],
    ['["a",\n  {"prompt": x}]', 'f:2:14: invalid JSON'],
    ['["a", {\n"prompt" 1}]', 'f:2:10: invalid JSON'],
    ['[["a"]]', 'f:1: an item must be a string or an object.'],
    ['["a",\n\n7]', 'f:3: an item must be a string or an object.'],
  ])('refuse %j with the position', async (content, message) => {
    await expect(list(content)).rejects.toThrow(message);
    await expect(list(content)).rejects.toMatchObject({ code: 'bad_items' });
  });

  it.each([
    ['["a", "b"]', 'f:1: this looks like a JSON list. Use --format json, or --format text if it is a prompt.'],
    ['[\n"a"\n]', 'f:1: this looks like a JSON list.'],
    ['{\n"prompt": "a"\n}', 'f:1: this looks like JSONL. Use --format jsonl'],
  ])('are not taken for prompts if the format is guessed: %j', async (content, message) => {
    const source = (guessed: boolean) => ({
      file: 'f',
      format: 'text' as const,
      guessed,
      open: async function* () {
        yield content;
      },
    });
    const matrix = { providers: [], models: [], efforts: [], repeats: 1 };
    const count = async (guessed: boolean) => {
      let items = 0;
      for await (const { prompts } of readItems([source(guessed)], { templates: [], matrix, parseDurationMs: Number }))
        items += prompts.length;
      return items;
    };
    await expect(count(true)).rejects.toThrow(message);
    expect(await count(false)).toBe(content.split('\n').length);
  });
});
