/** All commands of a sandbox, its agents and its SSH sessions work on one machine, from its first command to its stop. */
import { spawn } from 'node:child_process';
import { rm, statfs } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createAgents } from '../../../src/agent/index.js';
import { makePipesFolders } from '../../../src/machine/running/pipes-folder.js';
import { runAgent } from '../agent/agent-fixture.js';
import { connect, keyPair, run, sshUnderTest } from '../ssh/ssh-fixture.js';
import { machine, ownSandboxId, runningWith, temporaryDirectory, usableIsolations } from './machine-fixture.js';

const childScript = fileURLToPath(new URL('./child.mjs', import.meta.url));
const bubblewrap = usableIsolations.includes('bubblewrap');
const hasMemory = (await statfs('/dev/shm').catch(() => undefined))?.type === 0x01021994;

/** Answers one line to each connection, at the port that it writes into the file `port`. */
const server = `perl -MIO::Socket::INET -e '
  my $s = IO::Socket::INET->new(Listen => 5, LocalAddr => "127.0.0.1") or die;
  open(my $f, ">", "port.new"); print $f $s->sockport; close $f; rename "port.new", "port";
  while (my $c = $s->accept) { print $c "an answer\\n"; close $c }'`;
const ask = `until [ -e port ]; do sleep 0.02; done; perl -MIO::Socket::INET -e '
  open(my $f, "<", "port"); my $c = IO::Socket::INET->new("127.0.0.1:" . <$f>) or die "nobody listens"; print <$c>'`;

function uniqueSeconds(): string {
  return String(100_000_000 + Math.floor(Math.random() * 800_000_000));
}

describe.each(usableIsolations)('a %s sandbox', (isolation) => {
  it.each(['&', 'with nohup', 'in its own session'])('keeps a server that a command has started (%s)', async (how) => {
    const { host } = await machine(isolation);
    const before = { '&': '', 'with nohup': 'nohup ', 'in its own session': 'setsid ' }[how];
    expect(await host.run(ownSandboxId, { command: `${before}${server} >/dev/null 2>&1 &` })).toMatchObject({
      exitCode: 0,
    });
    for (let times = 0; times < 2; times += 1) {
      expect(await host.run(ownSandboxId, { command: ask })).toMatchObject({ stdout: 'an answer\n', exitCode: 0 });
    }
  });

  it('is the same for commands, prompts and SSH sessions', async () => {
    const pair = keyPair();
    const { host, port } = await sshUnderTest(isolation, [pair]);
    const client = await connect(port, pair);
    expect((await run(client, `nohup ${server} >/dev/null 2>&1 &`)).code).toBe(0);
    client.end();
    const prompt = `\`\`\`sh\n${ask}\nsleep 1000 >/dev/null 2>&1 &\n\`\`\`\n`;
    const { outcome } = await runAgent(createAgents()('codex'), host, prompt);
    expect(outcome).toEqual({ status: 'completed', result: 'an answer\n' });
    expect((await host.run(ownSandboxId, { command: ask })).stdout).toBe('an answer\n');
    const commands = async () => (await host.processes(ownSandboxId)).processes.map(({ command }) => command);
    await expect.poll(async () => (await commands()).sort()).toEqual([expect.stringMatching(/^perl/), 'sleep 1000']);
  });

  it('lists what a command has left in the background, with its command id', async () => {
    const { host } = await machine(isolation);
    await host.run(ownSandboxId, { command: 'sleep 2001 >/dev/null 2>&1 &', commandId: 'cmd_1' });
    await host.run(ownSandboxId, { command: 'sleep 2002 >/dev/null 2>&1 &', commandId: 'cmd_2' });
    const rows = async () =>
      (await host.processes(ownSandboxId)).processes.map(({ command, commandId }) => `${command} of ${commandId}`);
    await expect.poll(async () => (await rows()).sort()).toEqual(['sleep 2001 of cmd_1', 'sleep 2002 of cmd_2']);
    await host.endProcesses(ownSandboxId);
    expect(await host.processes(ownSandboxId)).toEqual({ processes: [], total: 0 });
  });

  it.each(['endProcesses', 'deleteDisk', 'close'] as const)('ends what is in the background with %s', async (call) => {
    const { host } = await machine(isolation);
    const mark = uniqueSeconds();
    await host.run(ownSandboxId, { command: `sleep ${mark} & setsid sleep ${mark} >/dev/null 2>&1 &` });
    await expect.poll(() => runningWith(mark).length).toBe(2);
    await host[call](ownSandboxId);
    expect(runningWith(mark)).toEqual([]);
  });

  it('asks what is in the background to end before it stops', async () => {
    const { host } = await machine(isolation);
    const command =
      '(trap "echo saved >saved; exit" TERM; touch ready; while :; do sleep 0.05; done) >/dev/null 2>&1 &';
    await host.run(ownSandboxId, { command });
    await host.run(ownSandboxId, { command: 'until [ -e ready ]; do sleep 0.02; done' });
    await host.endProcesses(ownSandboxId);
    expect((await host.readFile(ownSandboxId, 'saved', 100)).toString()).toBe('saved\n');
  });

  it('starts commands that handle each signal as they wish', async () => {
    const { host } = await machine(isolation);
    const { stdout } = await host.run(ownSandboxId, { command: 'grep -E "^Sig(Ign|Blk)" /proc/self/status' });
    expect(stdout).toBe('SigBlk:\t0000000000000000\nSigIgn:\t0000000000000000\n');
  });
});

describe.skipIf(!bubblewrap)('a bubblewrap sandbox', () => {
  it('ends with a service that is killed, with all that is in the background', async () => {
    const mark = uniqueSeconds();
    const command = `sleep ${mark} >/dev/null 2>&1 & setsid sleep ${mark} >/dev/null 2>&1 &`;
    const args = [childScript, await temporaryDirectory(), 'bubblewrap', ownSandboxId, command, '1'];
    const service = spawn(process.execPath, args, { stdio: ['pipe', 'pipe', 'inherit'] });
    onTestFinished(() => void service.kill('SIGKILL'));
    await expect.poll(() => runningWith(mark).length).toBe(2);
    service.kill('SIGKILL');
    await expect.poll(() => runningWith(mark)).toEqual([]);
  });

  it('is one machine to its programs: one process table, one name, one /dev/shm', async () => {
    const { host } = await machine('bubblewrap');
    const look = 'readlink /proc/self/ns/pid /proc/self/ns/ipc /proc/self/ns/mnt /proc/self/ns/net; hostname';
    const first = await host.run(ownSandboxId, {
      command: `${look}; echo shared >/dev/shm/note; sleep 3001 >&- 2>&- &`,
    });
    expect((await host.run(ownSandboxId, { command: look })).stdout).toBe(first.stdout);
    expect((await host.run(ownSandboxId, { command: 'cat /dev/shm/note' })).stdout).toBe('shared\n');
    const find = 'for f in /proc/[0-9]*/cmdline; do tr "\\0" " " <$f; echo; done';
    await expect.poll(async () => (await host.run(ownSandboxId, { command: find })).stdout).toContain('sleep 3001 ');
    await host.endProcesses(ownSandboxId);
    const after = await host.run(ownSandboxId, { command: `${look}; ls /dev/shm` });
    expect(after.stdout.split('\n')[0]).not.toBe(first.stdout.split('\n')[0]);
    expect(after.stdout).not.toContain('note');
  });

  it('leaves no zombie', async () => {
    const { host } = await machine('bubblewrap');
    // Each inner process outlives its parent.
    const command = 'for i in 1 2 3 4 5 6 7 8; do (sleep 0.05 &); done';
    for (let times = 0; times < 3; times += 1) await host.run(ownSandboxId, { command });
    const states = { command: 'cat /proc/[0-9]*/stat 2>/dev/null | sed "s/.*) //" | cut -c1 | sort | tr -d "\\n"' };
    await expect.poll(async () => (await host.run(ownSandboxId, states)).stdout).not.toContain('Z');
  });

  it('goes on after a signal to all of its processes, and starts again after SIGKILL', async () => {
    const { host } = await machine('bubblewrap');
    const mark = uniqueSeconds();
    await host.run(ownSandboxId, { command: `(trap "" TERM; exec sleep ${mark}) >/dev/null 2>&1 &` });
    await expect.poll(() => runningWith(mark).length).toBe(1);
    await host.run(ownSandboxId, { command: 'kill -TERM -1' });
    expect((await host.run(ownSandboxId, { command: 'echo goes on' })).stdout).toBe('goes on\n');
    expect(runningWith(mark)).toHaveLength(1);
    expect((await host.run(ownSandboxId, { command: 'kill -KILL -1' })).exitCode).toBe(null);
    expect((await host.run(ownSandboxId, { command: 'echo is back' })).stdout).toBe('is back\n');
    expect(runningWith(mark)).toEqual([]);
  });

  it('starts once for commands that find it ended, and runs each of them once', async () => {
    const { host } = await machine('bubblewrap');
    const ending = host.run(ownSandboxId, { command: 'kill -KILL -1' });
    const runs = Array.from({ length: 8 }, (_, i) => host.run(ownSandboxId, { command: `echo ${i} >>ran; sleep 0.5` }));
    await ending;
    const later = Array.from({ length: 8 }, (_, i) =>
      host.run(ownSandboxId, { command: `echo later ${i} >>ran; sleep 0.5` }),
    );
    await Promise.all(runs);
    expect((await Promise.all(later)).map(({ exitCode }) => exitCode)).toEqual(later.map(() => 0));
    const lines = (await host.readFile(ownSandboxId, 'ran', 1_000)).toString().trim().split('\n');
    expect(new Set(lines).size).toBe(lines.length);
    expect(lines.filter((line) => line.startsWith('later'))).toHaveLength(8);
  });

  it('runs commands at once, each with its own output', async () => {
    const { host } = await machine('bubblewrap');
    const runs = Array.from({ length: 30 }, (_, i) =>
      host.run(ownSandboxId, { command: `read word; echo ${i} $word; exit ${i}`, stdin: `of ${i}\n` }),
    );
    const outcomes = await Promise.all(runs);
    expect(outcomes.map(({ stdout, exitCode }) => [stdout, exitCode])).toEqual(
      outcomes.map((_, i) => [`${i} of ${i}\n`, i]),
    );
  });

  it.runIf(hasMemory)('goes on, with what runs in it, when the memory for pipes is cleared', async () => {
    const { host, directory } = await machine('bubblewrap');
    await host.run(ownSandboxId, { command: 'sleep 1000 >/dev/null 2>&1 & echo $! >pid' });
    const [fastest = ''] = await makePipesFolders(directory);
    await rm(fastest, { recursive: true });
    for (let times = 0; times < 20; times += 1) {
      const { stdout } = await host.run(ownSandboxId, { command: 'kill -0 "$(cat pid)" && echo lives' });
      expect(stdout).toBe('lives\n');
    }
    await host.endProcesses(ownSandboxId);
    expect(await host.run(ownSandboxId, { command: 'echo again' })).toMatchObject({ stdout: 'again\n' });
  });
});
