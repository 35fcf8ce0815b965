import { readFile } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { cli } from './in-process.js';

/** Fails the test if an invalid command reads its settings. */
const unreachable = () => Promise.reject(new Error('the settings were read'));

describe('the command line', () => {
  it('prints the version of the package', async () => {
    const { version } = JSON.parse(await readFile('package.json', 'utf8'));
    for (const word of ['--version', 'version'])
      expect(await cli([word])).toEqual({ exitCode: 0, stdout: `${version}\n`, stderr: '' });
  });

  it('prints help on stdout with every command, without the hidden one', async () => {
    const { exitCode, stdout, stderr } = await cli(['--help']);
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    for (const word of ['run', 'jobs', 'up', 'worker', 'bridge', 'local', 'webhooks', 'doctor']) {
      expect(stdout).toContain(word);
    }
    expect(stdout).not.toContain('supervisor');
  });

  it.each([
    [['run', '--colour', 'red', 'x'], "Unknown option '--colour'"],
    [['run', '--colour=light red', 'x'], "Unknown option '--colour=light red'"],
    [
      ['run', '- fix'],
      '"- fix" begins with a dash, as an option. If it is a text, put -- before it: sandflow run … -- TEXT',
    ],
    [['run', '--- title\nFix it'], '"--- title" begins with a dash'],
    [['run', '-1 is wrong'], '"-1 is wrong" begins with a dash'],
    [['jobs', 'prompt', 'one', '- fix'], 'put -- before it: sandflow jobs prompt … -- TEXT'],
    [['jobs', 'prompt', 'one', '--', '-fix.md'], 'The prompt file -fix.md does not exist.'],
    [['run', '--effort', 'extreme', 'x'], "Option '--effort <level>' argument 'extreme' is invalid"],
    [['run', '--type', 'huge', 'x'], 'Allowed choices are small, default, large, xlarge'],
    [['run', '--id'], "Option '--id <job>' argument missing"],
    [['rum', 'x'], "Unknown command 'rum'"],
    [['jobs', 'show'], "Missing required argument 'job'"],
    [['jobs', 'resolve', 'one'], 'Use exactly one of --sent, --resend and --abandon.'],
    [['jobs', 'resolve', 'one', '--sent', '--abandon'], 'Use exactly one of'],
    [['jobs', 'resolve', 'one', '--abandon', '--sandbox', 'bx_2345abcd'], 'require --sent'],
    [['jobs', 'resolve', 'one', '--sent', '--sandbox', 'bx_1'], 'is not a sandbox id'],
    [['jobs', 'list', '--limit', 'all'], '--limit must be a whole number from 1 to 10000, not "all"'],
    [['jobs', 'watch', 'one', '--watch-deadline', 'soon'], '--watch-deadline: "soon" is not a duration'],
    [['jobs', 'prompt', 'one', 'missing.md'], 'The prompt file missing.md does not exist'],
    [['webhooks', 'connect', '--url', 'my bridge'], '--url: "my bridge" is not a URL'],
    [['webhooks', 'delete', 'evt_1'], '"evt_1" is not a webhook id'],
    [['webhooks', 'rotate', 'evt_1'], '"evt_1" is not a webhook id'],
    [['local', '--port', '70000'], '--port: "70000" is not a port'],
    [['bridge', '--port', 'http'], '--port: "http" is not a port'],
  ])('%j exits with 2 and the reason before it reads the settings', async (args, message) => {
    const { exitCode, stdout, stderr } = await cli(args, { readConfig: unreachable });
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toMatch(/^error: /);
    expect(stderr).toContain(message);
  });

  it('suggests the intended flag', async () => {
    expect((await cli(['run', '--provder', 'codex', 'x'])).stderr).toContain('Did you mean --provider?');
  });

  it.each([
    [['run'], 'No prompt given'],
    [['run', '/tmp'], '/tmp is a folder, not a prompt file'],
    [['run', 'missing.md'], 'The prompt file missing.md does not exist'],
    [['run', 'x', '--id', 'Bad_Id'], '--id: the job id "Bad_Id" must be lower-case letters and digits'],
    [['run', 'x', '--sandbox', 'bx_1'], '--sandbox: "bx_1" is not a sandbox id'],
    [['run', 'x', '--again'], '--again requires --id'],
    [['run', 'x', '--deadline', '0s'], '--deadline: 0s is too short'],
    [['run', 'x', '--put', 'x:../../etc/passwd'], 'leads out of the sandbox'],
    [['run', 'x', '--get', '../x'], 'leads out of the sandbox'],
    [['run', 'x', '--reuse'], '--reuse requires --id'],
    [['run', 'x', '--id', 'a', '--reuse', '--again'], 'Use --again or --reuse, not both.'],
    [['run', 'x', '--ttl', 'long'], '--ttl: "long" is not a duration'],
    [['run', 'x', '--watch-deadline', '5'], '--watch-deadline: "5" is not a duration'],
    [['run', 'x', '--setup', '@none'], '--setup: the file none cannot be read'],
    [['run', 'x', '--put', 'none:there'], '--put: none cannot be read'],
    [['jobs', 'show', 'Bad_Id'], 'The job id "Bad_Id" must be'],
    [['jobs', 'cancel', 'Bad_Id'], 'The job id "Bad_Id" must be'],
  ])('%j exits with 2 and starts nothing', async (args, message) => {
    // An address where nothing listens: reaching it would end with 3.
    const env = { TEMPORAL_ADDRESS: '127.0.0.1:9', SANDBOX_API_URL: 'http://127.0.0.1:9', SANDBOX_API_KEY: 'key' };
    const { exitCode, stdout, stderr } = await cli(args, { env });
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain(message);
  });

  it.each([
    [{ SANDBOX_API_URL: 'nonsense' }, 'SANDBOX_API_URL is not a URL'],
    [{ SANDBOX_API_URL: 'https://api.example.com/v1' }, 'SANDBOX_API_URL is set without a key'],
    [{ SANDFLOW_DEPLOYMENT: 'Not-Valid' }, 'SANDFLOW_DEPLOYMENT'],
  ])('a configuration like %j exits with 2', async (env, message) => {
    const { exitCode, stderr } = await cli(['run', 'x'], { env });
    expect(exitCode).toBe(2);
    expect(stderr).toContain(message);
  });
});
