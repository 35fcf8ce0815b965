/** Foreign texts at every printer of the command line: a terminal obeys none, and none looks like a line of ours. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, describe, expect, it } from 'vitest';
import { createReporter } from '../../../src/cli/output/reporter.js';
import { createPaint, createTerminal } from '../../../src/cli/output/terminal.js';
import { runCli } from '../../../src/cli/run-cli.js';
import { readConfig } from '../../../src/config.js';
import { temporaryDirectory } from '../../unit/cli/temporary-directory.js';
import { aSandbox, createClosing, sendJson, startStand } from '../../unit/client/http-harness.js';
import { commandNames } from '../../unit/house/cli-grammar.js';
import { hostileTexts, madeHostile, unsafeIn } from './hostile-texts.js';

const closing = createClosing();
afterEach(closing.closeAll);

/** A terminal with colours, or a pipe, that keeps what is written. */
function screen(isTTY: boolean) {
  const chunks: (string | Uint8Array)[] = [];
  return {
    stream: {
      isTTY,
      columns: 100,
      rows: 40,
      hasColors: () => isTTY,
      write: (text: string | Uint8Array) => void chunks.push(text),
    },
    text: () => Buffer.concat(chunks.map((chunk) => Buffer.from(chunk))).toString(),
  };
}

/** @param interrupted Ctrl-C. Default: soon, for a command that waits for ever */
async function run(
  args: readonly string[],
  env: Readonly<Record<string, string>>,
  isTTY = true,
  interrupted = AbortSignal.timeout(5_000),
) {
  const home = await temporaryDirectory();
  await writeFile(join(home, 'items.jsonl'), `${JSON.stringify({ id: 'a', prompt: 'b' })}\n`);
  const [stdout, stderr] = [screen(isTTY), screen(isTTY)];
  const exitCode = await runCli(args, {
    stdin: (async function* () {})(),
    stdout: stdout.stream,
    stderr: stderr.stream,
    cwd: home,
    main: { command: process.execPath, args: ['no-such-program.js'] },
    readConfig: async () => readConfig({ SANDFLOW_HOME: home, SANDFLOW_PATIENCE_SECONDS: '1', ...env }),
    interrupted,
  });
  return { exitCode, stdout: stdout.text(), stderr: stderr.text() };
}

const webhook = {
  id: 'wh_1',
  name: 'hook',
  url: 'http://h.example/',
  events: ['sandbox.ready'],
  createdAt: '2026-01-01',
};
const stop = { id: 'stop_1', status: 'failing', error: 'full', requestedAt: '2026-01-01T00:00:00.000Z' };

/** A service that answers every read with the requested record, with every text in it hostile. */
async function hostileService(status: number) {
  const stand = await startStand(({ url = '' }, response) => {
    response.setHeader('x-request-id', 'req\u009b2J');
    if (status !== 200) {
      const body = {
        ok: false,
        type: 'error',
        status,
        code: 'bad',
        message: 'no',
        requestId: 'req',
        details: { url: 'http://x' },
      };
      return sendJson(response, status, { ...(madeHostile(body) as object), status });
    }
    const sandbox = { ...aSandbox, name: 'mine', environment: 'web', error: 'none', stop };
    const all = {
      ok: true,
      sandbox,
      sandboxes: [sandbox],
      webhooks: [webhook],
      prompts: [],
      events: [],
      nextCursor: null,
    };
    const { sandboxes, ...rest } = madeHostile(all) as typeof all;
    sendJson(
      response,
      200,
      url.includes('/sandboxes?') || url.endsWith('/sandboxes') ? { ...rest, sandboxes } : { ...rest },
    );
  });
  return {
    SANDBOX_API_URL: closing.keep(stand).url,
    SANDBOX_API_KEY: 'key',
    SANDBOX_WEBHOOK_SECRET: 'whsec_0123456789abcdef',
  };
}

const id = aSandbox.id;
/** The arguments that each command needs to reach its first call. */
const commandArguments: Readonly<Record<string, readonly string[]>> = {
  run: ['say hello', '--name', hostileTexts],
  fanout: ['items.jsonl', '--from', id],
  api: ['GET', '/sandboxes'],
  'sandboxes show': [id],
  stop: [id],
  'stops explain': [id],
  'webhooks rotate': ['wh_123'],
  'webhooks delete': ['wh_123'],
  'local seed': ['items.jsonl'],
  'local reset': ['--yes'],
};
/** Commands that run until they are ended, and print what they log; `createLogLines` and the log of the worker use the same stream. */
const serverCommands = new Set(['codec-server', 'worker', 'bridge', 'local', 'supervisor']);

describe.each([true, false])('a terminal obeys no text of a service (a terminal: %s)', (isTTY) => {
  describe.each([200, 403])('in an answer with status %d', (status) => {
    it('in any command', async () => {
      const env = { ...(await hostileService(status)), TEMPORAL_ADDRESS: '127.0.0.1:1' };
      for (const name of commandNames().filter((one) => !serverCommands.has(one))) {
        const args = [...name.split(' '), ...(commandArguments[name] ?? [hostileTexts])];
        const { stdout, stderr } = await run(args, env, isTTY);
        expect({
          name,
          stdout: unsafeIn(stdout, { coloured: isTTY }),
          stderr: unsafeIn(stderr, { coloured: isTTY }),
        }).toEqual({
          name,
          stdout: [],
          stderr: [],
        });
        expect(stderr.split('\n').filter((line) => line === 'error: all is well')).toEqual([]);
      }
    });
  });

  it('in a JSON answer, which is exact', async () => {
    const env = { ...(await hostileService(200)), SANDFLOW_PATIENCE_SECONDS: '60' };
    const never = new AbortController().signal;
    const { stdout } = await run(['webhooks', 'list', '--json'], env, isTTY, never);
    expect(unsafeIn(stdout)).toEqual([]);
    expect(JSON.parse(stdout).webhooks[0].name).toBe(`hook${hostileTexts}`);
  });
});

describe('the terminal output', () => {
  it('contains nothing that a terminal would obey', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const { stream, text: written } = screen(true);
        const terminal = createTerminal(stream);
        terminal.write(text);
        terminal.write(createPaint(terminal)('red', text));
        terminal.write(Buffer.from(text));
        return unsafeIn(written(), { coloured: true }).length === 0;
      }),
    );
  });

  it('has our colours, and none from a text', () => {
    const { stream, text } = screen(true);
    const terminal = createTerminal(stream);
    terminal.write(`${createPaint(terminal)('red', 'error:')} \u001b[31mred\u001b[39m\n`);
    expect(text()).toBe('\u001b[31merror:\u001b[39m \ufffd[31mred\ufffd[39m\n');
  });

  it('shows messages of a job in lines that differ from ours', () => {
    const { stream, text } = screen(true);
    const reporter = createReporter({ stream: createTerminal(stream), quiet: false });
    reporter.notice(hostileTexts);
    reporter.entries([{ kind: 'message', prompt: 1, text: hostileTexts, at: null }], { sandboxId: null });
    reporter.close();
    expect(unsafeIn(text(), { coloured: true })).toEqual([]);
    expect(
      text()
        .split('\n')
        .filter((line) => line.startsWith('error: all is well')),
    ).toEqual([]);
  });

  it('makes bytes safe only for a terminal, and leaves them exact in a pipe', () => {
    const [terminal, pipe] = [screen(true), screen(false)];
    for (const { stream } of [terminal, pipe]) createTerminal(stream).write(Buffer.from('\u001b[2J'));
    expect([terminal.text(), pipe.text()]).toEqual(['\ufffd[2J', '\u001b[2J']);
  });
});
