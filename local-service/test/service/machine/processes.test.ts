import { type ChildProcess, spawn } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createMachineHost } from '../../../src/machine/index.js';
import { readBootId, readStartTime } from '../../../src/machine/processes/table.js';
import { machine, ownSandboxId, runningWith, temporaryDirectory, usableIsolations } from './machine-fixture.js';

const childScript = fileURLToPath(new URL('./child.mjs', import.meta.url));

describe.each(usableIsolations)('processes of a %s sandbox', (isolation) => {
  it('end with an abort: the whole tree, including processes that left the group', async () => {
    const { host } = await machine(isolation);
    const mark = uniqueSeconds();
    const abort = new AbortController();
    const command = `(sleep ${mark} & sleep ${mark}) & setsid sleep ${mark} & sleep ${mark}; echo never`;
    const running = host.run(ownSandboxId, { command }, { signal: abort.signal });
    await expect.poll(() => runningWith(mark).length).toBeGreaterThanOrEqual(4);
    abort.abort();
    expect(await running).toMatchObject({ exitCode: null, stdout: '', timedOut: false });
    expect(runningWith(mark)).toEqual([]);
  });

  it('get SIGTERM before SIGKILL', async () => {
    const { host } = await machine(isolation);
    const abort = new AbortController();
    const command = 'trap "echo saved >saved; exit" TERM; echo ready; while :; do sleep 0.05; done';
    await host.run(ownSandboxId, { command }, { signal: abort.signal, onStdout: () => abort.abort() });
    expect((await host.readFile(ownSandboxId, 'saved', 100)).toString()).toBe('saved\n');
  });

  it('that ignore SIGTERM are killed after two seconds', async () => {
    const { host } = await machine(isolation);
    const mark = uniqueSeconds();
    const abort = new AbortController();
    // Without isolation the shell ends first and leaves the other; with isolation the other ends with the shell.
    const command = isolation === 'plain' ? `(trap "" TERM; sleep ${mark}) & wait` : `trap "" TERM; sleep ${mark}; :`;
    const running = host.run(ownSandboxId, { command }, { signal: abort.signal });
    await expect.poll(() => runningWith(mark).length).toBeGreaterThan(0);
    abort.abort();
    const { durationMs } = await running;
    expect(runningWith(mark)).toEqual([]);
    expect(durationMs).toBeGreaterThan(1_900);
  });

  it('end at the time limit', async () => {
    const { host } = await machine(isolation);
    const mark = uniqueSeconds();
    let stdout = '';
    // On a busy machine a sandbox may take longer to start than its time limit.
    for (let timeoutMs = 300; stdout === ''; timeoutMs *= 2) {
      const outcome = await host.run(ownSandboxId, { command: `echo begun; sleep ${mark}; echo never`, timeoutMs });
      expect(outcome).toMatchObject({ exitCode: null, timedOut: true });
      expect(runningWith(mark)).toEqual([]);
      stdout = outcome.stdout;
    }
    expect(stdout).toBe('begun\n');
  });

  it('are not started after an abort', async () => {
    const { host } = await machine(isolation);
    const outcome = await host.run(ownSandboxId, { command: 'touch begun' }, { signal: AbortSignal.abort() });
    expect(outcome.exitCode).toBeNull();
    await expect(host.readFile(ownSandboxId, 'begun', 10)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('in the background do not delay their command, and end with the sandbox', async () => {
    const { host, directory } = await machine(isolation);
    const mark = uniqueSeconds();
    const outcome = await host.run(ownSandboxId, { command: `sleep ${mark} & setsid sleep ${mark} & echo done` });
    expect(outcome).toMatchObject({ exitCode: 0, stdout: 'done\n' });
    if (isolation === 'plain') await expect.poll(() => runningWith(mark).length).toBe(2);
    await host.endProcesses(ownSandboxId);
    expect(runningWith(mark)).toEqual([]);
    expect(readdirSync(join(directory, 'processes'))).toEqual([]);
  });

  it('of one sandbox end separately from those of another, and all end with the host', async () => {
    const { host } = await machine(isolation);
    const other = 'bx_efgh2345';
    await host.createDisk(other);
    const [mark, otherMark] = [uniqueSeconds(), uniqueSeconds()];
    const runs = [
      host.run(ownSandboxId, { command: `sleep ${mark}` }),
      host.run(other, { command: `sleep ${otherMark}` }),
    ] as const;
    await expect.poll(() => [runningWith(mark).length, runningWith(otherMark).length]).not.toContain(0);
    await host.endProcesses(ownSandboxId);
    expect(await runs[0]).toMatchObject({ timedOut: false });
    expect(runningWith(mark)).toEqual([]);
    expect(runningWith(otherMark)).not.toEqual([]);
    await host.close();
    await runs[1];
    expect(runningWith(otherMark)).toEqual([]);
    await expect(host.run(ownSandboxId, { command: ':' })).rejects.toMatchObject({ code: 'closed' });
  });

  it('of a killed service end when the next one recovers', async () => {
    const directory = await temporaryDirectory();
    const marks = [uniqueSeconds(), uniqueSeconds()];
    const command = `sleep ${marks[0]} & setsid sleep ${marks[1]} & wait`;
    const { service, exited } = await startService([directory, isolation, ownSandboxId, command, '1']);
    const ofThisService = () => marks.flatMap((mark) => runningWith(mark));
    await expect.poll(() => ofThisService().length).toBeGreaterThanOrEqual(2);
    service.kill('SIGKILL');
    await exited;
    if (isolation === 'plain') expect(ofThisService()).not.toEqual([]);
    const next = await createMachineHost({ directory, isolation });
    onTestFinished(async () => await next.close());
    await next.recover();
    expect(ofThisService()).toEqual([]);
    expect(readdirSync(join(directory, 'processes'))).toEqual([]);
  });
});

describe('a service that is killed while it starts commands', () => {
  it.skipIf(!usableIsolations.includes('bubblewrap'))('leaves no sandbox process behind', async () => {
    const directory = await temporaryDirectory();
    const mark = uniqueSeconds();
    const args = [directory, 'bubblewrap', ownSandboxId, `sleep ${mark}`, '40'];
    const { service, exited } = await startService(args);
    // Bubblewrap has this as an argument: these are its own processes, before those of the commands.
    const init = join(directory, 'init');
    await expect.poll(() => runningWith(init).length, { interval: 1 }).toBeGreaterThan(10);
    service.kill('SIGKILL');
    await exited;
    await expect.poll(() => runningWith(init)).toEqual([]);
    expect(runningWith(mark)).toEqual([]);
  });
});

describe('recovery', () => {
  it('spares a process that reuses the pid of an earlier one', async () => {
    const directory = await temporaryDirectory();
    await mkdir(join(directory, 'processes'), { recursive: true });
    const bystander = spawn('sleep', ['1000'], { detached: true, stdio: 'ignore' });
    onTestFinished(() => void bystander.kill('SIGKILL'));
    const leader = bystander.pid ?? 0;
    const startTime = readStartTime(leader);
    expect(startTime).toBeDefined();
    const records = [
      { sandboxId: ownSandboxId, leader, startTime: '1', bootId: readBootId() },
      { sandboxId: ownSandboxId, leader, startTime, bootId: 'an earlier start of the machine' },
    ];
    for (const [index, record] of records.entries()) {
      await writeFile(join(directory, 'processes', `${index}.json`), JSON.stringify(record));
    }
    await writeFile(join(directory, 'processes', 'half.json'), '{"sandboxId":"bx');
    const host = await createMachineHost({ directory, isolation: 'plain' });
    await host.recover();
    expect(bystander.exitCode ?? bystander.signalCode).toBeNull();
    expect(readStartTime(leader)).toBe(startTime);
  });
});

/** A number of seconds that no other test sleeps, so that its processes are identified by their arguments. */
function uniqueSeconds(): string {
  return String(100_000_000 + Math.floor(Math.random() * 800_000_000));
}

/** Returns when the service is about to start its commands. */
async function startService(args: readonly string[]): Promise<{ service: ChildProcess; exited: Promise<unknown> }> {
  const service = spawn(process.execPath, [childScript, ...args], { stdio: ['ignore', 'pipe', 'inherit'] });
  onTestFinished(() => void service.kill('SIGKILL'));
  const exited = new Promise((resolve) => service.once('exit', resolve));
  await new Promise((resolve) => service.stdout.once('data', resolve));
  return { service, exited };
}
