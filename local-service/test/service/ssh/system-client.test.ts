/** With the usual OpenSSH client. */
import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ownSandboxId, usableIsolations } from '../machine/machine-fixture.js';
import { keyPair, type SshUnderTest, sshUnderTest } from './ssh-fixture.js';

const pair = keyPair();

describe.skipIf(!exists('ssh'))('OpenSSH', () => {
  it.each(usableIsolations)('runs commands in a %s sandbox, with input, output and exit code', async (isolation) => {
    const { ssh } = await client(isolation);
    expect(await ssh(['echo out; echo err >&2; exit 9'])).toMatchObject({ stdout: 'out\n', code: 9 });
    expect(await ssh(['wc -c'], 'twelve chars')).toMatchObject({ stdout: expect.stringMatching(/^\s*12\n$/), code: 0 });
    expect(await ssh([], 'echo $((6 * 7))\nexit 4\n')).toMatchObject({ stdout: '42\n', code: 4 });
  });

  it.each(usableIsolations)('gets a terminal in a %s sandbox', async (isolation) => {
    const { ssh } = await client(isolation);
    const { stdout, code } = await ssh(['-tt'], 'tty; exit 8\n');
    expect(stdout).toMatch(/\/dev\/pts\/\d+\r\n/);
    expect(code).toBe(8);
  });

  it('is refused without the registered key', async () => {
    const { ssh, directory } = await client('plain');
    await writeFile(join(directory, 'client-key'), keyPair().privateKey, { mode: 0o600 });
    expect(await ssh(['echo in'])).toMatchObject({
      stdout: '',
      stderr: expect.stringContaining('Permission denied (publickey)'),
      code: 255,
    });
  });

  it('cannot forward a port of this machine', async () => {
    const { ssh, port } = await client('plain');
    const { code, stderr } = await ssh(['-W', `127.0.0.1:${port}`]);
    expect(code).toBe(255);
    expect(stderr).toMatch(/administratively prohibited/);
  });

  it('ends with the sandbox', async () => {
    const { ssh, host } = await client('plain');
    const running = ssh(['-tt', 'touch begun; sleep 1000']);
    await expect.poll(() => host.readFile(ownSandboxId, 'begun', 10).then(String, () => 'not yet')).toBe('');
    await host.endProcesses(ownSandboxId);
    expect((await running).code).not.toBe(0);
  });

  it.skipIf(!exists('scp')).each(usableIsolations)(
    'copies files to a %s sandbox and back by scp -O',
    async (isolation) => {
      const { scp, directory, host } = await client(isolation);
      const content = randomBytes(3 * 1024 * 1024);
      const [sent, received] = [join(directory, 'sent'), join(directory, 'received')];
      await writeFile(sent, content);
      expect(await scp([sent, 'user@127.0.0.1:copied'])).toMatchObject({ code: 0 });
      expect((await host.readFile(ownSandboxId, 'copied', content.length)).equals(content)).toBe(true);
      expect(await scp(['user@127.0.0.1:copied', received])).toMatchObject({ code: 0 });
      expect((await readFile(received)).equals(content)).toBe(true);
    },
  );
});

interface Ended {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number | null;
}

async function client(isolation: SshUnderTest['host']['description']['isolation']) {
  const under = await sshUnderTest(isolation, [pair]);
  const key = join(under.directory, 'client-key');
  await writeFile(key, pair.privateKey, { mode: 0o600 });
  const options = ['StrictHostKeyChecking=no', 'UserKnownHostsFile=/dev/null', 'BatchMode=yes', 'IdentitiesOnly=yes'];
  const shared = ['-F', '/dev/null', '-i', key, ...options.flatMap((option) => ['-o', option])];
  return {
    ...under,
    ssh: (args: readonly string[], input = '') =>
      outcome(spawn('ssh', [...shared, '-p', `${under.port}`, 'user@127.0.0.1', ...args]), input),
    scp: (args: readonly string[]) => outcome(spawn('scp', ['-O', ...shared, '-P', `${under.port}`, ...args]), ''),
  };
}

function outcome(child: ChildProcess, input: string): Promise<Ended> {
  onTestFinished(() => void child.kill('SIGKILL'));
  let [stdout, stderr] = ['', ''];
  child.stdout?.on('data', (chunk) => {
    stdout += chunk;
  });
  child.stderr?.on('data', (chunk) => {
    stderr += chunk;
  });
  child.stdin?.on('error', () => undefined);
  child.stdin?.end(input);
  return new Promise((resolve) => child.once('close', (code) => resolve({ stdout, stderr, code })));
}

function exists(program: string): boolean {
  try {
    execFileSync(program, ['-V'], { stdio: 'ignore' });
    return true;
  } catch (error) {
    return !(error instanceof Error && 'code' in error && error.code === 'ENOENT');
  }
}
