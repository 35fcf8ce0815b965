import { rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { attackedHost, ownSandboxId, whyNot } from '../../security/attacked-host.js';
import { usableIsolations } from '../../service/machine/machine-fixture.js';

const bubblewrap = usableIsolations.includes('bubblewrap');

describe.skipIf(!bubblewrap).each(['root', 'a plain user'] as const)('a sandbox of %s', (user) => {
  it.skipIf(whyNot(user))('has no capability and gains none', async () => {
    const host = await attackedHost(user);
    const { stdout } = await host.run(ownSandboxId, 'grep ^Cap /proc/self/status; grep NoNewPrivs /proc/self/status');
    const held = stdout.split('\n').filter((line) => /^Cap(Prm|Eff|Inh|Amb|Bnd)/.test(line));
    expect(held.map((line) => line.replace(/\t/, ' '))).toEqual(
      ['Inh', 'Prm', 'Eff', 'Bnd', 'Amb'].map((name) => `Cap${name}: 0000000000000000`),
    );
    expect(stdout).toMatch(/NoNewPrivs:\s*1/);
    const more = await host.run(ownSandboxId, 'unshare --user --map-root-user true && echo ROOT AGAIN');
    expect(more.stdout).toBe('');
  });

  it.skipIf(whyNot(user))('cannot change the host: no remount, no device, no kernel setting, no file', async () => {
    const host = await attackedHost(user);
    const canary = '/usr/share/sandflow-attack-canary';
    onTestFinished(() => rmSync(canary, { force: true }));
    // A success does no harm: kernel files are opened for writing, and nothing is written.
    const attacks = [
      'mount -o remount,rw /usr && echo REMOUNTED',
      'mount -o remount,rw,bind /usr && echo REMOUNTED',
      `echo x > ${canary} && echo WROTE`,
      'mount -t tmpfs none /tmp && echo MOUNTED',
      'umount /etc/resolv.conf && echo UNMOUNTED',
      'mknod /tmp/disk b 254 0 && echo MADE A DEVICE',
      ': >> /proc/sys/kernel/core_pattern && echo OPENED A SETTING',
      ': >> /proc/sys/net/ipv4/ip_forward && echo OPENED A SETTING OF THE NETWORK',
      ': >> /proc/sysrq-trigger && echo OPENED SYSRQ',
      'chroot / true && echo CHROOTED',
      'nsenter --target 1 --mount true && echo ENTERED',
      'hostname attacked && echo RENAMED',
      'date -s "@$(date +%s.%N)" >/dev/null && echo SET THE CLOCK',
    ];
    const { stdout } = await host.run(ownSandboxId, attacks.map((attack) => `(${attack}) 2>/dev/null`).join('\n'));
    expect(stdout).toBe('');
    expect(() => statSync(canary)).toThrow();
  });

  it.skipIf(whyNot(user))('writes files that the service owns, and reads those of file calls', async () => {
    const host = await attackedHost(user);
    const disk = join(host.directory, 'machines', 'disks', ownSandboxId);
    await host.run(ownSandboxId, 'echo made > made; chmod 600 made');
    expect(statSync(join(disk, 'made')).uid).toBe(statSync(disk).uid);
    writeFileSync(join(disk, 'given'), 'given', { mode: 0o644 });
    expect((await host.run(ownSandboxId, 'cat given')).stdout).toBe('given');
    await host.call('takeSnapshot', ownSandboxId, `snap_${'0'.repeat(24)}`);
    await host.call('restoreDisk', 'bx_ijkl2345', `snap_${'0'.repeat(24)}`);
    expect((await host.run('bx_ijkl2345', 'cat made; echo more >> made')).stdout).toBe('made\n');
    expect(statSync(join(host.directory, 'machines', 'disks', 'bx_ijkl2345', 'made')).uid).toBe(statSync(disk).uid);
  });

  it.skipIf(whyNot(user))('reads nothing below /etc that other users may not read', async () => {
    const host = await attackedHost(user);
    const { stdout } = await host.run(
      ownSandboxId,
      'for f in $(find /etc /opt -type f ! -perm -004 2>/dev/null); do [ -s "$f" ] && [ -r "$f" ] && echo "$f"; done',
    );
    expect(stdout).toBe('');
    expect((await host.run(ownSandboxId, 'cat /etc/shadow 2>/dev/null')).stdout).toBe('');
  });
});
