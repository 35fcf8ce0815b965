import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Command } from 'commander';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { stringify } from 'yaml';
import type { CommandContext, Parent } from '../../../../src/cli/command.js';
import { declareFanout } from '../../../../src/cli/fanout/options.js';
import { declareRun } from '../../../../src/cli/run/options.js';
import { applyFiles } from '../../../../src/cli/settings/apply-files.js';
import { nameInParser } from '../../../../src/cli/settings/options.js';
import { type CommandSetting, settingsOn } from '../../../../src/job-settings/fields.js';
import type { Kind } from '../../../../src/job-settings/setting.js';

let cwd = '';
beforeAll(async () => {
  cwd = await mkdtemp(join(tmpdir(), 'sandflow-settings-'));
  await mkdir(join(cwd, 'other'));
});
afterAll(() => rm(cwd, { recursive: true, force: true }));

interface Parsed {
  readonly words: readonly string[];
  readonly options: Readonly<Record<string, unknown>>;
}

async function parsed(words: readonly string[]): Promise<Parsed> {
  const program = new Command('sandflow').exitOverride();
  const found: Parsed[] = [];
  const action = (given: readonly string[], options: Readonly<Record<string, unknown>>) => {
    found.push({ words: given, options });
  };
  declareRun(program as unknown as Parent).action(action);
  declareFanout(program as unknown as Parent).action(action);
  const io = { cwd, stdin: {}, stderr: { write: () => true } };
  applyFiles(program, { io } as unknown as CommandContext);
  await program.parseAsync([...words], { from: 'user' });
  const [one] = found;
  if (!one) throw new Error('no command ran');
  return one;
}

/** A value of each kind: as an option, and as a file writes it. */
const values: Readonly<Record<Kind, readonly (readonly [option: string, inFile: unknown])[]>> = {
  choice: [],
  name: [['codex', 'codex']],
  text: [['echo hi', 'echo hi']],
  template: [['{{output}}', '{{output}}']],
  duration: [['2h', '2h']],
  ttl: [['30m', '30m']],
  budget: [['10h', '10h']],
  count: [['2', 2]],
  flag: [],
  sandbox: [['bx_2345abcd', 'bx_2345abcd']],
  prompts: [['hello', 'hello']],
  commands: [['make', ['make']]],
  files: [['a.txt:b/a.txt', 'a.txt:b/a.txt']],
  paths: [['out/a.md', ['out/a.md']]],
  folder: [['app', 'app']],
  labels: [['team=search', { team: 'search' }]],
  fields: [['{"a":1}', { a: 1 }]],
  notify: [['https://a.example/x', 'https://a.example/x']],
  escalation: [['30m: notify', '30m: notify']],
  stopAt: [],
  timing: [],
};

/** The words of the command line, and the entry of a file, that set the same. */
function written({ kind, flag, name, sets, option, values: known = [] }: CommandSetting) {
  if (kind === 'flag') return { words: [flag], entry: [name, sets === undefined] as const };
  if (sets !== undefined) return { words: [flag], entry: [name, true] as const };
  const [text, inFile] = values[kind][0] ?? [(option.values ?? known)[0] ?? '', (option.values ?? known)[0]];
  return { words: [`${flag}=${text}`], entry: [name, inFile] as const };
}

/** Each with its value on the command line, and with its value in a file. */
describe('a setting in a file is the same as its option', () => {
  it.each(['run', 'fanout'] as const)('of %s', async (command) => {
    const settings = settingsOn(command);
    await fc.assert(
      fc.asyncProperty(fc.subarray([...settings]), async (some) => {
        const all = some.map(written);
        const items = command === 'fanout' ? { items: 'items.csv' } : {};
        const file = { ...items, ...Object.fromEntries(all.map(({ entry }) => entry)) };
        await writeFile(join(cwd, 'file.yaml'), stringify(file));
        const onLine = await parsed([
          command,
          ...all.flatMap(({ words }) => words),
          ...(command === 'fanout' ? ['items.csv'] : []),
        ]);
        expect(await parsed([command, 'file.yaml'])).toEqual(onLine);
      }),
      { numRuns: 60 },
    );
  });

  it.each(['run', 'fanout'] as const)('and an option counts more, for every setting of %s', async (command) => {
    for (const setting of settingsOn(command)) {
      if (setting.kind === 'flag' || setting.sets !== undefined || setting.kind === 'labels') continue;
      const { words, entry } = written(setting);
      const items = command === 'fanout' ? { items: 'items.csv' } : {};
      await writeFile(join(cwd, 'file.yaml'), stringify({ ...items, ...Object.fromEntries([entry]) }));
      const [flag = '', ...rest] = (words[0] ?? '').split('=');
      const other = `${flag}=${setting.values?.at(-1) ?? `${rest.join('=')}9`}`;
      const attribute = nameInParser(setting);
      const got = (await parsed([command, 'file.yaml', other])).options[attribute];
      expect([attribute, got]).toEqual([attribute, (await parsed([command, other])).options[attribute]]);
    }
  });
});

describe('the file of a job', () => {
  it('names files relative to its own folder', async () => {
    const file = {
      prompt: ['@task.md', 'as text'],
      setup: '@setup.sh',
      put: ['data.csv', 'a:b'],
      get: 'out.md:out.md',
    };
    await writeFile(join(cwd, 'other/job.yaml'), stringify(file));
    const other = join(cwd, 'other');
    expect((await parsed(['run', 'other/job.yaml'])).options).toMatchObject({
      prompt: [`@${other}/task.md`, 'as text'],
      setup: `@${other}/setup.sh`,
      put: [`${other}/data.csv:data.csv`, `${other}/a:b`],
      get: ['out.md:out.md'],
    });
  });

  it('may have a blank in its name', async () => {
    await writeFile(join(cwd, 'my job.yaml'), 'prompt: hello\n');
    expect((await parsed(['run', 'my job.yaml'])).options).toMatchObject({ prompt: ['hello'] });
  });

  it('counts more than the file of the project, and joins its labels', async () => {
    await mkdir(join(cwd, '.git'), { recursive: true });
    await writeFile(join(cwd, 'sandflow.json'), '{"run":{"type":"large","model":"p","labels":{"a":"1","b":"1"}}}');
    await writeFile(join(cwd, 'job.yaml'), 'prompt: hello\ntype: small\nlabels: {b: "2", c: "2"}\n');
    const { options } = await parsed(['run', 'job.yaml', '--label', 'c=3']);
    expect(options).toMatchObject({ type: 'small', model: 'p', label: ['a=1', 'b=2', 'c=3'] });
    await rm(join(cwd, 'sandflow.json'));
  });

  it('names the files of its items relative to its own folder, and keeps their numbers as they are written', async () => {
    const items = '- {prompt: a, id: 12345678901234567890, n: 1.50, put: {in.csv: data.csv}}\n- {prompt: b, id: 007}\n';
    await writeFile(join(cwd, 'other/batch.yaml'), `items:\n${items}`);
    const first = {
      prompt: 'a',
      id: '12345678901234567890',
      n: '1.50',
      put: { 'in.csv': join(cwd, 'other/data.csv') },
    };
    expect((await parsed(['fanout', 'other/batch.yaml'])).options).toMatchObject({
      itemsInFile: { items: [first, { prompt: 'b', id: '007' }] },
    });
  });

  it.each([
    ['run', 'env: false', ['--environment', 'prod'], 'env'],
    ['run', 'environment: prod', ['--no-env'], 'environment'],
    ['run', 'sandbox: bx_2345abcd', ['--fork', 'bx_2345abcd'], 'sandbox'],
    ['run', 'sandbox: bx_2345abcd', ['--from', 'base'], 'sandbox'],
    ['run', 'setup: make', ['--sandbox', 'bx_2345abcd'], 'setup'],
    ['run', 'ttl: 30d', ['--sandbox', 'bx_2345abcd'], 'ttl'],
    ['fanout', 'items: [a]\nsetup: make', ['--source', 'bx_2345abcd'], 'setup'],
    ['fanout', 'items: [a]\nsource: bx_2345abcd\nallowStale: true', ['--snapshot', 'base'], 'allowStale'],
  ])('of %s gives way: %j to %j', async (command, text, words, gone) => {
    await writeFile(join(cwd, 'job.yaml'), `${command === 'run' ? 'prompt: hello\n' : ''}${text}\n`);
    const { options } = await parsed([command, 'job.yaml', ...words]);
    expect(options[gone]).toEqual((await parsed([command, ...words])).options[gone]);
  });

  it('counts more than the file of the project where it says false', async () => {
    await mkdir(join(cwd, '.git'), { recursive: true });
    await writeFile(join(cwd, 'sandflow.json'), '{"fanout":{"failFast":true}}');
    await writeFile(join(cwd, 'batch.yaml'), 'items: [a]\nfailFast: false\n');
    expect((await parsed(['fanout', 'batch.yaml'])).options.failFast).toBe(false);
    await rm(join(cwd, 'sandflow.json'));
  });

  it('gives way where the command line names another sandbox', async () => {
    await writeFile(join(cwd, 'job.yaml'), 'prompt: hello\nfrom: base\nend: delete\n');
    const { options } = await parsed(['run', 'job.yaml', '--sandbox', 'bx_2345abcd']);
    expect(options).not.toHaveProperty('from');
    expect(options).not.toHaveProperty('end');
  });

  it.each(['@job.yaml', 'Fix job.yaml\nand more.yaml', 'Fix the port in app.yaml'])(
    'is not meant by %j',
    async (word) => {
      expect((await parsed(['run', word])).words).toEqual([word]);
    },
  );
});
