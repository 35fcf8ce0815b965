import { randomBytes } from 'node:crypto';
import { mkdir, readdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createMachineHost } from '../../../src/machine/index.js';
import { machine, ownSandboxId, temporaryDirectory, usableIsolations } from './machine-fixture.js';

it('removes with a disk what jobs left by the id of the sandbox in the shared temporary folder', async () => {
  const { host } = await machine('plain');
  const own = `bx_${randomBytes(4).toString('hex')}`;
  const other = `${own}0`;
  onTestFinished(() => host.deleteDisk(other));
  for (const id of [own, other]) {
    await host.createDisk(id);
    await host.run(id, { command: `mkdir -p "/tmp/.sandflow-${id}-0-a/full" && touch "/tmp/.sandflow-${id}-0-b"` });
  }
  const left = async (): Promise<string[]> =>
    (await readdir('/tmp')).filter((name) => name.startsWith(`.sandflow-${own}`)).sort();
  expect(await left()).toHaveLength(4);
  await host.deleteDisk(own);
  expect(await left()).toEqual([`.sandflow-${other}-0-a`, `.sandflow-${other}-0-b`]);
});

describe.skipIf(!usableIsolations.includes('bubblewrap'))('bubblewrap', () => {
  it('hides the state of the service and the disks of other sandboxes', async () => {
    const { host, directory } = await machine('bubblewrap');
    await host.createDisk('bx_efgh2345');
    await host.writeFile('bx_efgh2345', 'secret', Buffer.from('other'));
    await writeFile(join(directory, 'webhook-secrets'), 'x');
    const { stdout } = await host.run(ownSandboxId, {
      command: `ls -a /home /home/sandbox / ${directory} 2>&1; find / -path /usr -prune -o -path /proc -prune -o -name secret -print 2>/dev/null`,
    });
    expect(stdout).not.toContain('bx_efgh2345');
    expect(stdout).not.toContain('webhook-secrets');
    expect(stdout).not.toContain('/secret');
    expect(stdout).toContain('No such file or directory');
  });

  it('lets a command write only to its home and /tmp', async () => {
    const { host } = await machine('bubblewrap');
    const command =
      'for d in / /usr /etc /home /var /opt /usr/local; do touch $d/x 2>/dev/null && echo "wrote $d"; done; touch ~/x /tmp/x /var/tmp/y && ls ~ /tmp';
    expect((await host.run(ownSandboxId, { command })).stdout).toBe('/home/sandbox:\nx\n\n/tmp:\nx\ny\n');
  });

  it('passes variables to the command, and none to bubblewrap itself', async () => {
    const { host, directory } = await machine('bubblewrap');
    const trace = join(directory, 'trace');
    // With these variables the dynamic loader of a program writes a file.
    const env = { LD_DEBUG: 'libs', LD_DEBUG_OUTPUT: trace, LONG: 'x'.repeat(100_000), LINES: 'a\nb' };
    const command = 'printf "%s-%s-" "$LD_DEBUG" "$LINES"; printf "%s" "$LONG" | tr -d x';
    const { stdout } = await host.run(ownSandboxId, { command, env });
    expect(stdout).toContain('libs-a\nb-');
    expect(stdout).not.toContain('x'.repeat(10));
    expect((await readdir(directory)).filter((name) => name.startsWith('trace'))).toEqual([]);
  });

  it('keeps /tmp between commands, separate from other sandboxes', async () => {
    const { host } = await machine('bubblewrap');
    await host.createDisk('bx_efgh2345');
    await host.run(ownSandboxId, { command: 'echo kept > /tmp/a' });
    expect((await host.run(ownSandboxId, { command: 'cat /tmp/a' })).stdout).toBe('kept\n');
    expect((await host.run('bx_efgh2345', { command: 'ls /tmp' })).stdout).toBe('');
    await host.deleteDisk(ownSandboxId);
    await host.createDisk(ownSandboxId);
    expect((await host.run(ownSandboxId, { command: 'ls /tmp' })).stdout).toBe('');
  });

  it('shows only the processes of the command, and the sandbox id as the host name', async () => {
    const { host } = await machine('bubblewrap');
    const { stdout } = await host.run(ownSandboxId, {
      command: 'ls -d /proc/[0-9]* | wc -l; cat /proc/sys/kernel/hostname',
    });
    const [count, name] = stdout.trim().split('\n');
    expect(Number(count)).toBeLessThan(8);
    expect(name).toBe('bx-abcd2345');
  });

  it('hides the passwords of the machine', async () => {
    const { host } = await machine('bubblewrap');
    expect((await host.run(ownSandboxId, { command: 'cat /etc/shadow 2>/dev/null' })).stdout).toBe('');
  });
});

describe('no isolation', () => {
  it('is reported once, and is chosen only on request or if nothing else works', async () => {
    const messages: string[] = [];
    const log = (message: string) => void messages.push(message);
    const host = await createMachineHost({ directory: await temporaryDirectory(), isolation: 'plain', log });
    onTestFinished(async () => await host.close());
    await host.createDisk(ownSandboxId);
    await host.run(ownSandboxId, { command: ':' });
    await host.run(ownSandboxId, { command: ':' });
    expect(messages).toEqual([expect.stringContaining('NOT isolated')]);
  });

  it('is not used if bubblewrap is required and does not work', async () => {
    const directory = await temporaryDirectory();
    const programs = join(directory, 'programs');
    await mkdir(programs);
    await writeFile(join(programs, 'bwrap'), '#!/bin/sh\necho "bwrap: no permission" >&2; exit 1\n', { mode: 0o755 });
    const asked = createMachineHost({ directory, isolation: 'bubblewrap', programPath: programs });
    await expect(asked).rejects.toMatchObject({
      code: 'isolation_unavailable',
      message: expect.stringMatching('no permission'),
    });
    const messages: string[] = [];
    const host = await createMachineHost({
      directory,
      programPath: programs,
      log: (message) => void messages.push(message),
    });
    onTestFinished(async () => await host.close());
    expect(host.description.isolation).toBe('plain');
    expect(messages.join(' ')).toMatch(/no permission/);
  });
});
