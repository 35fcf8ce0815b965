import { describe, expect, it } from 'vitest';
import { prompts, type Reading, read } from './read.js';

const jsonl = (content: string, reading: Reading = {}) => read(content, { ...reading, format: 'jsonl' });

describe('items of a JSONL file', () => {
  it('are strings, or objects with every field of an item', async () => {
    const whole = {
      id: 'login',
      prompts: ['look', { prompt: 'mend', model: 'm2', effort: 'high' }],
      provider: 'codex',
      model: 'm1',
      type: 'large',
      end: 'keep',
      deadline: '30m',
      put: { 'data/in.csv': 'in.csv' },
      get: ['out.md'],
      getDiff: 'app',
      labels: { team: 'web', round: 2 },
    };
    expect(await jsonl(`"hello"\n\n${JSON.stringify(whole)}\n`)).toEqual([
      {
        ...{ id: '1', prompts: [{ prompt: 'hello' }], put: [], labels: {}, place: { file: 'f', line: 1 } },
        namedAs: { settings: [], data: [], commands: [] },
      },
      {
        id: 'login',
        prompts: [
          { prompt: 'look', provider: 'codex', model: 'm1' },
          { prompt: 'mend', provider: 'codex', model: 'm2', reasoningEffort: 'high' },
        ],
        type: 'large',
        end: 'keep',
        deadlineMs: 1_800_000,
        put: [{ local: 'in.csv', remote: 'data/in.csv' }],
        collect: ['out.md'],
        collectDiff: 'app',
        labels: { team: 'web', round: '2' },
        namedAs: {
          settings: ['provider', 'model', 'put', 'get', 'getDiff', 'type', 'end', 'deadline'],
          data: [],
          commands: [],
        },
        place: { file: 'f', line: 3 },
      },
    ]);
  });

  it.each([
    ['"a"\n{"prompt": x}', 'f:2:12: invalid JSON'],
    ['{"prompt":"a","prompt":"b"}', 'f:1: the field prompt occurs twice in one object'],
    ['{"prompt": "a"', 'f:1:15: invalid JSON'],
    ['{"prompt": tru, "id": 1}', 'f:1:15: invalid JSON'],
    ['{"prompt": "a" "b"}', 'f:1:16: invalid JSON'],
    ['[1]', 'f:1: an item must be a string or an object. For a file that is one JSON list, use --format json.'],
    ['7', 'f:1: an item must be a string or an object.'],
    ['{\n  "prompt": "a"\n}', 'f:1:2: invalid JSON'],
    ['{\n  "prompt": "a"\n}', 'In JSONL, each item is on one line'],
    ['{"promt": "a"}', 'f:1: unknown field promt. The fields of an item are id, provider'],
    ['{"id": "a"}', 'f:1: the item has no prompt.'],
    ['{"prompt": " "}', 'f:1: prompt: must not be empty.'],
    ['""', 'f:1: prompt: must not be empty.'],
    ['{"prompt": "a", "prompts": ["b"]}', 'f:1: the item has both prompt and prompts.'],
    ['{"prompts": []}', 'f:1: prompts: must have at least one.'],
    [
      '{"prompt": "a", "effort": "huge", "type": "tiny"}',
      'effort: must be none, low, medium, high, xhigh or max, not "huge"',
    ],
    ['{"prompt": "a", "deadline": "soon"}', 'f:1: deadline: "soon" is not a duration.'],
    ['{"prompt": "a", "id": "x"}\n{"prompt": "b", "id": "x"}', 'f:2: the id x is already used in f:1.'],
    ['{"prompt": "a", "id": "2"}\n"b"', 'f:2: the id 2 is already used in f:1.'],
    ['{"prompt": "a", "id": "a\\u001bb"}', 'f:1: the id contains control characters.'],
  ])('refuse %j with the position', async (content, message) => {
    await expect(jsonl(content)).rejects.toThrow(message);
    await expect(jsonl(content)).rejects.toMatchObject({ code: 'bad_items' });
  });
});

describe('numbers of a JSONL file', () => {
  it('keep their digits in prompts, ids and labels', async () => {
    const items = await jsonl(
      '{"ticket":1234567890123456789,"id":9007199254740993}\n{"ticket":2,"id":9007199254740992}',
      {
        templates: ['Fix {{ticket}}'],
      },
    );
    expect(items).toMatchObject([
      {
        id: '9007199254740993',
        prompts: [{ prompt: 'Fix 1234567890123456789' }],
        labels: { ticket: '1234567890123456789' },
      },
      { id: '9007199254740992', prompts: [{ prompt: 'Fix 2' }] },
    ]);
  });

  it('keep their digits within lists and objects, and as labels of their own', async () => {
    const line = '{ "prompt":"a", "labels":{"version":1.10}, "log": [ 12e45678, {"n": -0.0, "text": "\\u00e9 1.0"} ] }';
    expect((await jsonl('{"prompt":"a","labels":{"version":1.10}}'))[0]?.labels).toEqual({ version: '1.10' });
    expect(await prompts(line, { format: 'jsonl', templates: ['{{log}}'] })).toEqual([
      '[12e45678,{"n":-0.0,"text":"é 1.0"}]',
    ]);
  });
});

describe('a template', () => {
  const template = (text: string) => ({ format: 'jsonl', templates: [text] }) as const;

  it('creates prompts from columns, which are labels too, truncated if long', async () => {
    const [item] = await read('{"issue": "crash", "file": "a.ts", "id": "7", "log": ["x"]}', {
      ...template('Fix {{ issue }} in {{file}} ({{id}}): {{log}}'),
    });
    expect(item).toMatchObject({
      id: '7',
      prompts: [{ prompt: 'Fix crash in a.ts (7): ["x"]' }],
      labels: { issue: 'crash', file: 'a.ts', log: '["x"]' },
    });
    const [long] = await jsonl(JSON.stringify({ text: 'x'.repeat(500) }), template('{{text}}'));
    expect(long?.labels?.text).toHaveLength(120);
    expect(long?.prompts[0]?.prompt).toHaveLength(500);
  });

  it('replaces a column by its text only, whatever the text contains', async () => {
    expect(await prompts('{"a": "{{b}} $& $1", "b": "no"}', template('{{a}}!'))).toEqual(['{{b}} $& $1!']);
  });

  it('can have several prompts in one conversation, and wraps the lines of a text file', async () => {
    const [item] = await read('bonjour', { templates: ['Translate: {{prompt}}', 'Shorter.'] });
    expect(item?.prompts).toEqual([{ prompt: 'Translate: bonjour' }, { prompt: 'Shorter.' }]);
  });

  it('names the columns if one is unknown', async () => {
    await expect(jsonl('{"issue": "x", "file": "y"}', template('Fix {{isue}}'))).rejects.toThrow(
      'f:1: the template uses {{isue}}, but there is no such column. The columns are issue, file.',
    );
    await expect(jsonl('{"a": 1}', template('Fix {{}}'))).rejects.toThrow('without a name');
    await expect(jsonl('{"a": null}', template('{{a}}'))).rejects.toThrow('f:1: the template produces an empty text');
  });
});
