import { execFileSync } from 'node:child_process';
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { findProjectFile } from '../../../../src/cli/config/project-file.js';
import { readLocalConfig } from '../../../../src/cli/serve/local-config.js';
import { readConfig } from '../../../../src/config.js';
import { cli } from '../in-process.js';
import { temporaryDirectory } from '../temporary-directory.js';

let home: string;
let cwd: string;
beforeEach(async () => {
  home = await temporaryDirectory();
  cwd = await temporaryDirectory();
});

const project = (settings: unknown) =>
  writeFile(join(cwd, 'sandflow.json'), typeof settings === 'string' ? settings : JSON.stringify(settings, null, 2));
const user = (settings: unknown) =>
  writeFile(join(home, 'config.json'), JSON.stringify(settings, null, 2), { mode: 0o600 });
const run = (args: readonly string[], env: Record<string, string> = {}) =>
  cli(args, { cwd, env: { SANDFLOW_HOME: home, ...env } });
const setting = async (name: string, args: readonly string[] = [], env: Record<string, string> = {}) => {
  const { stdout, stderr } = await run(['config', '--json', ...args], env);
  const { settings } = JSON.parse(stdout) as { settings: { name: string; value: string | null; from: string }[] };
  const found = settings.find((one) => one.name === name);
  return { value: found?.value, from: found?.from, stderr };
};

it('a file of settings, of the user or of a project, may begin with a byte order mark', async () => {
  await project('\uFEFF{"run": {"model": "opus"}}');
  await writeFile(join(home, 'config.json'), '\uFEFF{"profiles": {}}', { mode: 0o600 });
  expect((await run(['config'])).stderr).toBe('');
  expect(
    await readLocalConfig({ path: join(home, 'config.json'), optional: false }).catch(({ message }) => message),
  ).toContain('profiles: ');
});

describe('a project file', () => {
  it.each([
    [{ apiKey: 'key_secret' }, ':2: apiKey: this file must not contain a secret'],
    [{ run: { SANDBOX_API_KEY: 'key_secret' } }, 'run.SANDBOX_API_KEY: this file must not contain a secret'],
    [{ profiles: { a: { webhookSecret: 'key_secret' } } }, 'this file must not contain a secret'],
    [{ apiUrl: 'https://evil.example/v1' }, ':2: apiUrl: a project may not choose a connection'],
    [{ profiles: { a: { connection: {} } } }, 'a project may not choose a connection'],
    [{ run: { temporalAddress: 'evil:7233' } }, 'a project may not choose a connection'],
    [{ run: { notify: 'command:rm -rf /' } }, ':3: run.notify: a project may not set this'],
    [{ run: { environment: 'production' } }, 'run.environment: a project may not set this'],
    [{ fanout: { onUnknown: 'resend' } }, 'fanout.onUnknown: a project may not set this'],
    [{ run: { put: ['/home/me/.ssh:x'] } }, 'run.put: unknown field'],
    [{ run: { get: ['x:../../.bashrc'] } }, 'run.get: unknown field'],
    [{ run: { setup: '@/etc/passwd' } }, 'run.setup: unknown field'],
    [{ fanout: { command: ['curl evil'] } }, 'fanout.command: unknown field'],
    [{ run: { sandbox: 'bx_2345abcd' } }, 'run.sandbox: unknown field'],
    [{ profile: 'work' }, 'profile: unknown field'],
    ['{"__proto__": {"run": {}}}', '__proto__: is not allowed as a name'],
    [{ run: { ttl: 'none' } }, 'run.ttl: must be a duration'],
    [{ run: { type: 'huge' } }, 'run.type: must be small, default, large or xlarge, not "huge"'],
    [{ run: { deadline: 'soon' } }, 'run.deadline: must be a duration'],
    ['{"run": ', 'this is not JSON'],
    ['root:x:0:0:key_secret', 'this is not JSON'],
  ])('with %j is refused', async (settings, message) => {
    await project(settings);
    const { exitCode, stdout, stderr } = await run(['run', 'hello']);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain(join(cwd, 'sandflow.json'));
    expect(stderr).toContain(message);
    expect(stderr).not.toContain('key_secret');
  });

  it.each([
    ['objects', '{"a":', '}', 10_000],
    ['lists', '[', ']', 10_000],
  ])('of thousands of nested %s is refused like any other that is wrong', async (_what, begin, end, depth) => {
    await project(`${begin.repeat(depth)}1${end.repeat(depth)}`);
    const { exitCode, stderr } = await run(['run', 'hello']);
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringMatching(/sandflow\.json(?::1: a)?: /) });
  });

  it('of others is refused', async () => {
    await project({ run: { type: 'large' } });
    await chmod(join(cwd, 'sandflow.json'), 0o666);
    expect((await run(['run', 'x'])).stderr).toContain('is not used: others may write to it');
  });

  it('must not be a pipe, and the command waits for none', async () => {
    execFileSync('mkfifo', [join(cwd, 'sandflow.json')], { cwd });
    expect((await run(['run', 'x'])).stderr).toContain('is not used: it is not a regular file');
  });

  it('must not be a link', async () => {
    await symlink('/etc/passwd', join(cwd, 'sandflow.json'));
    expect((await run(['run', 'x'])).stderr).toContain('is not used: it is a link');
  });

  it('is looked for up to the root of the repository or the home, and nowhere else', async () => {
    const inner = join(cwd, 'a', 'b');
    await mkdir(inner, { recursive: true });
    await project({});
    expect(await findProjectFile(inner, '/nowhere')).toBeUndefined();
    expect((await findProjectFile(inner, cwd))?.path).toBe(join(cwd, 'sandflow.json'));
    await mkdir(join(cwd, 'a', '.git'));
    expect(await findProjectFile(inner, cwd)).toBeUndefined();
    await writeFile(join(inner, '.sandflow.json'), '{}');
    expect((await findProjectFile(inner, cwd))?.path).toBe(join(inner, '.sandflow.json'));
    await writeFile(join(inner, 'sandflow.json'), '{}');
    await expect(findProjectFile(inner, cwd)).rejects.toThrow('both exist');
  });

  it('gives options to a batch, and says so', async () => {
    await project({ fanout: { concurrency: 7, deadline: '2h' } });
    await writeFile(join(cwd, 'prompts.txt'), 'one\ntwo\n');
    const { stdout, stderr } = await run(['fanout', 'prompts.txt', '--dry-run', '--deadline', '3h', '--json']);
    expect(JSON.parse(stdout).policy).toMatchObject({ concurrency: 7, deadlineMs: 3 * 3_600_000 });
    expect(stderr).toContain(`Defaults: concurrency 7 (${join(cwd, 'sandflow.json')})`);
  });

  it('that is wrong stops no command that does not use it', async () => {
    await project('no');
    await user({ profiles: { work: {} } });
    expect(await run(['status', '--profile', 'work'])).toMatchObject({ exitCode: 0 });
  });
});

describe('a profile', () => {
  const connection = { apiUrl: 'https://work.example/v1', apiKeyFile: '/home/me/key', deployment: 'work' };
  const profiles = { work: { connection, run: { model: 'm1' } }, other: { connection: { deployment: 'other' } } };

  it('is chosen by --profile, then SANDFLOW_PROFILE, then the file; none chooses none', async () => {
    await user({ profile: 'other', profiles });
    const work = { SANDFLOW_PROFILE: 'work' };
    expect(await setting('deployment')).toMatchObject({ value: 'other', from: 'profile other' });
    expect(await setting('deployment', [], work)).toMatchObject({ value: 'work', from: 'profile work' });
    expect(await setting('deployment', ['--profile', 'other'], work)).toMatchObject({ value: 'other' });
    expect(await setting('deployment', ['--profile', 'none'], work)).toMatchObject({ from: 'built-in' });
  });

  it('is weaker than the environment, which is said', async () => {
    await user({ profiles });
    const env = { SANDFLOW_DEPLOYMENT: 'mine' };
    const found = await setting('deployment', ['--profile', 'work'], env);
    expect(found).toMatchObject({ value: 'mine', from: 'environment SANDFLOW_DEPLOYMENT' });
    expect(found.stderr).toBe('The environment sets deployment, not the profile work.\n');
  });

  it('is stronger than the project, whose profile of that name comes in between', async () => {
    await user({ profiles });
    await project({
      run: { model: 'p', type: 'small' },
      profiles: { work: { run: { type: 'large', effort: 'low' } } },
    });
    const from = async (name: string) => (await setting(name, ['--profile', 'work'])).from;
    expect(await from('run.model')).toBe('profile work');
    expect(await from('run.type')).toBe(`profile work of ${join(cwd, 'sandflow.json')}`);
    expect((await setting('run.type')).value).toBe('small');
  });

  it('that nobody has is refused with the known ones', async () => {
    await user({ profiles });
    const { exitCode, stderr } = await run(['jobs', 'list', '--profile', 'wrok']);
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining('There are work, other') });
  });

  it.each([
    [{ profiles: { work: { connection: { apiKey: 'key_secret' } } } }, 'apiKey: this file must not contain a secret'],
    [{ profiles: { work: { connection: { apiKeyFile: '/key' } } } }, 'apiKeyFile requires apiUrl'],
    [{ profiles: { work: { connection: { apiKeyFile: 'key', apiUrl: 'https://a.b' } } } }, 'an absolute path'],
    [{ profiles: { 'a b': {} } }, 'config.json'],
    [
      { profiles: { work: { connection: { temporalAddress: 'u:key_secret@a:1' } } } },
      'temporalAddress: must be host:port',
    ],
    [{ profiles: { work: { connection: { temporalUi: 'https://u:key_secret@a' } } } }, 'temporalUi: must not hold'],
    [{ run: {} }, ':2: run: unknown field'],
  ])('with %j is refused', async (settings, message) => {
    await user(settings);
    const { exitCode, stderr } = await run(['config']);
    expect(exitCode).toBe(2);
    expect(stderr).toContain(message);
    expect(stderr).not.toContain('key_secret');
  });

  it('is read only from a file that nobody else can read', async () => {
    await user({ profiles });
    await chmod(join(home, 'config.json'), 0o644);
    expect(await run(['config'])).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('its mode to 600') });
  });
});

describe('the service and its key', () => {
  const connection = { apiUrl: 'https://work.example/v1', apiKeyFile: '/home/me/key' };
  const read = (env: Record<string, string>) => readConfig({ HOME: '/home/nobody', ...env }, connection).sandboxService;

  it('come both from the profile, or both from the environment', () => {
    expect(read({})).toMatchObject(connection);
    const env = { SANDBOX_API_URL: 'https://mine.example/v1', SANDBOX_API_KEY: 'key' };
    expect(read(env)).toEqual({ apiUrl: env.SANDBOX_API_URL, apiKey: 'key', apiKeyFile: undefined });
  });

  it('are never mixed', () => {
    expect(() => read({ SANDBOX_API_KEY: 'key' })).toThrow(/SANDBOX_API_KEY is set in the environment/);
    const urlAlone = { apiUrl: connection.apiUrl };
    expect(() => readConfig({ SANDBOX_API_KEY: 'key' }, urlAlone)).toThrow(/SANDBOX_API_KEY is set in the environment/);
    expect(() => read({ SANDBOX_API_URL: 'https://mine.example/v1' })).toThrow(/set without a key/);
  });
});
