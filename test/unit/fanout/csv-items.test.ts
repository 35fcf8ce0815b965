import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readItems } from '../../../src/fanout/index.js';
import { type Reading, read } from './read.js';

const csv = (content: string | Uint8Array, reading: Reading = {}) => read(content, { format: 'csv', ...reading });

describe('items of a CSV file', () => {
  it('are its records; known columns set fields, others are labels', async () => {
    const text =
      '\ufeffid,prompt,model,get,put,team\r\na,"say ""hi"",\r\nplease",m1,out.md; b.md,in.csv:data/in.csv,web\r\n\r\nb,hello,,,,\r\n';
    expect(await csv(text)).toEqual([
      {
        id: 'a',
        prompts: [{ prompt: 'say "hi",\r\nplease', model: 'm1' }],
        put: [{ local: 'in.csv', remote: 'data/in.csv' }],
        collect: ['out.md', 'b.md'],
        labels: { team: 'web' },
        namedAs: { settings: ['model', 'put', 'get'], data: [], commands: [] },
        place: { file: 'f', line: 2 },
      },
      {
        ...{ id: 'b', prompts: [{ prompt: 'hello' }], put: [], labels: {}, columns: { team: '' } },
        namedAs: { settings: [], data: [], commands: [] },
        place: { file: 'f', line: 5 },
      },
    ]);
  });

  it('create prompts from a template, in which an empty cell is empty', async () => {
    const items = await csv('issue,note\ncrash,\n', { templates: ['Fix {{issue}}. {{note}}'] });
    expect(items).toMatchObject([{ id: '1', prompts: [{ prompt: 'Fix crash. ' }], labels: { issue: 'crash' } }]);
  });

  it('lose no file that another one has the path of', async () => {
    const why = 'f:2: put: two files have the path x in the fork';
    await expect(csv('prompt,put\na,one:x;two:x\n')).rejects.toThrow(why);
  });

  it('may be separated by tabs', async () => {
    expect(await read('prompt\tteam\na, b\tx\n', { format: 'tsv' })).toMatchObject([
      { prompts: [{ prompt: 'a, b' }], labels: { team: 'x' } },
    ]);
  });

  it.each([
    ['\ufeffid;prompt;put\r\n1;"say; hi, you";a:b\r\n', 1],
    ['\n"id, of it";prompt\n1;"say; hi, you"\n', 5],
    ['id\tprompt\n1\t"say; hi, you"\n', 2],
  ])('have the separator of their header: %j', async (content, pieceBytes) => {
    expect(await csv(content, { pieceBytes })).toMatchObject([{ prompts: [{ prompt: 'say; hi, you' }] }]);
  });

  it('are not the rows of separators that spreadsheets write', async () => {
    const rows = await csv(',\nid,prompt\n,\n1,hi\n , \n,\n', { templates: ['Fix {{prompt}}'] });
    expect(rows).toMatchObject([{ id: '1', prompts: [{ prompt: 'Fix hi' }], place: { line: 4 } }]);
    expect(await csv('id;prompt\n1;hi\n;\n;\n')).toHaveLength(1);
    await expect(csv('id;prompt\n1;a;b\n')).rejects.toThrow(
      'f:2: this record has 3 cells, but the header has 2. Quote each cell that contains a semicolon.',
    );
  });

  it.each([
    [
      'issue,file\nx,y\n',
      'f:1: the column prompt is missing; the columns are issue, file. Build prompts from them: --prompt "… {{issue}}".',
    ],
    ['prompt,\nx,y\n', 'f:2: column 2 has text, but no name.'],
    ['prompt,a,a\nx,y,z\n', 'f:1: the column a occurs twice.'],
    ['prompt,a\n"x\n1",y\nx,y,z\n', 'f:4: this record has 3 cells, but the header has 2. Quote each cell'],
    ['prompt\r\n"a\r\nb"\r\nx,y\r\n', 'f:4: this record has 2 cells'],
    ['prompt\n"never closed\nx\n', 'f:2: a cell of this record begins with a quote but has no closing quote.'],
    ['prompt\nsay "hi"\n', 'f:2: an unquoted cell contains a quote.'],
    ['prompt,a\n,y\n', 'f:2: prompt: must not be empty.'],
    ['prompt,type\nx,bug\n', 'f:2: type: must be small, default, large or xlarge, not "bug"'],
    ['prompt,put\nx,in.csv\n', 'f:2: put: must be LOCAL:REMOTE in CSV'],
  ])('refuse %j with the position', async (content, message) => {
    await expect(csv(content)).rejects.toThrow(message);
    await expect(csv(content)).rejects.toMatchObject({ code: 'bad_items' });
  });

  it('pass on errors of their source', async () => {
    await expect(csv(Buffer.from([0x70, 0x0a, 0xff]))).rejects.toThrow('this is not UTF-8');
  });

  it('are read as they were written, whatever the cells contain', async () => {
    const cell = fc.string({ unit: fc.constantFrom('a', '"', ',', '\n', '\r\n', ' ', 'é', '{', '1') });
    const quoted = (text: string) => `"${text.replaceAll('"', '""')}"`;
    await fc.assert(
      fc.asyncProperty(
        fc.array(
          cell.map((text) => `p${text}`),
          { minLength: 1, maxLength: 6 },
        ),
        fc.integer({ min: 1, max: 7 }),
        async (cells, pieceBytes) => {
          const text = ['prompt', ...cells.map(quoted)].join('\n');
          const items = await csv(text, { pieceBytes });
          expect(items.map((item) => item.prompts[0]?.prompt)).toEqual(cells);
          const starts = cells.map(
            (_, at) => 2 + cells.slice(0, at).join('\n').split('\n').length - (at === 0 ? 1 : 0),
          );
          expect(items.map(({ place }) => place.line)).toEqual(starts);
        },
      ),
      { numRuns: 200 },
    );
  });

  it.each(['\n', '\r\n'])(
    'are read one by one without keeping them in memory, with lines that end in %j',
    async (end) => {
      const record = `${'x'.repeat(20_000)}${end}`;
      let openPieces = 0;
      const source = {
        file: 'f',
        format: 'csv',
        guessed: false,
        open: async function* () {
          yield `prompt${end}`;
          for (; openPieces < 300; openPieces += 1) yield record;
        },
      } as const;
      const matrix = { providers: [], models: [], efforts: [], repeats: 1 };
      let items = 0;
      for await (const item of readItems([source], { templates: [], matrix, parseDurationMs: Number })) {
        items += item.prompts.length;
        expect(openPieces - items).toBeLessThan(100);
      }
      expect(items).toBe(300);
    },
  );
});
