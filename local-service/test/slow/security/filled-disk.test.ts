/** A separate file system: writes of others on this machine do not count. */
import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { attackedHost, isRoot, neighbourId, ownSandboxId, whyNot } from '../../security/attacked-host.js';
import { usableIsolations } from '../../service/machine/machine-fixture.js';

const bubblewrap = usableIsolations.includes('bubblewrap');
const mib = 1024 * 1024;

/** 300 MiB and 20,000 files; 100 MiB and 5,000 files must stay free. */
const options = {
  fileSystem: 'size=300m,nr_inodes=20000',
  diskReserveBytes: 100 * mib,
  diskReserveFiles: 5_000,
};
/** Less than 8 MiB a second. */
const slowly = 'for i in $(seq 120); do head -c 500000 /dev/zero >> slow || break; sleep 0.1; done; echo filled it';

const mapped = `
import mmap, os, time
maps = []
for _ in range(2):
    f = os.open("mapped", os.O_RDWR | os.O_CREAT)
    os.unlink("mapped")
    os.ftruncate(f, 140000000)
    maps.append(mmap.mmap(f, 140000000))
    os.close(f)
for m in maps:
    for at in range(0, 140000000, 1000000):
        m[at:at + 1000000] = b"x" * 1000000
        time.sleep(0.02)
print("filled it")
`;

function hasPython(): boolean {
  try {
    execFileSync('/usr/bin/python3', ['--version'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

interface Attack {
  readonly how: string;
  /** A separate command. */
  readonly before?: string;
  readonly command: string;
}

const attacks: readonly Attack[] = [
  {
    how: 'at once, then slowly, and ignores a request to end',
    command: `trap "" TERM; fallocate -l 130M a; fallocate -l 110M b; ${slowly}`,
  },
  { how: 'slowly, with what it wrote before', before: 'head -c 195M /dev/zero > before', command: slowly },
  {
    how: 'with files that it has removed',
    command: `exec 3>a 4>b; rm a b; head -c 190M /dev/zero >&3; ${slowly.replace('>> slow', '>&4')}`,
  },
  {
    how: 'with empty files',
    command:
      'perl -e \'for (1..30000) { open(my $h, ">", "f$_") or last; select(undef, undef, undef, 0.02) if $_ % 200 == 0 }\'; sleep 15; echo filled it',
  },
  ...(hasPython() ? [{ how: 'with files that it only maps', command: `exec python3 -c '${mapped}'` }] : []),
];

describe.skipIf(!bubblewrap || !isRoot).each(['root', 'a plain user'] as const)('a sandbox of %s', (user) => {
  it.skipIf(whyNot(user)).each(attacks)('that fills the disk $how is killed, and others continue', async (attack) => {
    const host = await attackedHost(user, options);
    if (attack.before) expect((await host.run(ownSandboxId, attack.before)).exitCode).toBe(0);
    const small = 'for i in $(seq 12); do echo $i > small || exit 1; sleep 0.5; done; echo goes on';
    const beside = host.run(neighbourId, small);
    const filling = await host.run(ownSandboxId, attack.command, { timeoutMs: 60_000 });
    expect(filling).toMatchObject({ exitCode: null, stdout: '', timedOut: false });
    expect(await beside).toMatchObject({ exitCode: 0, stdout: 'goes on\n' });
  });

  it.skipIf(whyNot(user))('may continue below the reserve while it writes little or frees space', async () => {
    const host = await attackedHost(user, { ...options, diskReserveBytes: 299 * mib });
    await host.run(ownSandboxId, 'head -c 2M /dev/zero > old');
    const little = 'for i in $(seq 10); do head -c 100000 /dev/zero > small$i; sleep 0.1; done; rm old; echo done';
    expect(await host.run(ownSandboxId, little)).toMatchObject({ exitCode: 0, stdout: 'done\n' });
  });
});
