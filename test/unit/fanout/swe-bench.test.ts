import { describe, expect, it } from 'vitest';
import { type Reading, read } from './read.js';

const row = {
  instance_id: 'astropy__astropy-12907',
  repo: 'astropy/astropy',
  base_commit: 'd16bfe05a744909de4b27f5875fe0d4ed41ce607',
  problem_statement: 'Nested models compute the {{version}} wrongly.\n',
  version: 4.3,
  environment_setup_commit: '298ccb478e6bf092953bca67a3d29dc6c35f6752',
  hints_text: '',
  image: 'swebench/astropy',
  FAIL_TO_PASS: '["test_a"]',
  PASS_TO_PASS: '["test_b"]',
  patch: 'the solution',
  test_patch: 'the tests',
};
const rows = (records: readonly object[], reading: Reading = {}) =>
  read(records.map((record) => JSON.stringify(record)).join('\n'), { ...reading, format: 'swe-bench' });

describe('rows of SWE-bench', () => {
  it('are items with the problem as the prompt, in a clone of the repository at its commit', async () => {
    const [item] = await rows([row]);
    expect(item).toMatchObject({
      id: 'astropy__astropy-12907',
      prompts: [{ prompt: row.problem_statement }],
      labels: { repo: row.repo, base_commit: row.base_commit, version: '4.3' },
      source: {
        setup: [`git clone -q https://github.com/astropy/astropy app && git -C app checkout -q ${row.base_commit}`],
      },
      place: { file: 'f', line: 1 },
    });
    expect(item?.columns).toMatchObject({ FAIL_TO_PASS: '["test_a"]', hints_text: '' });
  });

  it('show the solution and its tests nowhere', async () => {
    const templates = ['{{problem_statement}} of {{repo}}'];
    for (const items of [await rows([row]), await rows([row], { templates })]) {
      expect(JSON.stringify(items)).not.toMatch(/the solution|the tests/);
    }
    await expect(rows([row], { templates: ['{{patch}}'] })).rejects.toThrow('there is no such column');
  });

  it('keep columns that have names of settings for a later template', async () => {
    const named = { environment: 'py39', model: 'gold', end: 'x', prompt: 'own', labels: 'bug' };
    const [item] = await rows([{ ...row, ...named }]);
    expect(item?.columns).toMatchObject(named);
    expect(item).not.toHaveProperty('end');
  });

  it('fill a template, and may come from another address', async () => {
    const [item] = await rows([row], {
      templates: ['{{problem_statement}}Hints: {{hints_text}}'],
      repositoryUrl: "http://127.0.0.1:3000/o'hara/{{repo}}.git?{{version}}",
    });
    expect(item?.prompts).toEqual([{ prompt: `${row.problem_statement}Hints: ` }]);
    expect(item?.source?.setup?.[0]).toContain(
      "git clone -q 'http://127.0.0.1:3000/o'\\''hara/astropy/astropy.git?4.3' app &&",
    );
    await expect(rows([row], { repositoryUrl: 'http://x/{{name}}' })).rejects.toThrow(
      'f:1: --repository-url: the template uses {{name}}, but there is no such column',
    );
    await expect(rows([row], { repositoryUrl: '-u{{repo}}' })).rejects.toThrow(
      'f:1: --repository-url: an address cannot begin with -.',
    );
  });

  it('share a source if repository and commit are the same', async () => {
    const other = { ...row, instance_id: 'b' };
    const [one, two, three] = await rows([row, other, { ...other, instance_id: 'c', base_commit: 'abcdef0' }]);
    expect(two?.source).toEqual(one?.source);
    expect(three?.source).not.toEqual(one?.source);
  });

  it.each([
    [{ repo: undefined }, 'f:2: repo: '],
    [{ repo: 'a/b; rm -rf /' }, 'f:2: repo: must be OWNER/NAME'],
    [{ base_commit: '$(x)' }, 'f:2: base_commit: must be the hash of a commit'],
    [{ problem_statement: ' ' }, 'f:2: problem_statement: must not be empty'],
    [{ instance_id: 7 }, 'is already used'],
  ])('%j is refused', async (fields, message) => {
    await expect(
      rows([
        { ...row, instance_id: '7' },
        { ...row, ...fields },
      ]),
    ).rejects.toThrow(message);
  });

  it('is no list and no text', async () => {
    await expect(read('"a"', { format: 'swe-bench' })).rejects.toThrow('A row of SWE-bench has instance_id, repo,');
    await expect(read('[{}]', { format: 'swe-bench' })).rejects.toThrow('f:1: an item must be a string or an object');
    await expect(read('{"a":', { format: 'swe-bench' })).rejects.toThrow('f:1:6: invalid JSON');
  });
});
