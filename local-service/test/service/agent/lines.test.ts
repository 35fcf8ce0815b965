/** The JSON lines of agents' programs. `lines/` holds lines that the programs printed; test/slow/agents runs the programs themselves. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type AgentOutput, createAgents } from '../../../src/agent/index.js';
import { machine } from '../machine/machine-fixture.js';
import { runAgent } from './agent-fixture.js';

/** Runs an agent that prints these lines. */
async function print(output: AgentOutput, text: string, then = '') {
  const { host } = await machine('plain');
  const agent = createAgents({ commandAgents: { codex: { command: `cat; ${then}`, output } } })('codex');
  return await runAgent(agent, host, text);
}

const recorded = (name: string) => readFile(join(import.meta.dirname, 'lines', `${name}.jsonl`), 'utf8');

describe('the lines of Claude Code', () => {
  it('become messages, commands with their exit code, other tools, and the tokens of the prompt', async () => {
    const { outcome, events } = await print('claude-code', await recorded('claude-code'));
    const wrote =
      'File created successfully at: /home/sandbox/w.txt (file state is current in your context — no need to Read it back)';
    expect(events).toEqual([
      {
        type: 'agent.tool',
        data: { tool: 'Bash', command: 'echo out; echo err >&2; exit 3', output: 'out\nerr', exitCode: 3 },
      },
      { type: 'agent.message', data: { text: 'It printed: Exit code 3\nout\nerr\nBefore: nothing' } },
      { type: 'agent.tool', data: { tool: 'Write', detail: '/home/sandbox/w.txt', failed: false, output: wrote } },
      { type: 'agent.message', data: { text: `It printed: ${wrote}\nBefore: nothing` } },
      { type: 'agent.usage', data: { of: 'prompt', inputTokens: 22, cachedInputTokens: 0, outputTokens: 14 } },
    ]);
    expect(outcome).toEqual({ status: 'completed', result: `It printed: ${wrote}\nBefore: nothing` });
  });

  it('tell why it failed', async () => {
    const { outcome } = await print('claude-code', await recorded('claude-code-no-login'), 'exit 1');
    const error = 'the agent exited with 1: Not logged in · Please run /login';
    expect(outcome).toEqual({ status: 'failed', error, result: null });
  });
});

it.each([
  ['claude-code', '{"type":"result","is_error":true,"result":"limit reached"}'],
  ['codex', '{"type":"turn.failed","error":{"message":"limit reached"}}'],
  ['opencode', '{"type":"error","error":{"name":"x","data":{"message":"limit reached"}}}'],
] as const)('a failure that %s tells fails the prompt, also with the exit code 0', async (output, line) => {
  const { outcome } = await print(output, line);
  expect(outcome).toEqual({ status: 'failed', error: 'the agent failed: limit reached', result: null });
});

it.each([
  ['has a byte order mark before it', '\uFEFF{"type":"result","result":"done"}'],
  ['has a usage of another type', '{"type":"result","result":"done","usage":"a lot"}'],
  ['has tokens of another type', '{"type":"result","result":"done","usage":{"input_tokens":"7","output_tokens":3}}'],
  ['has other fields of another type', '{"type":"result","result":"done","subtype":1,"is_error":"no","errors":{}}'],
])('the answer of Claude Code is kept if its line %s', async (_what, line) => {
  const { outcome } = await print('claude-code', line);
  expect(outcome).toEqual({ status: 'completed', result: 'done' });
});

it('a turn that Codex completes does not fail for a usage of another type', async () => {
  const { outcome } = await print('codex', '{"type":"error","message":"x"}\n{"type":"turn.completed","usage":7}');
  expect(outcome).toMatchObject({ status: 'completed' });
});

it('an error after which Codex goes on does not fail the prompt', async () => {
  const lost = '{"type":"error","message":"Reconnecting... 1/5"}';
  const said = '{"type":"item.completed","item":{"type":"agent_message","text":"done"}}';
  const { outcome } = await print('codex', `${lost}\n${said}`);
  expect(outcome).toEqual({ status: 'completed', result: 'done' });
});

describe('the lines of Codex', () => {
  it('become messages, commands without their shell, changes of files, and the tokens of the conversation', async () => {
    const { outcome, events } = await print('codex', await recorded('codex'));
    const text =
      'It printed: Exit code: 0\nWall time: 0 seconds\nOutput:\nSuccess. Updated the following files:\nA q.txt\nBefore: nothing';
    expect(events).toEqual([
      { type: 'agent.tool', data: { tool: 'shell', command: 'exit 3', output: '', exitCode: 3 } },
      {
        type: 'agent.tool',
        data: { tool: 'file change', detail: 'add /home/sandbox/q.txt', failed: false, output: '' },
      },
      { type: 'agent.message', data: { text } },
      { type: 'agent.usage', data: { of: 'conversation', inputTokens: 22, cachedInputTokens: 0, outputTokens: 14 } },
    ]);
    expect(outcome).toEqual({ status: 'completed', result: text });
  });

  it('tell why it failed', async () => {
    const { outcome } = await print('codex', await recorded('codex-no-login'), 'exit 1');
    const error = 'the agent exited with 1: Missing environment variable: `OPENAI_API_KEY`.';
    expect(outcome).toEqual({ status: 'failed', error, result: null });
  });
});

describe('the lines of opencode', () => {
  it('become messages, commands with their exit code, other tools, and the tokens of all steps', async () => {
    const { outcome, events } = await print('opencode', await recorded('opencode'));
    expect(events).toEqual([
      { type: 'agent.tool', data: { tool: 'bash', command: 'false', output: '(no output)', exitCode: 1 } },
      { type: 'agent.message', data: { text: 'It printed: (no output)\nBefore: nothing' } },
      {
        type: 'agent.tool',
        data: { tool: 'write', detail: '/home/sandbox/o.txt', failed: false, output: 'Wrote file successfully.' },
      },
      { type: 'agent.message', data: { text: 'It printed: Wrote file successfully.\nBefore: nothing' } },
      { type: 'agent.usage', data: { of: 'prompt', inputTokens: 44, cachedInputTokens: 0, outputTokens: 28 } },
    ]);
    expect(outcome).toEqual({
      status: 'completed',
      result: 'It printed: Wrote file successfully.\nBefore: nothing',
    });
  });

  it('tell why it failed', async () => {
    const { outcome } = await print('opencode', await recorded('opencode-failure'), 'exit 1');
    const error = 'the agent exited with 1: Unexpected server error. Check server logs for details.';
    expect(outcome).toEqual({ status: 'failed', error, result: null });
  });
});

describe.each(['claude-code', 'codex', 'opencode'] as const)('the lines of %s', (output) => {
  it('may be unknown, damaged or no JSON at all: these say nothing, or are messages', async () => {
    const known = (await recorded(output)).split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line)]));
    // Each line again without one of its fields, at every depth.
    const damaged = known.flatMap((line) => without(line));
    const lines = [{}, [], 1, null, { type: 'new' }, { type: 'assistant', message: 7 }, ...damaged];
    const text = `a word\n${lines.map((line) => JSON.stringify(line)).join('\n')}\n{"type":"result","result":"cut`;
    const { outcome, events } = await print(output, text);
    expect(outcome.status).toBe('completed');
    expect(events[0]).toEqual({ type: 'agent.message', data: { text: 'a word' } });
  });

  it('are as good as missing if they are far too long', async () => {
    const last = (await recorded(output)).trim().split('\n').at(-1) ?? '';
    const { host } = await machine('plain');
    const command = 'printf "{\\"x\\":\\""; head -c 40000000 /dev/zero | tr "\\0" a; printf "\\"}\\n"; cat';
    const agent = createAgents({ commandAgents: { codex: { command, output } } })('codex');
    const { events } = await runAgent(agent, host, last);
    expect(events.map(({ type }) => type)).toEqual(['agent.usage']);
  });

  it('are as good as missing if they are nested too deeply to be read', async () => {
    const nested = `${'['.repeat(25_000)}${']'.repeat(25_000)}`;
    const { outcome, events } = await print(output, `${toolLines[output]('a tool', `{"a":${nested}}`)}\nthe end\n`);
    expect(outcome.status).toBe('completed');
    expect(events).toEqual([{ type: 'agent.message', data: { text: 'the end' } }]);
  });

  it('name a tool and what it worked on in one short line', async () => {
    const long = JSON.stringify({ path: 'a long\nname '.repeat(100_000) });
    const { events } = await print(output, toolLines[output]('a long\\ntool '.repeat(100_000), long));
    expect(events).toMatchObject([{ data: { detail: expect.stringMatching(/^a long name .{188}…$/) } }]);
    expect(events).toMatchObject([{ data: { tool: expect.stringMatching(/^.{200}…$/) } }]);
  });
});

/** A call of a tool that is no shell, with its end. The name and the input are JSON as it stands in the line. */
const toolLines: Readonly<Record<Exclude<AgentOutput, 'text'>, (name: string, input: string) => string>> = {
  'claude-code': (name, input) =>
    `{"type":"assistant","message":{"content":[{"type":"tool_use","id":"1","name":"${name}","input":${input}}]}}\n` +
    '{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"1","content":"ok"}]}}',
  codex: (name, input) =>
    `{"type":"item.completed","item":{"type":"mcp_tool_call","server":"s","tool":"${name}","arguments":${input}}}`,
  opencode: (name, input) =>
    `{"type":"tool_use","part":{"tool":"${name}","state":{"status":"completed","input":${input}}}}`,
};

/** The value without each of its fields in turn, at every depth. */
function without(value: unknown): unknown[] {
  if (Array.isArray(value)) return value.flatMap((one, index) => without(one).map((less) => value.with(index, less)));
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([name, of]) => [
    Object.fromEntries(Object.entries(value).filter(([other]) => other !== name)),
    ...without(of).map((less) => ({ ...value, [name]: less })),
  ]);
}
