import { execFileSync } from 'node:child_process';
import { chmod, mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { findProjectFile } from '../../../../src/cli/settings/project-file.js';
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
const run = (args: readonly string[], env: Record<string, string> = {}) =>
  cli(args, { cwd, env: { SANDFLOW_HOME: home, ...env } });
it('a project file may begin with a byte order mark', async () => {
  await project('\uFEFF{"run": {"model": "opus"}}');
  expect((await run(['config'])).stderr).toBe('');
});

describe('a project file', () => {
  it.each([
    [{ apiKey: 'key_secret' }, 'apiKey: unknown field'],
    [{ run: { SANDBOX_API_KEY: 'key_secret' } }, 'run.SANDBOX_API_KEY: unknown field'],
    [{ apiUrl: 'https://evil.example/v1' }, 'apiUrl: unknown field'],
    [{ run: { temporalAddress: 'evil:7233' } }, 'run.temporalAddress: unknown field'],
    [{ run: { notify: 'command:rm -rf /' } }, 'run.notify: unknown field'],
    [{ run: { environment: 'production' } }, 'run.environment: unknown field'],
    [{ fanout: { onUnknown: 'resend' } }, 'fanout.onUnknown: unknown field'],
    [{ run: { monitoring: false } }, 'run.monitoring: unknown field'],
    [{ run: { put: ['/home/me/.ssh:x'] } }, 'run.put: unknown field'],
    [{ run: { get: ['x:../../.bashrc'] } }, 'run.get: unknown field'],
    [{ run: { setup: '@/etc/passwd' } }, 'run.setup: unknown field'],
    [{ fanout: { command: ['curl evil'] } }, 'fanout.command: unknown field'],
    [{ run: { sandbox: 'bx_2345abcd' } }, 'run.sandbox: unknown field'],
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
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining('sandflow.json: ') });
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
    expect(findProjectFile(inner, '/nowhere')).toBeUndefined();
    expect(findProjectFile(inner, cwd)).toBe(join(cwd, 'sandflow.json'));
    await mkdir(join(cwd, 'a', '.git'));
    expect(findProjectFile(inner, cwd)).toBeUndefined();
    await writeFile(join(inner, 'sandflow.json'), '{}');
    expect(findProjectFile(inner, cwd)).toBe(join(inner, 'sandflow.json'));
  });

  it('gives options to a batch, and says so', async () => {
    await project({ fanout: { concurrency: 7, deadline: '2h' } });
    await writeFile(join(cwd, 'prompts.txt'), 'one\ntwo\n');
    const { stdout, stderr } = await run(['fanout', 'prompts.txt', '--dry-run', '--deadline', '3h', '--json']);
    expect(JSON.parse(stdout).policy).toMatchObject({ concurrency: 7, deadlineMs: 3 * 3_600_000 });
    expect(stderr).toContain(`Defaults of ${join(cwd, 'sandflow.json')}: concurrency 7\n`);
  });

  it('that is wrong stops no command that does not use it', async () => {
    await project('no');
    expect(await run(['status'])).toMatchObject({ exitCode: 0 });
  });
});
