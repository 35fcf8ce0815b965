import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { cli } from '../in-process.js';
import { temporaryDirectory } from '../temporary-directory.js';

/** A dry run reads no service if it does not check the source. */
const source = ['--source', 'bx_2345abcd', '--no-check'];
let cwd: string;
beforeEach(async () => {
  cwd = await temporaryDirectory();
  await writeFile(join(cwd, 'prompts.txt'), 'first\nsecond\n\nthird\nfourth\n');
  await writeFile(join(cwd, 'p.txt'), 'Fix {{issue}}');
  await writeFile(join(cwd, 'notes.rst'), '# Notes\n\nFix it.\n');
  await writeFile(join(cwd, 'kept.jsonl'), '"a"\n{"prompt": "b", "end": "keep"}\n');
  await writeFile(join(cwd, 'issues.csv'), 'issue,file\ncrash,a.ts\n"leak, slow",b.ts\n');
});

const fanout = (...args: string[]) => cli(['fanout', ...args], { cwd });

describe('sandflow fanout --dry-run', () => {
  it('prints the number of items and their maximum cost, and starts nothing', async () => {
    const args = ['prompts.txt', ...source, '--item-deadline', '30m', '--concurrency', '2', '--retries', '1'];
    const { exitCode, stdout, stderr } = await fanout(...args, '--type', 'large', '--dry-run', '--budget', '3h');
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    expect(stdout.split('\n')).toEqual([
      '4 items with 4 prompts, 22 bytes:',
      '  1  first',
      '  2  second',
      '  3  third',
      '  … and 1 more',
      'Up to 2 at once, each with a deadline of 30 m. Each fork is stopped and archived when its item ends.',
      '1 source; at most 8 forks, and 12 more if a machine, the service or sandflow fails.',
      'Machine time reserved at once: at most 3 h. Each fork reserves 15 m beyond its deadline for its end.',
      'Machine time in total: at most 12 h with 2 attempts each, and 18 h more for such failures.',
      'The batch cannot exceed its budget of 3 h: items that do not fit are not started.',
      'Nothing was started.',
      '',
    ]);
    const covered = await fanout(...args, '--type', 'large', '--dry-run', '--budget', '12h');
    expect(covered.stdout).toContain('The batch cannot exceed its budget of 12 h.\n');
  });

  it('takes each file as one prompt with --format file, also YAML', async () => {
    for (const name of ['a.yaml', 'b.yml']) await writeFile(join(cwd, name), 'prompts:\n  - Say hello\n');
    const { stdout } = await fanout('a.yaml', 'b.yml', ...source, '--format', 'file', '--dry-run');
    expect(stdout).toContain('2 items with 2 prompts, 46 bytes:');
  });

  it('reserves at once what the items with the longest deadlines reserve', async () => {
    const item = (deadline: string) => JSON.stringify({ prompt: 'a', deadline });
    await writeFile(join(cwd, 'mixed.jsonl'), ['5m', '45m', '15m', '105m'].map(item).join('\n'));
    const { stdout } = await fanout('mixed.jsonl', ...source, '--dry-run', '--concurrency', '2');
    expect(stdout).toContain('Machine time reserved at once: at most 3 h.');
    expect(stdout).toContain('Machine time in total: at most 3 h 50 m, and 11 h 30 m more for such failures.');
  });

  it('says how many items the budget lets run at once', async () => {
    const args = ['prompts.txt', ...source, '--item-deadline', '45m', '--dry-run', '--budget', '3h'];
    expect((await fanout(...args)).stdout).toContain('Up to 3 at once, because the budget covers no more, each with');
    expect((await fanout(...args, '--concurrency', '2')).stdout).toContain('Up to 2 at once, each with');
    expect(JSON.parse((await fanout(...args, '--json')).stdout)).toMatchObject({ atOnce: 3 });
    expect((await fanout(...args.slice(0, -1), '1h')).stdout).toContain('Up to 1 at once, because');
  });

  it('says how many sources the items need, and what their preparation takes', async () => {
    const rows = [
      { prompt: 'a', source: 'bx_2345abce' },
      { prompt: 'b', snapshot: 'base' },
      { prompt: 'c', snapshot: 'base', setup: ['make', 'make test'] },
      { prompt: 'd', environment: 'web', setup: 'make' },
      { prompt: 'e', setup: 'make', environment: 'web' },
      'f',
    ];
    await writeFile(join(cwd, 'sources.jsonl'), rows.map((row) => JSON.stringify(row)).join('\n'));
    const args = ['sources.jsonl', '--no-check', '--dry-run', '--sources-at-once', '3', '--retries', '1'];
    const preparing = ['--prepare-type', 'large', '--prepare-deadline', '15m'];
    const { stdout, stderr } = await fanout(...args, ...preparing);
    expect(stderr).toContain('Columns used as settings: source (1 item), snapshot (2 items)');
    expect(stdout).toMatch(
      /\n5 sources, at most 3 at once; at most 12 forks, and 18 more if .*\n3 sources to prepare, in at most 3 h of/,
    );
    const json = JSON.parse((await fanout(...args, ...preparing, '--json')).stdout);
    expect(json).toMatchObject({
      sources: { count: 5, prepared: 3, atOnce: 3, mostMachineSeconds: 3 * 3_600 },
      mostForks: 30,
    });
  });

  it('does not speak of a source of the batch that no item uses', async () => {
    await writeFile(join(cwd, 'own.jsonl'), '{"prompt": "a", "source": "bx_2345abce"}\n');
    const { stdout } = await fanout('own.jsonl', '--no-check', '--dry-run');
    expect(stdout).not.toContain('fresh sandbox');
    expect(stdout).toContain('\n1 source; at most 1 fork, and 3 more if ');
  });

  it('refuses an item whose setup would prepare the source of the batch', async () => {
    await writeFile(join(cwd, 'setup.jsonl'), '"a"\n{"prompt": "b", "setup": "make"}\n');
    expect(await fanout('setup.jsonl', ...source, '--dry-run')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining(
        'setup.jsonl:2: setup prepares a sandbox, but --source bx_2345abcd is forked as it is. Name a snapshot',
      ),
    });
  });

  it('takes a conversation without a source of the batch if every item names a sandbox', async () => {
    const own = { prompt: 'a', source: 'bx_2345abce' };
    await writeFile(join(cwd, 'own.jsonl'), JSON.stringify(own));
    await writeFile(join(cwd, 'one.jsonl'), `${JSON.stringify(own)}\n"b"\n`);
    const asked = (file: string) => fanout(file, '--conversation', 'c1', '--no-check', '--dry-run');
    expect(await asked('own.jsonl')).toMatchObject({ exitCode: 0 });
    expect(await asked('one.jsonl')).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('--conversation: only a sandbox as the source (--source) has a conversation'),
    });
  });

  it('refuses more sources than a batch may have', async () => {
    const rows = Array.from({ length: 1_001 }, (_, at) => `a,make ${at}`);
    await writeFile(join(cwd, 'many.csv'), ['prompt,setup', ...rows].join('\n'));
    const { exitCode, stderr } = await fanout('many.csv', '--no-check', '--dry-run');
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: expect.stringContaining('The batch is too large: its items take 1001 chunks, each of one source'),
    });
  });

  it('says even when quiet which columns are commands', async () => {
    await writeFile(join(cwd, 'data.csv'), 'title,setup,checks,model\na,make,,m\nb,make,npm test,m\n');
    const { stderr } = await fanout('data.csv', '--prompt', '{{title}}', '--no-check', '--dry-run', '--quiet');
    expect(stderr.trim()).toBe(
      'Columns used as commands that run in sandboxes: setup (2 items), checks (1 item). Rename one that is data.',
    );
  });

  it('warns of no command in records that have fields of sandflow only', async () => {
    await writeFile(join(cwd, 'strict.jsonl'), '{"prompt":"a","setup":"make","checks":["true"]}\n');
    const { stderr } = await fanout('strict.jsonl', '--no-check', '--dry-run', '--quiet');
    expect(stderr).toBe('');
  });

  it('refuses a conversation for an item of another source than a sandbox', async () => {
    await writeFile(join(cwd, 'other.jsonl'), '{"prompt": "b", "snapshot": "base"}\n');
    const { exitCode, stderr } = await fanout('other.jsonl', ...source, '--conversation', 'c1', '--dry-run');
    expect({ exitCode, stderr }).toEqual({
      exitCode: 2,
      stderr: expect.stringContaining('other.jsonl:1: source: only a sandbox as the source'),
    });
  });

  it('takes a repository address only for SWE-bench, and only with the repository in it', async () => {
    const address = (url: string, ...args: string[]) => fanout('prompts.txt', '--repository-url', url, ...args);
    expect((await address('http://x/{{repo}}')).stderr).toContain('--repository-url needs --format swe-bench');
    expect((await address('http://x', '--format', 'swe-bench')).stderr).toContain(
      'must name the repository of the row',
    );
  });

  it.each([['--command', 'make'], source.slice(0, 2)])('refuses %s beside rows of SWE-bench', async (...option) => {
    const { exitCode, stderr } = await fanout('rows.jsonl', '--format', 'swe-bench', ...option, '--dry-run');
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining(`${option[0]} cannot be used with --format swe-b`)]);
  });

  it('says that the source is a fresh sandbox if no option names one', async () => {
    const { exitCode, stdout } = await fanout('prompts.txt', '--dry-run');
    expect(exitCode).toBe(0);
    expect(stdout).toContain('The batch creates a fresh sandbox and forks it.');
  });

  it('creates prompts from columns and a matrix, and prints one JSON object', async () => {
    const args = ['issues.csv', ...source, '--prompt', 'Fix {{issue}} in {{file}}', '--model', 'a,b', '--repeat', '3'];
    const { stdout } = await fanout(...args, '--dry-run');
    expect(stdout).toContain('12 items with 12 prompts');
    expect(stdout).toContain('  1/a/1  Fix crash in a.ts\n');
    const json = JSON.parse((await fanout(...args, '--dry-run', '--json')).stdout);
    expect(json).toMatchObject({ items: 12, mostMachineSeconds: 4 * 12 * 4_500, budgetSeconds: null, error: null });
  });

  it('says which columns are settings, and which are not although settings have their names', async () => {
    const told = async (name: string, content: string, ...args: string[]) => {
      await writeFile(join(cwd, name), content);
      const { exitCode, stderr } = await fanout(name, ...source, ...args, '--dry-run');
      return [exitCode, ...stderr.split('\n').filter((line) => line !== '')];
    };
    const template = ['--prompt', '{{title}}'];
    expect(await told('evals.csv', 'title,model,end,type\na,gpt-4,keep,math\nb,,,logic\n', ...template)).toEqual([
      0,
      'Columns used as settings: model (1 item), end (1 item). Rename one that is data.',
      'Columns used as data, not as settings: type (2 items).',
    ]);
    expect(await told('gh.jsonl', '{"title":"a","labels":[{"name":"bug"}]}', ...template)).toEqual([
      0,
      'Columns used as data, not as settings: labels (1 item).',
    ]);
    expect(await told('own.jsonl', '{"prompt":"a","effort":"low"}')).toEqual([
      0,
      'Columns used as settings: effort (1 item). Rename one that is data.',
    ]);
    expect(await told('nulls.jsonl', '{"prompt":"a","model":null}')).toEqual([0]);
    const { stdout } = await fanout('evals.csv', ...source, ...template, '--dry-run', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ namedAs: { settings: { model: 1, end: 1 }, data: { type: 2 } } });
  });

  it('reads stdin, also twice', async () => {
    const args = ['fanout', '-', '--format', 'jsonl', ...source, '--dry-run'];
    const { stdout } = await cli(args, { cwd, stdin: '"one"\n{"prompt": "two"}\n' });
    expect(stdout).toContain('2 items with 2 prompts, 6 bytes');
  });
});

describe('sandflow fanout refuses before it starts anything:', () => {
  it.each([
    [[...source], 'Pass a file of prompts, or - for stdin: sandflow fanout prompts.txt'],
    [['gone.txt', ...source], 'The items file gone.txt does not exist'],
    [['reprot', 'b1'], 'The items file reprot does not exist. Did you mean sandflow fanout report?'],
    [['.', ...source], '. is not a file'],
    [['-', '-', ...source], 'Stdin (-) can be given only once'],
    [['-', ...source], 'The input contains no items'],
    [['prompts.txt', ...source, '--id', 'Bad_Id'], '--id: the batch id "Bad_Id" must be lower-case'],
    [['prompts.txt', ...source, '--put', 'gone:x'], '--put: gone cannot be read'],
    [['prompts.txt', ...source, '--notify', 'me'], '--notify must be a URL'],
    [['prompts.txt', ...source, '--watch-deadline', 'soon'], '--watch-deadline: "soon" is not a duration'],
    [['issues.csv', ...source], 'issues.csv:1: the column prompt is missing; the columns are issue, file.'],
    [['issues.csv', ...source, '--prompt', 'Fix {{isue}}'], 'issues.csv:2: the template uses {{isue}}'],
    [['kept.jsonl', ...source, '--budget', '1h'], 'kept.jsonl:2: end: must be stop or delete if there is a budget'],
    [['issues.csv', ...source, '--format', 'jsonl'], 'issues.csv:1:1: invalid JSON'],
    [
      ['prompts.txt', ...source, '--budget', '30m'],
      '--budget 30 m covers no item: each reserves at least 1 h 15 m, its deadline and its clean-up.',
    ],
    [
      ['issues.csv', ...source, '--prompt', 'p.txt'],
      '--prompt: p.txt is a file. For its content, use --prompt @p.txt.',
    ],
    [
      ['issues.csv', ...source, '--prompt', 'Fix it'],
      'issues.csv:2: the template uses no column, so every item would have the same prompt. Name one: {{issue}}. The columns are issue, file.',
    ],
    [['prompts.txt', ...source, '--prompt', 'Fix it'], 'prompts.txt:1: the template uses no column'],
    [['notes.rst', ...source], 'notes.rst could be one prompt or many. For one prompt use --format file, for a prompt'],
    [
      ['Say hello', 'Say bye', ...source],
      'The items file Say hello does not exist. Items come from a file or stdin, one',
    ],
    [
      ['prompts.txt', ...source, '--get', 'a.txt:../b.txt'],
      '--get: ../b.txt leads out of the folder of the item. Use a relative path',
    ],
    [['prompts.txt', ...source, '--first', '9'], '--first 9: there are only 4 items. Use at most --first 4.'],
    [['prompts.txt', ...source, '--end', 'burn'], 'Allowed choices are stop, delete, keep'],
    [['resume', 'one', '--first', 'x'], '--first must be a whole number'],
    [['show', 'Bad_Id'], 'The batch id "Bad_Id" must be lower-case'],
    [['list', '--limit', '0'], '--limit must be a whole number'],
    [['show'], "Missing required argument 'batch'"],
  ])('%j', async (args, message) => {
    const { exitCode, stdout, stderr } = await fanout(...args);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain(message);
  });
});

describe('the help of fanout', () => {
  it('has its commands, examples and exit codes', async () => {
    const { exitCode, stdout } = await fanout('--help');
    expect(exitCode).toBe(0);
    for (const word of ['resume', 'cancel', 'results', 'report', 'Examples:', '130', '--dry-run']) {
      expect(stdout).toContain(word);
    }
  });

  it('leaves options after a command to that command', async () => {
    const { stdout } = await fanout('resume', '--help');
    expect(stdout).toContain('--no-retry-failed');
  });
});
