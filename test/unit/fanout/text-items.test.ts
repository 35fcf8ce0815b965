import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readItems } from '../../../src/fanout/index.js';
import { prompts, read } from './read.js';

describe('items of a text file', () => {
  it('are one prompt per line, without blank lines and comments, with their number as id', async () => {
    const items = await read('\ufeff# the list\nfirst\r\n\n  second  \n#third\nfourth');
    expect(items).toMatchObject([
      { id: '1', prompts: [{ prompt: 'first' }], place: { file: 'f', line: 2 } },
      { id: '2', prompts: [{ prompt: 'second' }], place: { line: 4 } },
      { id: '3', prompts: [{ prompt: 'fourth' }], place: { line: 6 } },
    ]);
  });

  it('are blocks if the file begins with ---, and may contain # and blank lines', async () => {
    const text = '# about\n---\n\n# Title\n\nbody  \n\n---\n---\nlast\n  indented\n---\n';
    expect(await prompts(text)).toEqual(['# Title\n\nbody', 'last\n  indented']);
    expect((await read(text)).map(({ place }) => place.line)).toEqual([4, 10]);
    expect(await prompts('---\nonly one, not closed')).toEqual(['only one, not closed']);
  });

  it('refuse a line of --- in a file that does not begin with one', async () => {
    await expect(read('one\n---\ntwo')).rejects.toThrow('f:2: a line of --- separates prompts');
  });

  it('are the same at any chunk boundary', async () => {
    const line = fc.string({ unit: 'grapheme', maxLength: 12 }).map((text) => text.replace(/[\r\n]/g, '.'));
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { maxLength: 12 }),
        fc.constantFrom('\n', '\r\n'),
        fc.integer({ min: 1, max: 9 }),
        async (lines, end, pieceBytes) => {
          const text = lines.join(end);
          const wished = lines.map((one) => one.trim()).filter((one, at) => one !== '' && !lines[at]?.startsWith('#'));
          fc.pre(!wished.includes('---') && !text.startsWith('\ufeff'));
          expect(await prompts(text, { pieceBytes })).toEqual(wished);
        },
      ),
      { numRuns: 200 },
    );
  });

  it.each([
    ['text', 'one\rtwo\r'],
    ['text', '---\rone\r---\rtwo'],
    ['jsonl', '{"prompt":"one"}\r{"prompt":"two"}\r'],
    ['csv', 'prompt\rone\rtwo\r'],
    ['csv', 'prompt,"a note"\rone,"two\nlines"\r'],
    ['tsv', '\r\rprompt\ta\rone\ttwo\r'],
  ] as const)('refuse lines that end in CR only: %s %j', async (format, content) => {
    await expect(read(content, { format })).rejects.toMatchObject({
      code: 'bad_items',
      message: expect.stringMatching(/^f:1: its lines end in CR only.*: tr '\\r' '\\n' < FILE/),
    });
  });

  it('keep a CR beside other line ends, and need no end of the last line', async () => {
    expect(await prompts('one\rtwo\r\nthree\r')).toEqual(['one\rtwo', 'three']);
    expect(await prompts('one\r')).toEqual(['one']);
    expect(await prompts('prompt\n"one\rtwo"\n', { format: 'csv' })).toEqual(['one\rtwo']);
    expect(await prompts('[\r"one",\r"two"\r]\r', { format: 'json' })).toEqual(['one', 'two']);
  });

  it('refuse text that is not UTF-8, and an endless line', async () => {
    await expect(read(Buffer.from([0x61, 0x0a, 0xff, 0xfe]))).rejects.toThrow('f:1: this is not UTF-8 text');
    await expect(read('x'.repeat(17_000_000))).rejects.toThrow('f:1: this line exceeds the limit of');
  });

  it('refuse JSONL unless the format is given', async () => {
    const open = async function* () {
      yield '{"prompt": "x"}';
    };
    const options = {
      templates: [],
      matrix: { providers: [], models: [], efforts: [], repeats: 1 },
      parseDurationMs: Number,
    };
    const source = { file: 'stdin', format: 'text', guessed: true, open } as const;
    await expect(readItems([source], options).next()).rejects.toThrow('stdin:1: this looks like JSONL');
    await expect(readItems([{ ...source, guessed: false }], options).next()).resolves.toMatchObject({ done: false });
  });
});
