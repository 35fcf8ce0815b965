/**
 * The process that starts the commands of a sandbox runs inside it, as the same user. A command that took it over would
 * be free of the limits that each command gets, or could start commands in the name of the service.
 */
import { readdirSync, readlinkSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { attackedHost, ownSandboxId, whyNot } from '../../security/attacked-host.js';
import { usableIsolations } from '../../service/machine/machine-fixture.js';

const bubblewrap = usableIsolations.includes('bubblewrap');
/** Of x86-64. */
const [ptrace, processVmReadv, pidfdOpen, pidfdGetfd] = [101, 310, 434, 438];

function openFiles(pid: number): string[] {
  return readdirSync(`/proc/${pid}/fd`).flatMap((name) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${name}`)];
    } catch {
      return [];
    }
  });
}

describe.skipIf(!bubblewrap).each(['root', 'a plain user'] as const)('a sandbox of %s', (user) => {
  it.skipIf(whyNot(user))('cannot read, trace or take over the process that starts its commands', async () => {
    const host = await attackedHost(user);
    const attacks = [
      'cat /proc/2/environ && echo READ ITS VARIABLES',
      'readlink /proc/2/fd/0 /proc/2/cwd /proc/2/root /proc/2/exe',
      'ls /proc/2/root/',
      'cat /proc/2/maps /proc/2/mem | head -c 10',
      'cat /run/init/sh | head -c 4',
      'chmod 755 /run/init/sh && echo MADE READABLE',
      'echo 1 2>/dev/null >/proc/2/fd/0 && echo WROTE A COMMAND',
      'echo 1 2>/dev/null >/proc/1/fd/0 && echo WROTE A COMMAND',
      ': >>/run/init/main && echo CHANGED ITS SCRIPT',
      'for folder in /run/machine /run/machine/0 /run/machine/1; do touch $folder/x && echo MADE A PIPE; done',
      'ln -s /etc /run/machine/y && echo MADE A LINK',
      'mv /run/machine /tmp/z && echo MOVED THE PIPES',
    ];
    const { stdout } = await host.run(ownSandboxId, attacks.map((attack) => `(${attack}) 2>/dev/null`).join('\n'));
    expect(stdout).toBe('');
    if (process.arch !== 'x64') return;
    const calls = `
      for my $pid (1, 2) {
        print "TRACED $pid\\n" if syscall(${ptrace}, 16, $pid, 0, 0) == 0 or syscall(${ptrace}, 0x4206, $pid, 0, 0) == 0;
        my $fd = syscall(${pidfdOpen}, $pid, 0);
        for my $n (0..5) { print "TOOK $n of $pid\\n" if syscall(${pidfdGetfd}, $fd, $n, 0) >= 0 }
      }
      my ($data, $from) = ("x" x 8, pack("QQ", 0x400000, 8)); my $to = pack("QQ", unpack("Q", pack("p", $data)), 8);
      $! = 0; syscall(${processVmReadv}, 2, $to, 1, $from, 1, 0); print "READ ITS MEMORY $!\\n" unless $!{EPERM};
      print "TRIED"`;
    const tried = await host.run(ownSandboxId, `perl -MErrno -e '${calls}'`, { timeoutMs: 60_000 });
    expect(tried.stdout).toBe('TRIED');
    expect((await host.run(ownSandboxId, 'echo goes on')).stdout).toBe('goes on\n');
  });

  it.skipIf(whyNot(user))('has the same restrictions in every process', async () => {
    const host = await attackedHost(user);
    const look = 'for d in /proc/[0-9]*; do grep -hE "^(Cap(Inh|Prm|Eff|Bnd|Amb)|NoNewPrivs|Seccomp):" $d/status; done';
    await host.run(ownSandboxId, 'sleep 1000 >/dev/null 2>&1 &');
    const { stdout } = await host.run(ownSandboxId, `${look} | sort -u | tr -s "\\t" " "`);
    // Only bubblewrap's own process has no filter; it refuses to be traced.
    const filtered = stdout.split('\n').filter((line) => line !== '' && line !== 'Seccomp: 0');
    expect(filtered).toEqual([
      'CapAmb: 0000000000000000',
      'CapBnd: 0000000000000000',
      'CapEff: 0000000000000000',
      'CapInh: 0000000000000000',
      'CapPrm: 0000000000000000',
      'NoNewPrivs: 1',
      'Seccomp: 2',
    ]);
    expect((await host.run(ownSandboxId, 'grep Seccomp: /proc/2/status /proc/self/status')).stdout).not.toContain(
      '0\n',
    );
  });

  it.skipIf(whyNot(user))('that stops the process that starts its commands can still be ended', async () => {
    const host = await attackedHost(user);
    await host.run(ownSandboxId, 'sleep 1000 >/dev/null 2>&1 & kill -STOP 2');
    const stuck = host.run(ownSandboxId, 'echo never').then(
      ({ stdout }) => stdout,
      (error: Error) => error.message,
    );
    // The service has opened the pipes of the second command.
    await expect.poll(() => openFiles(host.pid)).toContainEqual(expect.stringMatching(/\/2\/status$/));
    await host.call('endProcesses', ownSandboxId);
    expect(await stuck).not.toBe('never\n');
    expect((await host.run(ownSandboxId, 'echo is back')).stdout).toBe('is back\n');
  });
});
