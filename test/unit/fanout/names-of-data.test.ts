/** Records of others, whose fields have names of settings or braces. In the gate; costs a second. */
import { describe, expect, it } from 'vitest';
import { prompts, type Reading, read } from './read.js';

const templates = ['{{title}}'];
const jsonl = (records: readonly object[], reading: Reading = {}) =>
  read(records.map((record) => `${JSON.stringify(record)}\n`).join(''), { ...reading, format: 'jsonl' });

/** What exports of other tools have under the names of fields. */
const others: readonly (readonly [name: string, value: unknown])[] = [
  ['labels', [{ name: 'bug', color: 'red' }]],
  ['labels', ['bug', 'p1']],
  ['labels', 'bug, p1'],
  ['labels', { nodes: [{ name: 'bug' }] }],
  ['type', 'math'],
  ['type', { name: 'Story' }],
  ['type', false],
  ['model', { name: 'gpt-4', temperature: 0 }],
  ['model', ['a', 'b']],
  ['model', 'x'.repeat(201)],
  ['provider', [{ id: 'openai:gpt-4' }]],
  ['effort', 3],
  ['effort', 'L'],
  ['end', 12],
  ['end', '2026-12-01T10:00:00Z'],
  ['end', true],
  ['deadline', '2026-12-01'],
  ['deadline', { date: '2026-12-01' }],
  ['deadline', 1_764_547_200],
  ['put', 'call'],
  ['put', ['a.txt']],
  ['get', { url: '/x' }],
  ['getDiff', true],
  ['id', { $oid: '65f0' }],
  ['id', ['a', 'b']],
];

describe('a field that cannot be the setting of its name is data of a template', () => {
  it.each(others)('%s: %j', async (name, value) => {
    const [item] = await jsonl([{ title: 'Say a', [name]: value }], { templates });
    const written = typeof value === 'string' ? value : JSON.stringify(value);
    expect(item).toEqual({
      id: '1',
      prompts: [{ prompt: 'Say a' }],
      put: [],
      labels: { title: 'Say a', [name]: written.length > 120 ? `${written.slice(0, 119)}…` : written },
      ...(written.length > 120 && { columns: { [name]: written } }),
      namedAs: { settings: [], data: [name], commands: [] },
      place: { file: 'f', line: 1 },
    });
    expect(
      await prompts(JSON.stringify([{ [name]: value }]), { format: 'json', templates: [`Do {{${name}}}`] }),
    ).toEqual([`Do ${written}`]);
  });

  it.each([{}, [], ' '])('%j is absent, also beside values that are data or settings', async (nothing) => {
    const records = [
      { title: 'a', labels: nothing },
      { title: 'b', labels: [{ name: 'bug' }] },
      { title: 'c', model: nothing },
    ];
    expect((await jsonl(records, { templates })).map((item) => item.namedAs?.data)).toEqual([[], ['labels'], []]);
  });

  it.each([
    ['type', 'bug'],
    ['labels', 'bug; p1'],
    ['put', 'call'],
    ['effort', '3'],
    ['end', '12'],
    ['deadline', '2026-12-01'],
  ])('in CSV, too: %s %s', async (name, cell) => {
    const [item] = await read(`title,${name}\nSay a,${cell}\n`, { format: 'csv', templates });
    expect(item).toMatchObject({ prompts: [{ prompt: 'Say a' }], put: [], labels: { [name]: cell } });
    expect(item).toMatchObject({ namedAs: { settings: [], data: [name] } });
  });

  it.each(others)('without a template it is refused with the way out: %s %j', async (name, value) => {
    await expect(jsonl([{ prompt: 'Say a', [name]: value }])).rejects.toThrow(
      `If ${name} is data, use --prompt "{{prompt}}".`,
    );
    expect(
      await prompts(JSON.stringify({ prompt: 'Say a', [name]: value }), { format: 'jsonl', templates: ['{{prompt}}'] }),
    ).toEqual(['Say a']);
  });

  it.each([
    ['type', 'large', 'math'],
    ['type', 'math', 'large'],
    ['deadline', '30m', '30'],
    ['effort', 'high', 'hihg'],
    ['labels', { team: 'web' }, ['web']],
    ['model', 'm1', { name: 'm1' }],
    ['id', 'a', ['b']],
  ])('but a file in which %s is both is refused: %j, %j', async (name, first, second) => {
    const isFirst = typeof first === 'object' || !['math'].includes(first);
    await expect(
      jsonl(
        [first, second].map((value) => ({ title: 'a', [name]: value })),
        { templates },
      ),
    ).rejects.toThrow(
      new RegExp(
        `^f:${isFirst ? 2 : 1}: .*${name}.*[^.]\\. Mend it, or rename ${name} if it is data: f:${isFirst ? 1 : 2} sets it\\.$`,
      ),
    );
  });
});

it('an empty list of commands is a setting, also of a record for a template', async () => {
  const [item] = await jsonl([{ title: 'a', checks: [], setup: [] }], { templates });
  expect(item).toMatchObject({ checks: [], namedAs: { settings: ['checks'], data: [] } });
  const mixed = jsonl(
    [[], [{ name: 'ci' }]].map((checks) => ({ title: 'a', checks })),
    { templates },
  );
  await expect(mixed).rejects.toThrow('Mend it, or rename checks if it is data: f:1 sets it.');
});

describe('null is absent', () => {
  const names = ['id', 'provider', 'model', 'effort', 'put', 'get', 'getDiff', 'type', 'end', 'deadline', 'labels'];

  it.each([...names, 'prompts'])('as %s', async (name) => {
    expect(await jsonl([{ prompt: 'a', [name]: null }])).toMatchObject(await jsonl([{ prompt: 'a' }]));
    const [item] = await jsonl(
      [
        { title: 'a', [name]: null },
        { title: 'b', [name]: null },
      ],
      { templates },
    );
    expect(item).toMatchObject({ id: '1', prompts: [{ prompt: 'a' }], put: [], labels: { title: 'a' } });
    expect(item).toMatchObject({ namedAs: { settings: [], data: [] } });
  });

  it('within a step, labels and files', async () => {
    const steps = [{ prompt: 'a', model: null, effort: null }];
    expect(await jsonl([{ prompts: steps, labels: { team: null, a: 'b' }, put: { x: null } }])).toMatchObject([
      { prompts: [{ prompt: 'a' }], labels: { a: 'b' }, put: [] },
    ]);
  });

  it('as prompt, and in a template', async () => {
    await expect(jsonl([{ prompt: null }])).rejects.toThrow('the item has no prompt');
    expect(await prompts('{"title":"a","body":null}', { format: 'jsonl', templates: ['{{title}}{{body}}.'] })).toEqual([
      'a.',
    ]);
    await expect(jsonl([{ prompts: ['a', null] }])).rejects.toThrow('prompts.1');
  });

  it('beside records that have the setting', async () => {
    const records = [
      { title: 'a', model: 'm' },
      { title: 'b', model: null },
      { title: 'c', model: '' },
    ];
    const steps = (await jsonl(records, { templates })).map((item) => item.prompts[0]);
    expect(steps).toEqual([{ prompt: 'a', model: 'm' }, { prompt: 'b' }, { prompt: 'c' }]);
  });
});

describe('braces in the prompt of a record', () => {
  it('are refused in each of several prompts', async () => {
    const record = { id: 'y', prompts: ['Say a', 'Use {{id}}'] };
    await expect(jsonl([record])).rejects.toThrow('the prompt has {{id}}, but only --prompt is filled');
  });

  const csv = (cell: string) => `topic,a b,prompt\nbridges,x,${cell}\n`;

  it.each([
    'Write about {{topic}}',
    'Write about {{ topic }}',
    '{{{topic}}}',
    '\x24{{topic}}',
    '{{x}} {{topic}}',
    '\\{{topic}}',
    '{{a b}}',
    '{{\ttopic\u00a0}}',
  ])('that name a column of it are refused with the ways out: %s', async (cell) => {
    await expect(read(csv(cell), { format: 'csv' })).rejects.toThrow(
      /^f:2: the prompt has \{\{(topic|a b)\}\}, but only --prompt is filled from columns\. .*--prompt "\{\{prompt\}\}"/,
    );
    expect(await prompts(csv(cell), { format: 'csv', templates: ['{{prompt}}'] })).toEqual([cell]);
  });

  it.each([
    '{{other}}',
    '{{Topic}}',
    '{topic}',
    '{{#each topic}}',
    '{{{{topic}}}}',
    '\x24{{ secrets.X }}',
    '{{}}',
    '{{prompt}}',
    '{{topic',
    '{ {topic} }',
  ])('that name none are sent as they are: %s', async (cell) => {
    expect(await prompts(csv(cell), { format: 'csv' })).toEqual([cell]);
  });

  it('are refused in JSON, too, and kept in a line of text', async () => {
    await expect(jsonl([{ id: 'a', prompt: 'Mend {{id}}' }])).rejects.toThrow('the prompt has {{id}}');
    expect(await prompts('Mend {{prompt}} {{id}}')).toEqual(['Mend {{prompt}} {{id}}']);
    expect(await prompts('"Mend {{id}}"', { format: 'jsonl' })).toEqual(['Mend {{id}}']);
  });
});

describe('braces in a template', () => {
  const row = 'topic,code\nbridges,{{topic}} {{{{x}}}}\n';
  const filled = (template: string) => prompts(row, { format: 'csv', templates: [template] });

  it.each([
    ['\x24{{{{ secrets.X }}}} {{topic}}', '\x24{{ secrets.X }} bridges'],
    ['{{{{topic}}}} {{topic}}', '{{topic}} bridges'],
    ['{{{{}}}} {{topic}}', '{{}} bridges'],
    ['{{{{#each x}}}}{{topic}}{{{{/each}}}}', '{{#each x}}bridges{{/each}}'],
    ['{{{{{topic}}}}} {{topic}}', '{{{topic}}} bridges'],
    ['{{{topic}}}', '{bridges}'],
    ['\\section{{{topic}}}', '\\section{bridges}'],
    ['C:\\{{topic}}', 'C:\\bridges'],
    ['{"a":{"b":{"c":{{topic}}}}}', '{"a":{"b":{"c":bridges}}}'],
    ['{{code}}', '{{topic}} {{{{x}}}}'],
    ['{{topic}} {{ {topic} }}', 'bridges {{ {topic} }}'],
    ['{{{{a\nb}}}} {{topic}}', '{{a\nb}} bridges'],
    ['{topic} {{topic}', '{topic} {{topic}'],
  ])('%s', async (template, prompt) => {
    const isFixed = !/\{\{(topic|code)\}\}/.test(template);
    if (isFixed) await expect(filled(template)).rejects.toThrow('the template uses no column');
    else expect(await filled(template)).toEqual([prompt]);
  });

  it.each(['\x24{{ secrets.X }}', '\\{{x}}', '{{#each topic}}', '{{topic | upper}}'])(
    'that name no column are refused with the way to keep them: %s',
    async (template) => {
      const [, name = ''] = /\{\{(.*)\}\}/.exec(template) ?? [];
      await expect(filled(template)).rejects.toThrow(`For the braces, write {{{{${name.trim()}}}}}.`);
    },
  );
});

describe('a template that names no column', () => {
  const fixed = ['Fix it'];

  it.each([
    ['title,note\na,x\nb,y\n', 'f:2: the template uses no column, so every item'],
    ['title,model\na,m1\nb,m1\n', 'f:3: the template uses no column, so this item and that of line 2'],
    ['title,model\na,m1\nb,m2\nc,m1\n', 'f:4: the template uses no column, so this item and that of line 2'],
    ['title,end\na,keep\nb,keep\n', 'f:2: the template uses no column, so every item'],
    ['title,type\na,bug\nb,story\n', 'f:2: the template uses no column, so every item'],
    ['title,labels\na,x\nb,y\n', 'f:2: the template uses no column, so every item'],
    ['id,title\n1,x\n2,y\n', 'f:2: the template uses no column, so every item'],
    ['title,put\na,a:b\nb,a:b\n', 'f:3: the template uses no column, so this item'],
    ['title,get\na,a\nb,a\n', 'f:3: the template uses no column, so this item'],
    ['title,deadline\na,5m\nb,5m\n', 'f:3: the template uses no column, so this item'],
  ])('is refused where items would do the same: %j', async (content, message) => {
    await expect(read(content, { format: 'csv', templates: fixed })).rejects.toThrow(message);
  });

  it('is taken where settings make the difference', async () => {
    const content = 'title,model,put\na,m1,a:x\nb,m2,a:x\nc,m2,b:x\n';
    expect(await prompts(content, { format: 'csv', templates: fixed })).toEqual(['Fix it', 'Fix it', 'Fix it']);
  });
});
