import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import type { MachineHost } from '../../../../src/machine/machine-host.js';
import type { SandboxProcess } from '../../../../src/machine/processes/ps-listing.js';
import { listByPs } from '../../../../src/machine/processes/ps-listing.js';
import { readBootId } from '../../../../src/machine/processes/table.js';
import { mappedUid, readUserNames, userName } from '../../../../src/machine/processes/user-name.js';
import {
  machine,
  ownSandboxId,
  temporaryDirectory,
  usableIsolations,
} from '../../../service/machine/machine-fixture.js';

const otherId = 'bx_efgh2345';
/** Time enough on a busy machine. */
const patience = { timeout: 20_000, interval: 50 };

interface Begun {
  readonly script: string;
  readonly commandId?: string;
  readonly sandboxId?: string;
}

/** Starts processes that run until the sandbox ends. */
async function begin(host: MachineHost, { script, commandId, sandboxId = ownSandboxId }: Begun): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    const spec = { command: `${script} echo begun; wait`, commandId };
    host.run(sandboxId, spec, { onStdout: () => resolve() }).catch(reject);
  });
}

function named(processes: readonly SandboxProcess[], command: string): SandboxProcess {
  const found = processes.find((process) => process.command === command);
  if (found === undefined) throw new Error(`${command} is not among ${processes.map((process) => process.command)}`);
  return found;
}

describe.each(usableIsolations)('the processes of a %s sandbox', (isolation) => {
  it('are those of its commands, each with its command id', async () => {
    const { host } = await machine(isolation);
    await host.createDisk(otherId);
    expect(await host.processes(ownSandboxId)).toEqual({ processes: [], total: 0 });
    await begin(host, { script: 'sleep 1111 & setsid sleep 1112 & sh -c "sleep 1113; :" &', commandId: 'cmd_1' });
    await begin(host, { script: 'sleep 1114 &' });
    await begin(host, { script: 'sleep 1115 &', sandboxId: otherId, commandId: 'cmd_2' });

    await vi.waitFor(async () => {
      const { processes, total } = await host.processes(ownSandboxId);
      const [own, other] = ['cmd_1', null];
      const shells = ['sleep 1111 & setsid sleep 1112 & sh -c "sleep 1113; :" &', 'sleep 1114 &'];
      const rows = processes.map(({ command, commandId }) => `${command} of ${commandId}`);
      expect(rows.sort()).toEqual([
        `/bin/sh -c ${shells[0]} echo begun; wait of ${own}`,
        `/bin/sh -c ${shells[1]} echo begun; wait of ${other}`,
        `sh -c sleep 1113; : of ${own}`,
        `sleep 1111 of ${own}`,
        `sleep 1112 of ${own}`,
        `sleep 1113 of ${own}`,
        `sleep 1114 of ${other}`,
      ]);
      expect(total).toBe(7);
      const inner = named(processes, 'sleep 1113');
      expect(inner.parentPid).toBe(named(processes, 'sh -c sleep 1113; :').pid);
      expect(named(processes, `/bin/sh -c ${shells[1]} echo begun; wait`).parentPid).toBe(0);
    }, patience);
    await host.endProcesses(ownSandboxId);
    expect(await host.processes(ownSandboxId)).toEqual({ processes: [], total: 0 });
    expect((await host.processes(otherId)).processes.map(({ commandId }) => commandId)).toEqual(['cmd_2', 'cmd_2']);
    await expect(host.processes('bx_zzzz2345')).rejects.toMatchObject({ code: 'no_disk' });
  });

  it('show their usage, the busiest first', async () => {
    const { host } = await machine(isolation);
    const memory = process.memoryUsage.rss();
    await begin(host, { script: 'sleep 1121 & (while :; do :; done) & echo x | (read x; sleep 1122) &' });
    await vi.waitFor(async () => {
      const { processes } = await host.processes(ownSandboxId);
      const [busiest] = processes;
      expect(busiest?.ageMs).toBeGreaterThan(100);
      const idle = named(processes, 'sleep 1121');
      // The share of the machine that is left for it is unknown.
      expect(busiest?.cpuPercent).toBeGreaterThan(idle.cpuPercent + 1);
      expect(idle.memoryMB).toBeGreaterThan(0.1);
      expect(idle.memoryMB).toBeLessThan(memory / 1024 / 1024);
      expect(Math.abs(Date.parse(idle.startedAt) + idle.ageMs - Date.now())).toBeLessThan(3_000);
      const shares = processes.map(({ cpuPercent }) => cpuPercent);
      expect(shares).toEqual([...shares].sort((a, b) => b - a));
    }, patience);
  });

  it('run as the user that the sandbox itself names', async () => {
    const { host } = await machine(isolation);
    await begin(host, { script: 'sleep 1125 & id -un >user 2>/dev/null || id -u >user;' });
    const user = (await host.run(ownSandboxId, { command: 'cat user' })).stdout.trim();
    expect(user).toMatch(/^\w+/);
    await vi.waitFor(async () => {
      const { processes } = await host.processes(ownSandboxId);
      expect(named(processes, 'sleep 1125').user).toBe(user);
    }, patience);
  });

  it('are at most 500, with the true total', async () => {
    const { host } = await machine(isolation);
    await begin(host, { script: 'for i in $(seq 520); do sleep 1131 & done;' });
    await vi.waitFor(async () => {
      const { processes, total } = await host.processes(ownSandboxId);
      expect([processes.length, total]).toEqual([500, 521]);
    }, patience);
  });

  it('have a command of limited length', async () => {
    const { host } = await machine(isolation);
    await begin(host, { script: `sleep 1141 $(: ${'a'.repeat(10_000)}) &` });
    const { processes } = await host.processes(ownSandboxId);
    expect(Math.max(...processes.map(({ command }) => command.length))).toBe(2_000);
  });
});

describe('the user of a process', () => {
  it('has the first name that its number has, or else the number', async () => {
    const file = join(await temporaryDirectory(), 'passwd');
    await writeFile(
      file,
      'root:x:0:0::/root:/bin/sh\ntoor:x:0:0::/root:/bin/sh\n# a comment\nwrong:x:one:1::/:/bin/sh\n',
    );
    const names = readUserNames(file);
    expect([...names]).toEqual([[0, 'root']]);
    expect([userName(process.pid, 0, names), userName(process.pid, 1000, names)]).toEqual(['root', '1000']);
    expect(readUserNames(`${file}-missing`).size).toBe(0);
  });

  it('has the number that its own namespace gives it', () => {
    const map = '      1000          0          1\n      2000     100000      65536\n';
    expect([0, 1, 100_000, 165_535, 165_536].map((uid) => mappedUid(map, uid))).toEqual([
      1000, 1, 2000, 67_535, 165_536,
    ]);
  });
});

describe('processes without a process table', () => {
  it('are read from ps, with the same figures', async () => {
    const { host } = await machine('plain');
    await begin(host, { script: 'sleep 1151 & setsid sleep 1152 &', commandId: 'cmd_1' });
    const commands = async () => (await host.processes(ownSandboxId)).processes.map(({ command }) => command);
    // Until each process runs its program.
    await expect.poll(commands).toEqual(expect.arrayContaining(['sleep 1151', 'sleep 1152']));
    const { processes } = await host.processes(ownSandboxId);
    const shell = processes.find(({ parentPid }) => parentPid === 0);
    const group = { sandboxId: ownSandboxId, leader: shell?.pid ?? 0, bootId: readBootId(), leaderIsMonitor: false };
    const listed = await listByPs([{ ...group, commandId: 'cmd_1' }]);
    expect(listed.map(({ pid, command }) => [pid, command]).sort()).toEqual(
      processes.map(({ pid, command }) => [pid, command]).sort(),
    );
    for (const entry of listed) {
      const twin = processes.find(({ pid }) => pid === entry.pid);
      expect(entry).toMatchObject({ user: twin?.user, parentPid: twin?.parentPid, commandId: 'cmd_1' });
      expect(Math.abs(Date.parse(entry.startedAt) - Date.parse(twin?.startedAt ?? ''))).toBeLessThan(3_000);
      expect(Math.abs(entry.ageMs - (twin?.ageMs ?? 0))).toBeLessThan(5_000);
      expect(Math.abs(entry.memoryMB - (twin?.memoryMB ?? 0))).toBeLessThan(2);
    }
  });
});
