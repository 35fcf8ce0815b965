import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type CliHome, createCliHome } from '../../../e2e/cli/program.js';

const main = new URL('../../../../dist/src/cli/main.js', import.meta.url);
/** Nothing listens there. */
const nowhere = '127.0.0.1:9';

describe('the servers of the command line', () => {
  let cli: CliHome;
  beforeEach(() => {
    cli = createCliHome();
  });
  afterEach(() => cli.close());

  it('local prints its address as one line of JSON, and shuts down at SIGTERM', async () => {
    const local = cli.start(['local', '--port', '0', '--directory', 'service', '--ready-json']);
    await expect.poll(local.stdout).toMatch(/\n$/);
    const { ready, url } = JSON.parse(local.stdout());
    expect(ready).toBe(true);
    expect((await fetch(`${url}/me`)).status, 'a bearer key is required').toBe(401);
    const { port } = new URL(url);
    const second = await cli.run(['local', '--port', port, '--directory', 'other']);
    expect(second).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(port) });
    expect(await cli.run(['local', '--port', '0', '--directory', 'service'])).toMatchObject({ exitCode: 2 });
    local.process.kill('SIGTERM');
    expect(await local.ended).toMatchObject({ exitCode: 0 });
  });

  it('a worker without a service, and a bridge without Temporal, report it and exit', async () => {
    expect(await cli.run(['worker'])).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('Set SANDBOX_API_URL'),
    });
    expect(await cli.run(['bridge', '--port', '0'], { TEMPORAL_ADDRESS: nowhere })).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining(`Temporal at ${nowhere} cannot be reached`),
    });
  });

  it.each([
    [['run', '--nonsense', 'x'], {}, 2],
    [['run', 'missing.md'], {}, 2],
    [['run', 'x', '--sandbox', 'bx_1'], {}, 2],
    [['run', 'x', '--id', 'Bad_Id'], {}, 2],
    [
      ['run', 'x'],
      { SANDBOX_API_URL: `http://${nowhere}/v1`, SANDBOX_API_KEY: 'k', SANDFLOW_PATIENCE_SECONDS: '1' },
      3,
    ],
  ])('%j with %j exits with its code and leaves no process', async (args, env, exitCode) => {
    expect(await cli.run([...args, '--json'], env)).toMatchObject({
      exitCode,
      stdout: expect.stringMatching(/^\{.*\}\n$/),
    });
    expect(cli.alive()).toEqual([]);
  });

  it('a current folder that was deleted is an error that says so', async () => {
    const script = 'mkdir gone && cd gone && rmdir ../gone && exec "$0" "$@"';
    const args = ['-c', script, process.execPath, fileURLToPath(main), 'config'];
    const failed = promisify(execFile)('/bin/sh', args, { cwd: cli.home });
    const stderr = 'error: The current folder was deleted, or cannot be read. Change to another folder.\n';
    await expect(failed).rejects.toMatchObject({ code: 2, stdout: '', stderr });
  });

  it('a home below which nothing can be created is an error, and no loop', async () => {
    const ended = await cli.run(['run', 'x'], { SANDFLOW_HOME: '/proc/nosuch/home' });
    expect(ended).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('(/proc/nosuch/home) is not writable'),
    });
  });
});
