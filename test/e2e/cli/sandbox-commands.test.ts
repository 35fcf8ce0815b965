/** Tier local-service, about 3 s: `exec`, `cp` and `ssh` in a real sandbox. */
import { execFileSync } from 'node:child_process';
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { apiKey, startService } from '../../../local-service/test/service/service-under-test.js';
import { cli as commandLine } from '../../unit/cli/in-process.js';

async function setUp() {
  const { service, ready } = await startService();
  const id = await ready();
  const cwd = await mkdtemp(join(tmpdir(), 'sandflow-copy-'));
  onTestFinished(() => rm(cwd, { recursive: true, force: true }));
  const env = { SANDBOX_API_URL: service.url, SANDBOX_API_KEY: apiKey };
  return { id, cwd, cli: (...args: readonly string[]) => commandLine(args, { cwd, env }) };
}

describe('sandflow exec', () => {
  it('prints what the command wrote, and ends with its exit code', async () => {
    const { id, cli } = await setUp();
    const ended = await cli('exec', id, 'echo out; echo err >&2; exit 9');
    expect(ended).toEqual({ exitCode: 9, stdout: 'out\n', stderr: 'err\n' });
  });

  it('passes several words on as they are, in a folder', async () => {
    const { id, cli } = await setUp();
    await cli('exec', id, 'mkdir app');
    const words = ['a b', "it's", '$HOME', '*', ';'];
    const { stdout } = await cli(
      'exec',
      id,
      '--cwd',
      'app',
      '--',
      'sh',
      '-c',
      'pwd; printf "[%s]" "$@"',
      '-',
      ...words,
    );
    expect(stdout).toMatch(/\/app\n\[a b\]\[it's\]\[\$HOME\]\[\*\]\[;\]$/);
  });

  it('says which option ended it', async () => {
    const { id, cli } = await setUp();
    const { exitCode, stderr } = await cli('exec', id, '--timeout', '1s', 'sleep 60');
    expect(exitCode).not.toBe(0);
    expect(stderr).toContain('ended after 1.0 s. See --timeout.');
  });
});

describe('sandflow cp', () => {
  it('copies a file there and back', async () => {
    const { id, cwd, cli } = await setUp();
    const content = Buffer.from([0, 255, 10, 13, 128]);
    await writeFile(join(cwd, 'data'), content);
    expect(await cli('cp', 'data', `${id}:in/data`)).toMatchObject({ exitCode: 0, stderr: `${id} has in/data.\n` });
    await mkdir(join(cwd, 'back'));
    expect(await cli('cp', `${id}:in/data`, 'back')).toMatchObject({ exitCode: 0 });
    expect(await readFile(join(cwd, 'back', 'data'))).toEqual(content);
  });

  it('copies a folder there, and back as an archive', async () => {
    const { id, cwd, cli } = await setUp();
    await mkdir(join(cwd, 'app', 'src'), { recursive: true });
    await writeFile(join(cwd, 'app', 'one'), '1');
    await writeFile(join(cwd, 'app', 'src', 'two'), '2');
    expect(await cli('cp', 'app', `${id}:`)).toMatchObject({ exitCode: 0, stderr: `${id} has 2 files below app.\n` });
    expect(await cli('cp', `${id}:app`, '.')).toMatchObject({ exitCode: 0 });
    const names = execFileSync('tar', ['-tzf', 'app.tar.gz'], { cwd, encoding: 'utf8' });
    expect(names).toMatch(/src\/two$/m);
  });

  it.each([
    [['a', 'b'], /One of the two must be in a sandbox/],
    [['bx_23456789:a', 'bx_2345678a:b'], /One of the two must be in a sandbox/],
    [['bx_23456789:', '.'], /Name a file or folder of the sandbox/],
    [['missing', 'bx_23456789:a'], /missing cannot be read/],
    [['a', 'bx_23456789:../a'], /leads out of/],
    [['', 'bx_23456789:a'], /Neither of the two may be empty/],
    [['bx_23456789:a', ''], /Neither of the two may be empty/],
    [['bx_23456789:a', '/dev/null'], /neither a file nor a folder/],
  ])('refuses %j before it asks the service', async (words, said) => {
    const { exitCode, stderr } = await commandLine(['cp', ...words]);
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringMatching(said) });
  });

  it('names what has no name of its own after the sandbox', async () => {
    const { id, cwd, cli } = await setUp();
    expect(await cli('cp', `${id}:.`, '.')).toMatchObject({ exitCode: 0 });
    expect(await readdir(cwd)).toEqual([`${id}.tar.gz`]);
  });

  it('leaves the file here as it was if the sandbox has none', async () => {
    const { id, cwd, cli } = await setUp();
    await writeFile(join(cwd, 'kept'), 'before');
    const { exitCode, stderr } = await cli('cp', `${id}:nothing`, 'kept');
    expect({ exitCode, said: stderr !== '' }).toEqual({ exitCode: 2, said: true });
    expect(await readFile(join(cwd, 'kept'), 'utf8')).toBe('before');
  });
});

describe('sandflow ssh', () => {
  it('names how to make a key if there is none', async () => {
    const { exitCode, stderr } = await commandLine(['ssh', 'bx_23456789', '--identity', 'none']);
    expect(exitCode).toBe(2);
    expect(stderr).toMatch(/no public key in .*none\.pub\. Make one: ssh-keygen/);
  });

  it('sends nobody a private key', async () => {
    const { id, cwd, cli } = await setUp();
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(cwd, 'key')]);
    await writeFile(join(cwd, 'key.pub'), await readFile(join(cwd, 'key')));
    const { exitCode, stderr } = await cli('ssh', id, '--identity', 'key');
    expect({ exitCode, stderr }).toEqual({ exitCode: 2, stderr: expect.stringContaining('is not a public key') });
  });

  it('registers the key, and runs a command by OpenSSH', async () => {
    const { id, cwd, cli } = await setUp();
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(cwd, 'key')]);
    const quiet = ['StrictHostKeyChecking=no', 'UserKnownHostsFile=/dev/null', 'BatchMode=yes', 'LogLevel=ERROR'];
    const options = quiet.flatMap((option) => ['-o', option]);
    const { exitCode } = await cli('ssh', id, '--identity', 'key', '--', ...options, 'echo in > proof; exit 7');
    expect(exitCode).toBe(7);
    expect(await cli('exec', id, 'cat proof')).toMatchObject({ stdout: 'in\n' });
  });
});
