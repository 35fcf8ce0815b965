import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createAgents } from '../../../src/agent/index.js';
import { machine, ownSandboxId, runningWith, usableIsolations } from '../machine/machine-fixture.js';
import { runAgent } from './agent-fixture.js';

const agent = createAgents()('codex');
const block = (...lines: string[]) => `\`\`\`sh\n${lines.join('\n')}\n\`\`\`\n`;

describe.each(usableIsolations)('the scripted agent in a %s sandbox', (isolation) => {
  it('runs the shell blocks in order, reports each, and answers with their output', async () => {
    const { host } = await machine(isolation);
    const prompt = `Count:\n${block('echo one > file', 'cat file')}then\n${block('echo two >> file; cat file; echo note >&2')}`;
    const { outcome, events } = await runAgent(agent, host, prompt);
    expect(outcome).toEqual({ status: 'completed', result: 'one\none\ntwo\n' });
    expect(events).toEqual([
      { type: 'agent.tool', data: { command: 'echo one > file\ncat file\n', exitCode: 0, output: 'one\n' } },
      { type: 'agent.message', data: { text: 'one\n', part: true, block: 1, from: 0 } },
      {
        type: 'agent.tool',
        data: { command: 'echo two >> file; cat file; echo note >&2\n', exitCode: 0, output: 'one\ntwo\nnote\n' },
      },
      { type: 'agent.message', data: { text: 'one\ntwo\n', part: true, block: 2, from: 0 } },
    ]);
  });

  it('tells what a block prints while the block runs, and tells nothing twice', async () => {
    const { host } = await machine(isolation);
    const waiting =
      'echo begun; for i in $(seq 500); do test -e go && break; sleep 0.02; done; echo note >&2; echo ended';
    const { outcome, events } = await runAgent(agent, host, block(waiting), {
      onEvent({ data: { text } }) {
        if (text === 'begun\n') void host.writeFile(ownSandboxId, 'go', Buffer.from(''));
      },
    });
    expect(outcome).toEqual({ status: 'completed', result: 'begun\nended\n' });
    expect(events).toEqual([
      { type: 'agent.message', data: { text: 'begun\n', part: true, block: 1, from: 0 } },
      { type: 'agent.tool', data: { command: `${waiting}\n`, exitCode: 0, output: 'ended\nnote\n' } },
      { type: 'agent.message', data: { text: 'ended\n', part: true, block: 1, from: 6 } },
    ]);
  });

  it('does not tell the lines of an interrupted block again after a restart, and answers with its new output', async () => {
    const { host } = await machine(isolation);
    const part = (text: string, block: number, from: number) =>
      ({ type: 'agent.message', data: { text, part: true, block, from } }) as const;
    const ran = { type: 'agent.tool', data: { command: 'ran', exitCode: 0, output: '' } } as const;
    const prompt = block('touch never') + block('echo a; echo x; echo c');
    const earlier = [part('one\n', 1, 0), ran, part('a\nb\n', 2, 0)];
    const again = await runAgent(agent, host, prompt, { earlier });
    expect(again.outcome).toEqual({ status: 'completed', result: 'one\na\nx\nc\n' });
    expect(again.events).toEqual([
      { type: 'agent.tool', data: { command: 'echo a; echo x; echo c\n', exitCode: 0, output: 'x\nc\n' } },
      part('x\nc\n', 2, 2),
    ]);
    const rest = block('echo last');
    const third = await runAgent(agent, host, prompt + rest, { earlier: [...earlier, ran, part('x\nc\n', 2, 2)] });
    expect(third.outcome.result).toBe('one\na\nx\nc\nlast\n');
    await expect(host.readFile(ownSandboxId, 'never', 10)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('stops at the first failing block and keeps its output', async () => {
    const { host } = await machine(isolation);
    const prompt = block('echo fine') + block('echo half; echo broken >&2; exit 3') + block('touch never');
    const { outcome } = await runAgent(agent, host, prompt);
    expect(outcome).toEqual({ status: 'failed', error: 'block 2 exited with 3', result: 'fine\nhalf\nbroken\n' });
    await expect(host.readFile(ownSandboxId, 'never', 10)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('reports that a signal ended a block', async () => {
    const { host } = await machine(isolation);
    const { outcome } = await runAgent(agent, host, block('kill -KILL $$'));
    // Bubblewrap reports a signal as a shell does: 128 plus its number.
    const error = isolation === 'plain' ? 'block 1 was killed by a signal' : 'block 1 exited with 137';
    expect(outcome).toEqual({ status: 'failed', error, result: null });
  });

  it('describes itself if there is no shell block', async () => {
    const { host } = await machine(isolation);
    const { outcome, events } = await runAgent(agent, host, '\nWrite me a poem\nabout ```rivers```');
    expect(outcome.status).toBe('completed');
    expect(outcome.result).toMatch(/scripted agent.*has no shell block: "Write me a poem"$/);
    expect(events).toEqual([{ type: 'agent.message', data: { text: outcome.result } }]);
  });

  it('is interrupted with its processes, which are asked to end first', async () => {
    const { host } = await machine(isolation);
    const abort = new AbortController();
    const mark = String(100_000_000 + Math.floor(Math.random() * 800_000_000));
    const prompt = block('echo begun') + block(`echo half; sleep ${mark} & sleep ${mark}`) + block('touch never');
    const running = runAgent(agent, host, prompt, { signal: abort.signal });
    await expect.poll(() => runningWith(mark).length).toBeGreaterThanOrEqual(2);
    const kill = vi.spyOn(process, 'kill');
    onTestFinished(() => kill.mockRestore());
    abort.abort();
    const { outcome } = await running;
    expect(outcome).toEqual({ status: 'interrupted', result: 'begun\nhalf\n' });
    expect(kill.mock.calls.map(([, signal]) => signal).find((signal) => signal !== 0)).toBe('SIGTERM');
    expect(runningWith(mark)).toEqual([]);
    await expect(host.readFile(ownSandboxId, 'never', 10)).rejects.toMatchObject({ code: 'not_found' });
  });

  it('does nothing if it was interrupted before it started', async () => {
    const { host } = await machine(isolation);
    const { outcome, events } = await runAgent(agent, host, block('touch never'), { signal: AbortSignal.abort() });
    expect([outcome, events]).toEqual([{ status: 'interrupted', result: null }, []]);
  });

  it('keeps 1 MiB of the result, cut between characters, and says what it omitted', async () => {
    const { host } = await machine(isolation);
    const { outcome } = await runAgent(agent, host, block('head -c 1500000 /dev/zero | sed "s/\\x0/é/g"'));
    const [kept = '', mark] = outcome.result?.split('\n') ?? [];
    expect(Buffer.byteLength(kept)).toBe(1024 * 1024);
    expect(new Set(kept)).toEqual(new Set(['é']));
    expect(mark).toBe(`[truncated: ${3_000_000 - 1024 * 1024} more bytes]`);
  });
});
