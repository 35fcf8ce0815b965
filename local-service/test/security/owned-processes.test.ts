/** Which processes the service lists with a sandbox and ends with it. */
import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createMachineHost } from '../../src/machine/index.js';
import { machine, ownSandboxId, runningWith, usableIsolations } from '../service/machine/machine-fixture.js';
import { neighbourId, processMark } from './attacked-host.js';

describe.skipIf(!usableIsolations.includes('bubblewrap'))('the processes of a sandbox', () => {
  it('are ended by the next service even if it has no record of them', async () => {
    const { host, directory } = await machine('bubblewrap');
    const mark = processMark();
    const running = host.run(ownSandboxId, { command: `setsid sleep ${mark}; sleep ${mark}` });
    await expect.poll(() => runningWith(mark).length).toBeGreaterThan(0);
    const records = join(directory, 'processes');
    for (const name of readdirSync(records)) rmSync(join(records, name));
    const next = await createMachineHost({ directory, isolation: 'bubblewrap' });
    onTestFinished(async () => await next.close());
    await next.recover();
    expect(runningWith(mark)).toEqual([]);
    await running;
  });

  it('do not belong to another sandbox whose disk they claim as their home', async () => {
    const { host, directory } = await machine('bubblewrap');
    await host.createDisk(neighbourId);
    const home = join(directory, 'disks', neighbourId);
    const mark = processMark();
    const running = host.run(ownSandboxId, { command: `HOME=${home} sleep ${mark}; echo went on` });
    await expect.poll(() => runningWith(mark).length).toBeGreaterThan(0);
    expect((await host.processes(neighbourId)).total).toBe(0);
    await host.endProcesses(neighbourId);
    expect(runningWith(mark)).toHaveLength(1);
    expect((await host.processes(ownSandboxId)).processes.map(({ command }) => command).join()).toContain(
      `sleep ${mark}`,
    );
    await host.endProcesses(ownSandboxId);
    expect(await running).toMatchObject({ exitCode: null, stdout: '' });
  });
});
