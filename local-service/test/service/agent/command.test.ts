import { describe, expect, it } from 'vitest';
import { createAgents } from '../../../src/agent/index.js';
import { machine, usableIsolations } from '../machine/machine-fixture.js';
import { type AgentRunOptions, runAgent } from './agent-fixture.js';

describe.each(usableIsolations)('a command agent in a %s sandbox', (isolation) => {
  async function run(command: string, prompt: string, options?: AgentRunOptions) {
    const { host } = await machine(isolation);
    return await runAgent(createAgents({ commandAgents: { codex: { command } } })('codex'), host, prompt, options);
  }

  it('gets the prompt on stdin and the request in its environment', async () => {
    const command = 'cat; echo "|$AGENT_PROVIDER|$AGENT_MODEL|$AGENT_REASONING_EFFORT|$AGENT_CONVERSATION_ID"';
    const { outcome } = await run(command, 'Hello\n```sh\ntouch x\n```', { model: 'm-1' });
    const result = `Hello\n\`\`\`sh\ntouch x\n\`\`\`|codex|m-1||conv_${'1'.repeat(24)}\n`;
    expect(outcome).toEqual({ status: 'completed', result });
  });

  it('has its complete lines passed on while it works', async () => {
    const abort = new AbortController();
    const command = String.raw`printf 'first\nsec'; sleep 0.1; printf 'ond\n\n\303'; sleep 0.1; printf '\251'; sleep 1000`;
    const seen: unknown[] = [];
    const { outcome } = await run(command, '', {
      signal: abort.signal,
      onEvent({ data }) {
        seen.push(data.text);
        if (seen.join('\n').includes('second')) abort.abort();
      },
    });
    expect(seen.join('\n')).toMatch(/^first\nsecond/);
    expect(outcome.status).toBe('interrupted');
    expect(outcome.result).toMatch(/^first\nsecond\n/);
  });

  it('fails with its exit code and the end of its stderr', async () => {
    const { outcome } = await run('echo partly; seq 1 9999 >&2; echo no key >&2; exit 7', '');
    expect(outcome).toMatchObject({ status: 'failed', result: 'partly\n' });
    const error = outcome.status === 'failed' ? outcome.error : '';
    expect(error).toMatch(/^the agent exited with 7: \[truncated\] /);
    expect(error).toMatch(/\nno key$/);
    expect(error.length).toBeLessThan(4_100);
  });

  it('has long lines split without a loss', async () => {
    const { events } = await run('head -c 200000 /dev/zero | sed "s/\\x0/\u{1F600}/g"; echo; echo end', '');
    const texts = events.map(({ data }) => String(data.text));
    expect(texts.join('').replace(/\n/g, '')).toBe(`${'\u{1F600}'.repeat(200_000)}end`);
    expect(Math.max(...texts.map((text) => Buffer.byteLength(text)))).toBeLessThanOrEqual(64 * 1024);
    expect(texts.filter((text) => /[\uD800-\uDBFF]$|^[\uDC00-\uDFFF]/.test(text))).toEqual([]);
  });

  it('has at most 2,000 events, and the last one says that there are more', async () => {
    const { events } = await run('head -c 50000000 /dev/zero | tr "\\0" a', '');
    expect(events.length).toBe(2_000);
    expect(events.at(-1)?.data.text).toMatch(/rest of the output/);
  });
});

describe('the agents of a service', () => {
  it('are commands if one is configured, scripted if that is allowed, and missing otherwise', () => {
    const agentOf = createAgents({ commandAgents: { codex: { command: 'true' } }, scriptedProviders: ['pi'] });
    expect(agentOf('codex')).toBeDefined();
    expect(agentOf('pi')).toBeDefined();
    expect(agentOf('pi')).not.toBe(agentOf('codex'));
    expect(agentOf('opencode')).toBeUndefined();
    expect(agentOf('constructor')).toBeUndefined();
    expect(createAgents()('anything')).toBeDefined();
  });
});
