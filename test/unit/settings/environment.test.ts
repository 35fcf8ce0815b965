/** What each variable that the program knows makes of texts that nobody means. Tier: unit. */
import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { resolve } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { readConfig, settingVariables } from '../../../src/config.js';
import { homeFolder } from '../../../src/os/home-folder.js';
import { knownVariables, readEnvironment } from '../../../src/settings/environment.js';

const goodOfKind = {
  folder: '/a/b',
  number: '5',
  path: '/a/b',
  place: '/a/b',
  secret: 'secret',
  store: '/a/b',
  switch: 'true',
  text: 'default',
};
const goodOf: Readonly<Record<string, string>> = {
  SANDBOX_API_URL: 'https://api.example.com/v1',
  SANDBOX_WEBHOOK_SECRET: 'whsec_abc',
  SANDFLOW_TEMPORAL_UI: 'https://ui.example.com',
  TEMPORAL_ADDRESS: 'temporal.example.com:7233',
};
const known = [...knownVariables].map(([name, kind]) => [name, kind, goodOf[name] ?? goodOfKind[kind]] as const);
const ofKinds = (...kinds: string[]) => known.filter(([, kind]) => kinds.includes(kind));
const paths = ofKinds('folder', 'path', 'place', 'store');
const plain = known.filter(([, kind]) => kind !== 'secret');
const trimmed = known.filter((row) => !paths.includes(row));

const refused = (env: Record<string, string>) => {
  const [name = ''] = Object.keys(env);
  const message = expect.stringMatching(new RegExp(`^${name} `));
  expect(() => readConfig(env), JSON.stringify(env)).toThrow(
    expect.objectContaining({ code: 'bad_configuration', message }),
  );
};

describe('every variable', () => {
  it.each(known)('is unset if it is empty or blank: %s', (name) => {
    const settings = (value?: string) => ({ ...readConfig({ HOME: '/home/nobody', [name]: value }) });
    for (const value of ['', ' ', '\t\r\n']) expect(settings(value)).toEqual(settings());
  });

  it.each(known)(
    'is refused by its name with quotation marks, its own name or an unexpanded variable: %s',
    (...row) => {
      const [name, , good] = row;
      const texts = [`"${good}"`, `'${good}'`, `\`${good}\``, `"${good}`, ` "${good}"\r`, `\${${name}}`];
      for (const text of [...texts, `${name}=${good}`, `export ${name}=${good}`, `export ${good}`])
        refused({ [name]: text });
    },
  );

  it.each(plain)('is refused by its name with a comment, a line end within or $HOME: %s', (name, _, good) => {
    for (const text of [`${good} # mine`, '# mine', ' #mine', '#', `a\n${good}`, '$HOME/x', '$(pwd)'])
      refused({ [name]: text });
  });

  it.each(trimmed)('is taken without the line end and the blanks around it: %s', (name, _, good) => {
    for (const text of [`${good}\r`, ` ${good}\n`]) expect(readEnvironment({ [name]: text })).toEqual({ [name]: good });
  });

  it.each(paths)('that names a path is refused by its name with ~, file:, blanks around or in Latin-1: %s', (name) => {
    for (const text of ['~', '~/x', '~other/x', 'file:///x', '/x\r', '/x ', ' /x', '/caf\ufffd'])
      refused({ [name]: text });
  });

  it.each(ofKinds('folder'))('of all programs must be a whole path: %s', (name) => {
    for (const text of ['rel', './x', '.', '..']) refused({ [name]: text });
  });

  it.each(ofKinds('place', 'store'))(
    'that names what is written is below the current folder only as ./ or ../: %s',
    (name) => {
      for (const text of ['rel', 'a/b', '.sandflow', '.', '..', '#', 'undefined']) refused({ [name]: text });
      for (const text of ['./a', '../a', './.sandflow/']) {
        expect(readEnvironment({ [name]: text })).toEqual({ [name]: resolve(text) });
      }
    },
  );

  it.each(ofKinds('path'))('that names what is read may be relative: %s', (name) => {
    for (const text of ['a', './a', 'a/../b'])
      expect(readEnvironment({ [name]: text })).toEqual({ [name]: resolve(text) });
  });

  it.each(ofKinds('path', 'place', 'store'))(
    'in a current folder whose name cannot be passed on is refused: %s',
    (name) => {
      const cwd = vi.spyOn(process, 'cwd').mockReturnValue('/x\ny');
      onTestFinished(() => cwd.mockRestore());
      refused({ [name]: './a' });
    },
  );

  it.each(known)('is found if its name has `export` or blanks: %s', (name, _, good) => {
    for (const wrong of [`export ${name}`, `${name} `, ` ${name}`, `\ufeff${name}`])
      expect(() => readConfig({ [wrong]: good }), wrong).toThrow(`${name} is set under the name `);
  });

  it('that the settings come from is known', () => {
    const sources = ['src/config.ts', 'src/temporal-config.ts'].map((file) => readFileSync(file, 'utf8'));
    const read = [...sources.join('').matchAll(/\benv\.([A-Z_]+)/g)].map(([, name = '']) => name);
    expect(read.length).toBeGreaterThan(20);
    expect(read.filter((name) => !knownVariables.has(name))).toEqual([]);
    expect(settingVariables).toContain('TEMPORAL_TLS_SERVER_NAME');
    expect(settingVariables).not.toContain('HOME');
  });

  it.each(ofKinds('text'))('that is a word is refused by its name with a comment: %s', (name, _, good) => {
    for (const text of [`${good} #mine`, `${good}\t#`]) refused({ [name]: text });
  });

  it('of another program is left as it is', () => {
    const env = { PATH: '"/x"', EMPTY: '', 'BASH_FUNC_a%%': '() { :; }', PS1: '$ ', TEMPORAL_GRPC_META_X: '' };
    expect(readEnvironment(env)).toEqual(env);
  });
});

it('no value is quoted in a refusal', () => {
  for (const [name] of known) {
    for (const value of ['"canary"', 'export canary', '~canary', '$canary # x', 'canary \ufffd \n']) {
      try {
        readEnvironment({ [name]: value });
      } catch (error) {
        expect((error as Error).message).not.toContain('canary');
      }
    }
  }
});

it.each(['/x/it"s', "/x/it's", '/x/#1', '/x/a #1', '/x/$a', '/x/50%', '/x/a?b=c', '/x/東京 ü', './~', './"x"', './#x'])(
  'a path may be %s',
  (path) => expect(readEnvironment({ SANDFLOW_HOME: path })).toEqual({ SANDFLOW_HOME: resolve(path) }),
);

it('an empty or relative HOME of the process itself is replaced by the home of the account', () => {
  for (const HOME of ['', 'relative', '~']) {
    vi.stubEnv('HOME', HOME);
    expect(homeFolder()).toBe(userInfo().homedir);
  }
  vi.unstubAllEnvs();
});

it('a store may be in a bucket, below a prefix of its deployment, and a mistaken address is refused', () => {
  const read = (SANDFLOW_RESULTS: string) => readConfig({ SANDFLOW_RESULTS, SANDFLOW_DEPLOYMENT: 'blue' }).results;
  expect(read('s3://my-bucket')).toBe('s3://my-bucket/blue/results');
  expect(read(' s3://my-bucket/a/b/\r\n')).toBe('s3://my-bucket/a/b/blue/results');
  for (const value of [
    's3://',
    's3:///a',
    's3://B/a',
    's3://my-bucket/a b',
    's3://my-bucket/a#b',
    's3://k:s@my-bucket/a',
  ])
    refused({ SANDFLOW_RESULTS: value });
});
