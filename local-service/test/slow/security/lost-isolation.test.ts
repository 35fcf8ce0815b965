import { readFileSync } from 'node:fs';
import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isolationReport } from '../../../src/isolation-report.js';
import { createMachineHost } from '../../../src/machine/index.js';
import { defaultProgramPath, findProgram } from '../../../src/machine/program.js';
import { attackedHost, isRoot, ownSandboxId } from '../../security/attacked-host.js';
import { descendantsOf } from '../../security/descendants.js';
import { temporaryDirectory, usableIsolations } from '../../service/machine/machine-fixture.js';

const bubblewrap = usableIsolations.includes('bubblewrap');

/** A host that finds these scripts, and only the named programs of the machine. */
async function hostWith(scripts: Readonly<Record<string, string>>, programs: readonly string[] = []) {
  const directory = await temporaryDirectory();
  const programPath = join(directory, 'programs');
  await mkdir(programPath);
  for (const name of programs) {
    const program = await findProgram(name, defaultProgramPath);
    if (program !== undefined) await symlink(program, join(programPath, name));
  }
  for (const [name, script] of Object.entries(scripts)) {
    await writeFile(join(programPath, name), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  }
  const messages: string[] = [];
  const host = await createMachineHost({ directory, programPath, log: (message) => void messages.push(message) });
  onTestFinished(async () => await host.close());
  await host.createDisk(ownSandboxId);
  return { host, messages };
}

describe('a bubblewrap that does not work', () => {
  it('is abandoned if it hangs, and reported', async () => {
    const { host, messages } = await hostWith({ bwrap: 'exec sleep 600' });
    expect(host.description.isolation).toBe('plain');
    expect(messages).toEqual([expect.stringMatching(/did not end within 10 s\. Sandboxes are NOT isolated/)]);
  });

  it('is reported in one line if it gives no reason', async () => {
    const { messages } = await hostWith({ bwrap: 'exit 3' });
    expect(messages).toEqual([expect.stringMatching(/^bubblewrap does not work here: it ended with 3\. Sandboxes/)]);
  });

  it.skipIf(!bubblewrap)('is reported with what it lacks if it is too old', async () => {
    const refuse = 'echo "bwrap: Unknown option $a" >&2; exit 1';
    const bwrap = `[ "$1" = --help ] && exit 0
for a; do case "$a" in --disable-userns | --size) ${refuse} ;; esac; done
exec ${await findProgram('bwrap', defaultProgramPath)} "$@"`;
    const { host } = await hostWith({ bwrap });
    expect(host.description).toMatchObject({
      isolation: 'bubblewrap',
      lacks: expect.arrayContaining([
        'commands can create their own user namespaces',
        'the size of /dev/shm is not limited',
      ]),
    });
    expect(isolationReport(host.description, {}).text).toContain('; commands can create their own user namespaces; ');
    expect((await host.run(ownSandboxId, { command: 'grep CapEff /proc/self/status' })).stdout).toMatch(/\t0+\n/);
  });
});

describe.skipIf(!bubblewrap)('without control groups', () => {
  const unmount = 'umount -l /sys/fs/cgroup/* 2>/dev/null; umount -l /sys/fs/cgroup';
  const readOnly = 'for d in /sys/fs/cgroup /sys/fs/cgroup/*; do mount -o remount,ro,bind "$d" 2>/dev/null; done; :';

  it.skipIf(!isRoot).each([
    ['none is mounted', unmount],
    ['they are read-only', readOnly],
  ])('a service starts, and reports what is not limited for root (%s)', async (_, machine) => {
    const host = await attackedHost('root', { machine });
    expect(host).toMatchObject({ isolation: 'bubblewrap', limits: { memory: 'process', processes: 'none' } });
    expect(host.lacks).toEqual(['the number of processes is not limited']);
  });
});

describe.skipIf(!bubblewrap || !isRoot)('a network that ends during a command', () => {
  it('leaves the command without a network, never with that of the machine, and is reported', async (test) => {
    const { host, messages } = await hostWith({}, ['bwrap', 'slirp4netns', 'ip', 'unshare', 'nsenter']);
    if (host.description.network.kind !== 'internet') test.skip(host.description.network.reason);
    const interfaces = 'cat /proc/net/dev | tail -n +3 | cut -d: -f1 | tr -d " " | sort | paste -sd " "';
    const wait = 'while grep -q tap0 /proc/net/dev; do sleep 0.05; done';
    const running = host.run(ownSandboxId, { command: `${interfaces}; ${wait}; ${interfaces}`, timeoutMs: 20_000 });
    let slirp: number | undefined;
    for (; slirp === undefined; await delay(20)) slirp = descendantOfName('slirp4netns');
    // Once the command has begun.
    while (descendantOfName('sleep') === undefined) await delay(20);
    process.kill(slirp, 'SIGKILL');
    expect((await running).stdout).toBe('lo tap0\nlo\n');
    await expect
      .poll(() => messages)
      .toEqual([expect.stringContaining(`The network of sandbox ${ownSandboxId} has failed.`)]);
    expect((await host.run(ownSandboxId, { command: interfaces })).stdout).toBe('lo tap0\n');
  });
});

function descendantOfName(name: string): number | undefined {
  const pids = descendantsOf(process.pid).map((one) => Number(one.split(' ')[0]));
  return pids.find((pid) => {
    try {
      return readFileSync(`/proc/${pid}/comm`, 'utf8').trim() === name;
    } catch {
      return false;
    }
  });
}
