import { describe, expect, it } from 'vitest';
import { machine, ownSandboxId, usableIsolations } from './machine-fixture.js';

describe.each(usableIsolations)('commands in a %s sandbox', (isolation) => {
  it('run in the home of the sandbox with their input, and return output, errors and exit code', async () => {
    const { host } = await machine(isolation);
    const spec = { command: 'cat > note; cat note; pwd -P > where; echo oops >&2; exit 3', stdin: 'hello' };
    const outcome = await host.run(ownSandboxId, spec);
    expect(outcome).toMatchObject({ exitCode: 3, stdout: 'hello', stderr: 'oops\n', timedOut: false });
    expect((await host.readFile(ownSandboxId, 'note', 100)).toString()).toBe('hello');
    expect((await host.readFile(ownSandboxId, '/home/sandbox/where', 200)).toString()).toMatch(
      isolation === 'bubblewrap' ? /^\/home\/sandbox\n$/ : /bx_abcd2345\n$/,
    );
  });

  it('start in the requested folder, and exit with 126 if it does not exist', async () => {
    const { host } = await machine(isolation);
    await host.writeFile(ownSandboxId, 'project/a.txt', Buffer.from('x'));
    expect(await host.run(ownSandboxId, { command: 'ls', cwd: 'project' })).toMatchObject({ stdout: 'a.txt\n' });
    expect(await host.run(ownSandboxId, { command: 'ls', cwd: '/home/sandbox/project' })).toMatchObject({
      stdout: 'a.txt\n',
    });
    expect(await host.run(ownSandboxId, { command: 'ls', cwd: 'missing' })).toMatchObject({
      exitCode: 126,
      stdout: '',
    });
  });

  it('have a clean environment with their own variables, and none of the service', async () => {
    const { host } = await machine(isolation);
    process.env.SANDFLOW_TEST_KEY = 'not-for-sandboxes';
    try {
      const { stdout } = await host.run(ownSandboxId, { command: 'env; cat /proc/1/environ', env: { COLOUR: 'blue' } });
      expect(stdout).toContain('COLOUR=blue\n');
      expect(stdout).toContain(`SANDBOX_ID=${ownSandboxId}\n`);
      const names = stdout.split('\n').filter((line) => line.includes('=') && !line.includes('\0'));
      const allowed = ['PATH', 'HOME', 'LANG', 'TERM', 'USER', 'SANDBOX_ID', 'COLOUR', 'PWD', 'SHLVL', '_', 'OLDPWD'];
      expect(names.map((line) => line.split('=')[0]).filter((name) => !allowed.includes(name ?? ''))).toEqual([]);
      if (isolation === 'bubblewrap') expect(stdout).not.toContain('not-for-sandboxes');
    } finally {
      delete process.env.SANDFLOW_TEST_KEY;
    }
  });

  it('keep characters whole at any chunk boundary', async () => {
    const { host } = await machine(isolation);
    const pieces: string[] = [];
    // The bytes of each character come in two reads at least: the second is printed once the first has been read.
    const command = String.raw`printf 'a\342'
until test -e read-1; do sleep 0.02; done; printf '\202'; sleep 0.1; printf '\254b\360\237'
until test -e read-2; do sleep 0.02; done; printf '\230\200'`;
    const onStdout = (text: string) => {
      pieces.push(text);
      if (/[ab]$/.test(text)) void host.writeFile(ownSandboxId, text === 'a' ? 'read-1' : 'read-2', Buffer.alloc(0));
    };
    const { stdout } = await host.run(ownSandboxId, { command }, { onStdout });
    expect(stdout).toBe('a\u20acb\u{1F600}');
    expect(pieces).toEqual(['a', '\u20acb', '\u{1F600}']);
  });

  it('keep 8 MiB of each stream, and say what they omitted', async () => {
    const { host } = await machine(isolation);
    const { stdout, exitCode } = await host.run(ownSandboxId, { command: 'head -c 9000000 /dev/zero | tr "\\0" a' });
    expect(exitCode).toBe(0);
    expect(stdout.endsWith(`\n[truncated: ${9_000_000 - 8 * 1024 * 1024} more bytes]\n`)).toBe(true);
    expect(stdout.indexOf('\n')).toBe(8 * 1024 * 1024);
  });

  it('are refused if no shell can run them', async () => {
    const { host } = await machine(isolation);
    await expect(host.run(ownSandboxId, { command: `: ${'a'.repeat(200_000)}` })).rejects.toMatchObject({
      code: 'bad_command',
    });
    await expect(host.run(ownSandboxId, { command: 'a\0b' })).rejects.toMatchObject({ code: 'bad_command' });
    await expect(host.run(ownSandboxId, { command: ':', env: { A: 'b\0' } })).rejects.toMatchObject({
      code: 'bad_command',
    });
    await expect(host.run('bx_zzzz2345', { command: ':' })).rejects.toMatchObject({ code: 'no_disk' });
    await expect(host.run('../disks', { command: ':' })).rejects.toMatchObject({ code: 'bad_id' });
  });

  it('may leave their input unread', async () => {
    const { host } = await machine(isolation);
    const outcome = await host.run(ownSandboxId, { command: 'exec <&-; echo done', stdin: 'x'.repeat(1_000_000) });
    expect(outcome).toMatchObject({ exitCode: 0, stdout: 'done\n' });
  });

  it('return everything that the shell printed, including its last output', async () => {
    const { host } = await machine(isolation);
    const outcome = await host.run(ownSandboxId, { command: 'sleep 1000 & head -c 60000 /dev/zero | tr "\\0" b' });
    expect(outcome.stdout.length).toBe(60_000);
  });
});
