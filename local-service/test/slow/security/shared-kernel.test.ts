/** What a sandbox shares with the host because no namespace separates it, or because the service passes it on. */
import { renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { attackedHost, ownSandboxId, whyNot } from '../../security/attacked-host.js';
import { usableIsolations } from '../../service/machine/machine-fixture.js';

const bubblewrap = usableIsolations.includes('bubblewrap');
const knownCalls = process.arch === 'x64';
const canaryText = 'canary-7c02be';
/** Of x86-64. */
const [addKey, keyctl, ioUringSetup, ptrace, processVmWritev] = [248, 250, 425, 101, 311];
const sessionId = -3;

/** Joins its own session, stores a key in it, and keeps the root of the machine open for its children. */
const perlPrelude = `$^F = 1000; use POSIX;
my $session = "sandflow-attacked"; syscall(${keyctl}, 1, $session);
my ($type, $name, $text) = ("user", "attacked", "${canaryText}");
syscall(${addKey}, $type, $name, $text, length $text, ${sessionId});
open(my $root, "<", "/") or die; POSIX::dup2(fileno $root, 37); exec @ARGV`;

describe.skipIf(!bubblewrap).each(['root', 'a plain user'] as const)('a sandbox of %s', (user) => {
  it.skipIf(whyNot(user) || !knownCalls)('cannot read or change the keys of the service’s session', async () => {
    const host = await attackedHost(user, { before: ['perl', '-e', perlPrelude] });
    const attack = `my ($type, $name, $new) = ("user", "attacked", "changed"); my $text = " " x 100;
      my $key = syscall(${keyctl}, 10, ${sessionId}, $type, $name, 0); exit if $key < 0;
      syscall(${keyctl}, 11, $key, $text, 100); print "READ $text"; syscall(${keyctl}, 2, $key, $new, 7) == 0 and print "CHANGED"`;
    expect((await host.run(ownSandboxId, `perl -e '${attack}'`)).stdout).toBe('');
  });

  it.skipIf(whyNot(user) || !knownCalls)('gets no descriptor of the service', async () => {
    const host = await attackedHost(user, { before: ['perl', '-e', perlPrelude] });
    const { stdout } = await host.run(
      ownSandboxId,
      'for f in /proc/self/fd/*; do readlink $f; done | grep -v -e ^/proc -e ^socket: -e ^pipe: -e ^/run/machine/[01]/1/std; ls -d /proc/self/fd/37/*; ls -d /proc/1/fd/*/usr',
    );
    expect(stdout).toBe('');
  });

  it.skipIf(whyNot(user) || !knownCalls)('opens no socket of a family without namespaces', async () => {
    const host = await attackedHost(user);
    const attack = `for my $family (0..50) { for my $kind (1, 2, 3, 5) {
      $made{$family} = 1 if socket(my $s, $family, $kind, 0) } } print join(" ", sort { $a <=> $b } keys %made), "\\n";
      my $p = "\\0" x 120; print "RING\\n" if syscall(${ioUringSetup}, 4, $p) >= 0`;
    const { stdout } = await host.run(ownSandboxId, `perl -e '${attack}'`);
    const families = stdout.trim().split(' ');
    expect(families).toEqual(expect.arrayContaining(['1', '2']));
    expect(families.filter((family) => !['1', '2', '10', '16'].includes(family))).toEqual([]);
    expect(stdout).not.toContain('RING');
  });

  it.skipIf(whyNot(user) || !knownCalls)('cannot detach from the service through its first process', async () => {
    const host = await attackedHost(user);
    // Perl passes only variables to a call that may write. The address is unmapped: a call that is let through says EFAULT.
    const attacks = `my ($data, $to) = ("x", pack("QQ", 4096, 1)); my $from = pack("QQ", unpack("Q", pack("p", $data)), 1);
      $! = 0; syscall(${processVmWritev}, 1, $from, 1, $to, 1, 0); print "WRITTEN " unless $!{EPERM};
      print "TRACED " if syscall(${ptrace}, 16, 1, 0, 0) == 0 or syscall(${ptrace}, 0x4206, 1, 0, 0) == 0; print "TRIED"`;
    // A first process that is traced has stopped, and then the command never ends.
    const attacking = host.run(ownSandboxId, `perl -MErrno -e '${attacks}'`, { timeoutMs: 20_000 });
    expect((await attacking).stdout).toBe('TRIED');
    // It may trace its own processes: debuggers work.
    const debug = 'my $p = fork || do { sleep 5; exit }; print "TRACED" if syscall(101, 16, $p, 0, 0) == 0; kill 9, $p';
    expect((await host.run(ownSandboxId, `perl -e '${debug}'`)).stdout).toBe('TRACED');
  });

  it.skipIf(whyNot(user))('cannot close a host device to others', async () => {
    const host = await attackedHost(user);
    const modes = () =>
      ['null', 'zero', 'full', 'random', 'urandom', 'tty'].map((name) => statSync(`/dev/${name}`).mode);
    const before = modes();
    // The current mode, so that a successful attack does no harm.
    const attack = 'for f in null zero full random urandom tty; do chmod 666 /dev/$f && echo CHANGED $f; done';
    expect(
      (await host.run(ownSandboxId, `${attack}; echo works > /dev/null; head -c 3 /dev/zero | wc -c`)).stdout,
    ).toBe('3\n');
    expect(modes()).toEqual(before);
  });
});

describe.skipIf(!bubblewrap || whyNot('root') !== undefined)('a sandbox of root', () => {
  it('sees no secret below /etc that is replaced or created after the service has started', async () => {
    const [kept, late] = ['/etc/sandflow-attack-kept', '/etc/sandflow-attack-late'];
    onTestFinished(() => [kept, late, `${kept}.new`].forEach((file) => void rmSync(file, { force: true })));
    writeFileSync(kept, canaryText, { mode: 0o600 });
    const host = await attackedHost('root');
    const look = 'touch begun; for i in $(seq 20); do cat /etc/sandflow-attack-*; sleep 0.1; done';
    const looking = host.run(ownSandboxId, `(${look}) 2>/dev/null`);
    await expect
      .poll(() => statSync(join(host.directory, 'machines/disks', ownSandboxId, 'begun'), { throwIfNoEntry: false }))
      .toBeDefined();
    writeFileSync(`${kept}.new`, canaryText, { mode: 0o600 });
    renameSync(`${kept}.new`, kept);
    writeFileSync(late, canaryText, { mode: 0o600 });
    expect((await looking).stdout).toBe('');
    expect((await host.run(ownSandboxId, '(cat /etc/sandflow-attack-*) 2>/dev/null')).stdout).toBe('');
  });
});
