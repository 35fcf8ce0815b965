import { statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { attackedHost, neighbourId, ownSandboxId, whyNot } from '../../security/attacked-host.js';
import { usableIsolations } from '../../service/machine/machine-fixture.js';

const bubblewrap = usableIsolations.includes('bubblewrap');
/** Small, so that a successful attack does not harm the machine: 128 processes, 256 MiB. */
const size = { vcpu: 0.25, memoryGB: 0.25 };
const mib = 1024 * 1024;

describe.skipIf(!bubblewrap).each(['root', 'a plain user'] as const)('a sandbox of %s', (user) => {
  it.skipIf(whyNot(user))(
    'that forks, allocates memory or opens files is stopped at its limit, and others continue',
    async (test) => {
      const host = await attackedHost(user, { size });
      const forks =
        'my $n = 0; for (1..400) { my $p = fork; last unless defined $p; if (!$p) { sleep 3; exit } $n++ } print $n';
      const forking = host.run(ownSandboxId, `perl -e '${forks}'`);
      const beside = await host.run(neighbourId, 'for i in 1 2 3 4 5 6 7 8; do (sleep 0.1 &) ; done; echo goes on');
      expect(beside.stdout).toBe('goes on\n');
      const { limits } = host;
      if (limits.processes === 'none') test.skip('the kernel limits no processes of this user here');
      // Perl prints how many it could start; if it is killed before, nothing.
      const forked = await forking;
      expect(forked.stdout, forked.stderr).toMatch(/^\d+$/);
      expect(Number(forked.stdout)).toBeLessThan(128);

      const hoard = await host.run(
        ownSandboxId,
        `perl -e '$x = "x" x (400 * 1024 * 1024); print "GOT IT"'; echo "ended with $?"`,
      );
      expect(hoard.stdout).not.toContain('GOT IT');
      const open = await host.run(
        ownSandboxId,
        `perl -e 'for (1..20000) { open(my $h, "<", "/dev/null") or last; push @f, $h } print scalar @f'`,
      );
      expect(Number(open.stdout)).toBeLessThanOrEqual(8_192);
      expect((await host.run(neighbourId, 'perl -e \'$x = "x" x (64 * 1024 * 1024); print "goes on"\'')).stdout).toBe(
        'goes on',
      );
    },
  );

  it.skipIf(whyNot(user))('cannot allocate unlimited memory in files either', async () => {
    const host = await attackedHost(user);
    const fill =
      'for d in /dev/shm /dev /; do dd if=/dev/zero of=$d/fill bs=1M count=600 2>/dev/null; du -m $d/fill 2>/dev/null; done';
    const { stdout } = await host.run(ownSandboxId, `${fill}; rm -f /dev/shm/fill`);
    const filled = stdout.split('\n').filter((line) => line !== '');
    expect(filled.map((line) => Number(line.split('\t')[0]))).toEqual([512]);
    expect(filled[0]).toContain('/dev/shm/fill');
  });

  it.skipIf(whyNot(user))('that fills the disk is killed, and others continue', async () => {
    const { bavail, bsize } = statfsSync(tmpdir());
    const host = await attackedHost(user, { diskReserveBytes: bavail * bsize - 100 * mib });
    const one = await host.run(ownSandboxId, 'head -c 400000000 /dev/zero > big; stat -c %s big; rm big');
    expect(Number(one.stdout)).toBeLessThan(200 * mib);

    const beside = host.run(neighbourId, 'for i in $(seq 20); do echo $i > small; sleep 0.5; done; echo goes on');
    const many = 'for i in $(seq 80); do head -c 10000000 /dev/zero > fill$i; sleep 0.2; done; echo filled it';
    const filling = await host.run(ownSandboxId, many);
    expect(filling).toMatchObject({ exitCode: null, stdout: '' });
    await host.call('deleteDisk', ownSandboxId);
    expect(await beside).toMatchObject({ exitCode: 0, stdout: 'goes on\n' });
  });

  it.skipIf(whyNot(user))('that fills the disk from the background is killed, and others continue', async () => {
    const { bavail, bsize } = statfsSync(tmpdir());
    const host = await attackedHost(user, { diskReserveBytes: bavail * bsize - 100 * mib });
    const many = 'for i in $(seq 80); do head -c 10000000 /dev/zero > fill$i; sleep 0.2; done; touch filled';
    expect((await host.run(ownSandboxId, `(${many}) >/dev/null 2>&1 &`)).exitCode).toBe(0);
    const beside = host.run(neighbourId, 'for i in $(seq 20); do echo $i > small; sleep 0.5; done; echo goes on');
    expect(await beside).toMatchObject({ exitCode: 0, stdout: 'goes on\n' });
    expect(await host.call('processes', ownSandboxId)).toEqual({ processes: [], total: 0 });
    expect((await host.run(ownSandboxId, 'rm -f fill*; ls')).stdout).not.toContain('filled');
  });

  it.skipIf(whyNot(user))('that forks in the background hurts only itself, and ends with its stop', async (test) => {
    const host = await attackedHost(user, { size });
    if (host.limits.processes === 'none') test.skip('the kernel limits no processes of this user here');
    const bomb = `perl -e '$SIG{TERM} = "IGNORE"; for (1..400) { defined(my $p = fork) or sleep 1; $p or sleep 1000 }'`;
    await host.run(ownSandboxId, `${bomb} >/dev/null 2>&1 & sleep 0.5`);
    expect(
      (await host.run(neighbourId, 'for i in 1 2 3 4 5 6 7 8; do (sleep 0.1 &) ; done; echo goes on')).stdout,
    ).toBe('goes on\n');
    await host.call('endProcesses', ownSandboxId);
    expect(await host.call('processes', ownSandboxId)).toEqual({ processes: [], total: 0 });
    expect((await host.run(ownSandboxId, 'echo is back')).stdout).toBe('is back\n');
  });

  it.skipIf(whyNot(user))('that forks without end is listed and stopped while others are served', async (test) => {
    const host = await attackedHost(user, { size });
    if (host.limits.processes === 'none') test.skip('the kernel limits no processes of this user here');
    await host.run(neighbourId, 'true');
    // It ends by itself, so that it does not outlive a test that fails.
    const bomb = `perl -e '$SIG{TERM} = "IGNORE"; my $end = time + 60; fork while time < $end'`;
    await host.run(ownSandboxId, `${bomb} >/dev/null 2>&1 & sleep 1`);
    const listing = host.call('processes', ownSandboxId);
    expect((await host.run(neighbourId, 'echo goes on')).stdout).toBe('goes on\n');
    await listing;
    // All of that while it forks.
    expect(await host.call('processes', ownSandboxId)).toMatchObject({ total: expect.toSatisfy((n) => n > 50) });
    await host.call('endProcesses', ownSandboxId);
    expect(await host.call('processes', ownSandboxId)).toEqual({ processes: [], total: 0 });
  });

  it.skipIf(whyNot(user))('that is full of processes starts again for the next command', async (test) => {
    const host = await attackedHost(user, { size });
    if (host.limits.processes === 'none') test.skip('the kernel limits no processes of this user here');
    const fill = `perl -e 'while (1) { my $p = fork; sleep 1 unless defined $p; sleep 1000 if defined $p and !$p }'`;
    await host.run(ownSandboxId, `${fill} >/dev/null 2>&1 & sleep 1`);
    expect((await host.run(ownSandboxId, 'echo is back')).stdout).toBe('is back\n');
  });
});
