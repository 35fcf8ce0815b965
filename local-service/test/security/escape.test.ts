import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runningWith, usableIsolations } from '../service/machine/machine-fixture.js';
import { attackedHost, neighbourId, ownSandboxId, plainUserId, processMark, whyNot } from './attacked-host.js';

const bubblewrap = usableIsolations.includes('bubblewrap');
const canaryText = `canary-${randomBytes(6).toString('hex')}`;

describe.skipIf(!bubblewrap).each(['root', 'a plain user'] as const)('a sandbox of %s', (user) => {
  it.skipIf(whyNot(user))(
    'sees no file, socket, variable, descriptor or process of host, service and other sandboxes',
    async () => {
      const host = await attackedHost(user);
      const machines = join(host.directory, 'machines');
      writeFileSync(join(host.directory, 'service-key'), canaryText, { mode: 0o644 });
      writeFileSync(join(machines, 'disks', neighbourId, 'secret'), canaryText, { mode: 0o644 });
      const socket = join(host.directory, 'service.sock');
      const server = createServer((one) => one.end(canaryText));
      await new Promise<void>((resolve) => server.listen(socket, () => resolve()));
      onTestFinished(() => void server.close());
      const mark = processMark();
      void host.run(neighbourId, `SECRET=${canaryText} sleep ${mark}`).catch(() => undefined);
      await expect.poll(() => runningWith(mark).length).toBeGreaterThan(0);

      const paths = [host.directory, machines, join(machines, 'disks', neighbourId, 'secret')];
      const attacks = [
        ...paths.map((path) => `ls -d ${path}`),
        `cat ${join(host.directory, 'service-key')} ${join(machines, 'disks', neighbourId, 'secret')}`,
        // Through links, the parent folder, open files of a process, and the roots of other processes.
        `ln -s ${join(machines, 'disks', neighbourId)} out; cat out/secret`,
        `cat ../${neighbourId}/secret ../../disks/${neighbourId}/secret`,
        `cat /proc/*/root${join(host.directory, 'service-key')} /proc/*/cwd/secret`,
        // The brackets keep the attack from finding itself.
        `cat /proc/*/environ /proc/*/cmdline | tr '\\0' '\\n' | grep -a '${unlikeItself(canaryText)}'`,
        'for f in /proc/self/fd/*; do readlink $f; done | grep -v -e ^/proc -e ^pipe: -e ^socket: -e ^/dev/null -e ^/home/sandbox -e ^/run/machine/[01]/1/std',
        `perl -MSocket -e 'socket(S, PF_UNIX, SOCK_STREAM, 0); connect(S, pack_sockaddr_un("${socket}")) and print "CONNECTED"'`,
        `cat /proc/*/cmdline | grep -a '${unlikeItself(mark)}'`,
        'cat /dev/mem /dev/kmsg /dev/sd? /dev/vd? | head -c 10',
        'ipcs -a | grep -E "^0x"',
      ];
      const stdin = attacks.map((attack) => `(${attack}) 2>/dev/null`).join('\n');
      const { stdout } = await host.run(ownSandboxId, 'sh -s', { stdin });
      expect(stdout).toBe('');
      expect((await host.run(ownSandboxId, 'env')).stdout.split('\n').map((line) => line.split('=')[0])).not.toContain(
        'SECRET',
      );
    },
  );

  it.skipIf(whyNot(user))('cannot signal, trace or slow down any other process', async () => {
    const host = await attackedHost(user);
    // For the kernel, they have the same user as the sandbox's processes.
    const mark = processMark();
    const bystander = spawn('sleep', [mark], { stdio: 'ignore', ...(user === 'a plain user' && plainUser()) });
    onTestFinished(() => void bystander.kill('SIGKILL'));
    const beside = host.run(neighbourId, 'touch begun; until [ -e go ]; do sleep 0.1; done; echo goes on');
    await expect.poll(() => runningWith(mark).length).toBe(1);
    const disk = join(host.directory, 'machines', 'disks', neighbourId);
    await expect.poll(() => existsSync(join(disk, 'begun'))).toBe(true);
    // In this order, and one command each: after a kill, nothing is left to attack.
    const attacks = [
      `perl -e 'print "TRACED IT" if syscall(101, 16, ${bystander.pid}, 0, 0) == 0'`,
      `renice -n 19 -p ${bystander.pid} >/dev/null && echo SLOWED IT`,
      `kill -9 ${bystander.pid} && echo KILLED IT`,
      // Every reachable process, which is the command itself; not tried if that is the machine.
      '[ "$(ls -d /proc/[0-9]* | wc -l)" -lt 20 ] && kill -9 -1',
      `kill -9 ${host.pid} && echo KILLED THE SERVICE`,
    ];
    const results: string[] = [];
    for (const attack of attacks) {
      const attacking = host.run(ownSandboxId, `(${attack}) 2>/dev/null`);
      results.push(
        await attacking.then(
          ({ stdout }) => stdout,
          (error: Error) => error.message,
        ),
      );
    }
    expect(results).toEqual(attacks.map(() => ''));
    expect(readFileSync(`/proc/${bystander.pid}/cmdline`, 'utf8')).toContain(mark);
    await host.run(neighbourId, 'touch go');
    expect(await beside).toMatchObject({ exitCode: 0, stdout: 'goes on\n' });
    expect((await host.run(ownSandboxId, 'echo also this one')).stdout).toBe('also this one\n');
  });
});

/** A pattern for `text` that does not match the command line that it is in. */
function unlikeItself(text: string): string {
  return `${text.slice(0, -1)}[${text.at(-1)}]`;
}

function plainUser(): { uid?: number; gid?: number } {
  return process.getuid?.() === 0 ? { uid: plainUserId, gid: plainUserId } : {};
}
