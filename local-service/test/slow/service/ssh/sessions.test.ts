import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ClientChannel } from 'ssh2';
import { describe, expect, it } from 'vitest';
import { ownSandboxId, runningWith, usableIsolations } from '../../../service/machine/machine-fixture.js';
import { closedOf, connect, exec, keyPair, outcomeOf, run, sshUnderTest } from '../../../service/ssh/ssh-fixture.js';

const pair = keyPair();

describe.each(usableIsolations)('a session in a %s sandbox', (isolation) => {
  it('runs a command and separates output, errors and exit code', async () => {
    const { port } = await sshUnderTest(isolation, [pair]);
    const client = await connect(port, pair);
    const outcome = await run(client, 'echo out; echo err >&2; exit 7');
    expect(outcome).toMatchObject({ stdout: 'out\n', stderr: 'err\n', code: 7 });
  });

  it('works in the home, with the environment of commands and its own variables', async () => {
    const environmentOf = (id: string) => ({ ADDED: `for ${id}` });
    const { port, host } = await sshUnderTest(isolation, [pair], { environmentOf });
    await host.writeFile(ownSandboxId, 'here', Buffer.from('x'));
    const command = 'ls; echo "$SANDBOX_ID $USER $TERM"';
    const { stdout } = await run(await connect(port, pair), `${command}; echo $ADDED`);
    const ofCommand = await host.run(ownSandboxId, { command });
    expect(stdout).toBe(`${ofCommand.stdout}for ${ownSandboxId}\n`);
  });

  it('reads input to its end and returns it byte by byte', async () => {
    const { port } = await sshUnderTest(isolation, [pair]);
    const channel = await exec(await connect(port, pair), 'cat');
    const sent = randomBytes(5 * 1024 * 1024);
    const outcome = outcomeOf(channel);
    channel.end(sent);
    const { stdout, code } = await outcome;
    expect(code).toBe(0);
    expect(Buffer.from(stdout, 'latin1').equals(sent)).toBe(true);
  });

  it('opens a shell that reads commands, with and without a terminal', async () => {
    const { port } = await sshUnderTest(isolation, [pair]);
    const client = await connect(port, pair);
    const opened = (terminal: false | { term: string; cols: number; rows: number }): Promise<ClientChannel> =>
      new Promise((resolve, reject) => {
        client.shell(terminal, {}, (error, channel) => (error ? reject(error) : resolve(channel)));
      });
    const plain = await opened(false);
    const plainOutcome = outcomeOf(plain);
    plain.end('echo $((6 * 7)); tty; exit 3\n');
    expect(await plainOutcome).toMatchObject({ stdout: '42\nnot a tty\n', code: 3 });
    const inTerminal = await opened({ term: 'xterm-256color', cols: 91, rows: 33 });
    const outcome = outcomeOf(inTerminal);
    inTerminal.write('stty size; echo "$TERM $((6 * 7))"; exit 4\n');
    const { stdout, code } = await outcome;
    expect(stdout).toContain('33 91\r\n');
    expect(stdout).toContain('xterm-256color 42\r\n');
    // The terminal echoes its input.
    expect(stdout).toContain('echo "$TERM');
    expect(code).toBe(4);
  });

  it('gives a command a terminal on request, and ^C interrupts it', async () => {
    const { port } = await sshUnderTest(isolation, [pair]);
    const client = await connect(port, pair);
    const told = await outcomeOf(await exec(client, "test -t 0 && test -t 1 && echo 'it'\"'\"'s one'; exit 5", true));
    expect(told).toMatchObject({ stdout: "it's one\r\n", code: 5 });
    const channel = await exec(
      client,
      'trap "echo caught; exit 6" INT; echo ready; while :; do sleep 0.05; done',
      true,
    );
    channel.once('data', () => channel.signal('INT'));
    const { stdout, code } = await outcomeOf(channel);
    expect(stdout).toContain('caught');
    expect(code).toBe(6);
  });

  it('ends with a signal of the client, and reports it', async () => {
    const { port } = await sshUnderTest(isolation, [pair]);
    const channel = await exec(await connect(port, pair), 'echo ready; sleep 1000');
    channel.once('data', () => channel.signal('TERM'));
    const { code, signal } = await outcomeOf(channel);
    // Bubblewrap reports signals as a shell does.
    if (isolation === 'plain') expect(signal).toBe('SIGTERM');
    else expect(code).toBe(128 + 15);
  });

  it('ends with the processes of its sandbox', async () => {
    const { port, host, directory } = await sshUnderTest(isolation, [pair]);
    const channel = await exec(await connect(port, pair), 'echo ready; sleep 1000');
    const outcome = outcomeOf(channel);
    await new Promise((resolve) => channel.once('data', resolve));
    await host.endProcesses(ownSandboxId);
    expect((await outcome).code).not.toBe(0);
    expect(readdirSync(join(directory, 'processes'))).toEqual([]);
  });

  it.each([false, true])('ends its processes when the client disconnects (terminal: %s)', async (terminal) => {
    const { port } = await sshUnderTest(isolation, [pair]);
    const client = await connect(port, pair);
    const mark = uniqueSeconds();
    // Neither output nor input shows that the client has disconnected.
    await exec(client, `exec <&- >&- 2>&-; sleep ${mark} & sleep ${mark}; :`, terminal);
    await expect.poll(() => runningWith(mark).length).toBeGreaterThanOrEqual(2);
    client.destroy();
    await expect.poll(() => runningWith(mark)).toEqual([]);
  });

  it('sends large output of both streams completely, even to a slow reader', async () => {
    const { port } = await sshUnderTest(isolation, [pair]);
    const client = await connect(port, pair);
    const bytes = 6 * 1024 * 1024;
    const part = (count: number, letter: string) => `head -c ${count} /dev/zero | tr '\\0' ${letter}`;
    const both = `${part(bytes, 'a')}; { ${part(bytes, 'b')}; } >&2; ${part(bytes, 'c')}; { ${part(bytes, 'd')}; } >&2`;
    const channel = await exec(client, both);
    const closed = new Promise((resolve) => channel.once('close', resolve));
    const hashes = [channel, channel.stderr].map(async (stream) => {
      const hash = createHash('sha256');
      let length = 0;
      stream.on('data', (chunk: Buffer) => {
        hash.update(chunk);
        length += chunk.length;
        stream.pause();
        setImmediate(() => stream.resume());
      });
      await once(stream, 'end');
      return { length, hash: hash.digest('hex') };
    });
    const expected = (first: string, second: string) => ({
      length: 2 * bytes,
      hash: createHash('sha256').update(first.repeat(bytes)).update(second.repeat(bytes)).digest('hex'),
    });
    expect(await Promise.all(hashes)).toEqual([expected('a', 'c'), expected('b', 'd')]);
    expect(await closed).toBe(0);
  });

  it('pauses a command while nobody reads its output', async () => {
    const { port, host } = await sshUnderTest(isolation, [pair]);
    const client = await connect(port, pair);
    const channel = await exec(client, 'head -c 64000000 /dev/zero && echo written >written');
    channel.pause();
    // The connection can serve another session meanwhile.
    expect((await run(client, 'head -c 64000000 /dev/zero')).stdout.length).toBe(64_000_000);
    await expect(host.readFile(ownSandboxId, 'written', 10)).rejects.toMatchObject({ code: 'not_found' });
    const { stdout } = await outcomeOf(channel.resume());
    expect(stdout.length).toBe(64_000_000);
    await expect.poll(() => host.readFile(ownSandboxId, 'written', 10).then(String, String)).toBe('written\n');
  });

  it('is refused with the reason if the sandbox has no disk', async () => {
    const { port, host } = await sshUnderTest(isolation, [pair]);
    const client = await connect(port, pair);
    await host.deleteDisk(ownSandboxId);
    expect(await run(client, 'ls')).toMatchObject({ stderr: expect.stringContaining('has no disk'), code: 255 });
  });

  it('leaves no process when the port is closed', async () => {
    const { port, server, host } = await sshUnderTest(isolation, [pair]);
    const client = await connect(port, pair);
    const closed = closedOf(client);
    const mark = uniqueSeconds();
    await exec(client, `sleep ${mark}; :`, true);
    await exec(client, `sleep ${mark}; :`);
    await expect.poll(() => runningWith(mark).length).toBeGreaterThanOrEqual(2);
    await server.close(ownSandboxId);
    expect(runningWith(mark)).toEqual([]);
    expect(await host.processes(ownSandboxId)).toEqual({ processes: [], total: 0 });
    await closed;
    await expect(connect(port, pair)).rejects.toThrow('ECONNREFUSED');
  });
});

/** A number of seconds that no other test sleeps, so that its processes are identified by their arguments. */
function uniqueSeconds(): string {
  return String(100_000_000 + Math.floor(Math.random() * 800_000_000));
}
