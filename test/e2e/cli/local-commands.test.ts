import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { apiKey, emptyDirectory, startService } from '../../../local-service/test/service/service-under-test.js';
import { runCli } from '../../../src/cli/run-cli.js';
import { readConfig } from '../../../src/config.js';
import { startRefusingPort, startStand } from '../../unit/client/http-harness.js';

interface Commands {
  readonly cwd: string;
  run(
    args: readonly string[],
  ): Promise<{ readonly exitCode: number; readonly stdout: string; readonly stderr: string }>;
  /** The output of the current run so far. */
  readonly printed: { stdout: string; stderr: string };
}

async function commandsFor({ service }: { readonly service: { readonly url: string } }): Promise<Commands> {
  const cwd = await emptyDirectory();
  const printed: Commands['printed'] = { stdout: '', stderr: '' };
  const env = { SANDFLOW_HOME: cwd, SANDBOX_API_URL: service.url, SANDBOX_API_KEY: apiKey };
  return {
    cwd,
    printed,
    async run(args) {
      printed.stdout = '';
      printed.stderr = '';
      const exitCode = await runCli(['local', ...args], {
        stdin: (async function* () {})(),
        stdout: { write: (text) => (printed.stdout += text) },
        stderr: { write: (text) => (printed.stderr += text) },
        main: { command: process.execPath, args: ['no-such-program.js'] },
        cwd,
        readConfig: async () => readConfig(env),
        interrupted: new AbortController().signal,
      });
      return { exitCode, ...printed };
    },
  };
}

test('a reset needs --yes, and empties a service', async () => {
  const under = await startService();
  const { run } = await commandsFor(under);
  const id = await under.ready();
  expect((await run(['reset'])).exitCode).toBe(2);
  expect((await under.call('GET', `/sandboxes/${id}`)).status).toBe(200);
  expect(await run(['reset', '--yes', '--json'])).toMatchObject({
    exitCode: 0,
    stdout: '{"reset":true,"error":null}\n',
  });
  expect((await under.call('GET', `/sandboxes/${id}`)).status).toBe(404);
});

test('a seed is added, and a wrong or missing one is refused with what to fix', async () => {
  const under = await startService();
  const { run, cwd } = await commandsFor(under);
  await writeFile(join(cwd, 'seed.json'), JSON.stringify({ version: 1, sandboxes: [{ name: 'seeded' }] }));
  const made = JSON.parse((await run(['seed', 'seed.json', '--json'])).stdout);
  expect(made.sandboxes).toMatchObject([{ name: 'seeded' }]);
  const golden = { name: 'golden', state: 'archived', snapshotName: 'toolchain' };
  await writeFile(join(cwd, 'marked.json'), `\uFEFF${JSON.stringify({ version: 1, sandboxes: [golden] })}`);
  expect((await run(['seed', 'marked.json'])).stderr).toContain(
    'Created 1 sandbox, 0 webhooks, 0 environments, 0 accounts. Snapshots: toolchain.',
  );
  await writeFile(join(cwd, 'wrong.json'), JSON.stringify({ version: 1, sandboxes: [{ name: '' }] }));
  const wrong = await run(['seed', 'wrong.json', '--json']);
  expect(wrong).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('sandboxes.0.name') });
  expect(JSON.parse(wrong.stdout).error).toMatchObject({
    code: 'bad_seed',
    status: 400,
    requestId: expect.stringMatching(/^req_/),
  });
  expect((await run(['seed', 'missing.json'])).exitCode).toBe(2);
});

test('a seed is made with the last line of what the service tells', async () => {
  const stand = await startStand((_request, response) => {
    response.end('{"made":3,"of":2000}\n{"ok":true,"sandboxes":[{}]}\n');
  });
  onTestFinished(() => stand.close());
  const { run, cwd } = await commandsFor({ service: stand });
  await writeFile(join(cwd, 'seed.json'), '{"version":1}');
  expect(await run(['seed', 'seed.json'])).toMatchObject({
    exitCode: 0,
    stderr: expect.stringContaining('Created 1 sandbox,'),
  });
});

test('a seed whose service ends before its answer has failed', async () => {
  const stand = await startStand((_request, response) => {
    response.write('{"made":1,"of":2}\n', () => response.destroy());
  });
  onTestFinished(() => stand.close());
  const { run, cwd } = await commandsFor({ service: stand });
  await writeFile(join(cwd, 'seed.json'), '{"version":1}');
  expect(await run(['seed', 'seed.json'])).toMatchObject({
    exitCode: 3,
    stderr: expect.stringContaining('has not said how this ended'),
  });
});

test('the log of a service shows each call, without secrets', async () => {
  const under = await startService();
  await under.call('POST', '/sandboxes', {
    body: { name: 'secret-body' },
    headers: { 'idempotency-key': 'a-long-key-to-be-cut' },
  });
  await under.call('GET', '/sandboxes/bx_22222222');
  await under.call('GET', '/sandboxes?limit=5&_token=hush');
  const log = async (query: string) => (await under.call('GET', `/log${query}`, { admin: true })).text;
  const all = await log('');
  expect(JSON.parse(all).calls).toMatchObject([
    { endpoint: 'createSandbox', status: 202, idempotencyKey: 'a-long-k…', code: null },
    { path: '/v1/sandboxes/bx_22222222', status: 404, code: 'sandbox_not_found', sandboxId: 'bx_22222222' },
    { path: '/v1/sandboxes?limit=5&_token=[redacted]', status: 200 },
  ]);
  for (const secret of ['secret-body', 'hush', 'a-long-key-to-be-cut', apiKey]) expect(all).not.toContain(secret);
  expect(JSON.parse(await log('?status=4xx')).calls).toHaveLength(1);
  expect(JSON.parse(await log('?endpoint=createSandbox')).calls).toMatchObject([{ method: 'POST' }]);
});

test('a missing service and one that is not a local service give different errors', async () => {
  const missing = await startRefusingPort();
  onTestFinished(() => missing.close());
  const { run } = await commandsFor({ service: missing });
  expect(await run(['clock'])).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('cannot be reached') });
  const other = await startStand((_request, response) => void response.writeHead(404).end('{"code":"not_found"}'));
  onTestFinished(() => other.close());
  const { run: runThere } = await commandsFor({ service: other });
  expect(await runThere(['clock'])).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('is not a local service'),
  });
});

test('the clock can be read, held, moved and released from the command line', async () => {
  const under = await startService();
  const { run } = await commandsFor(under);
  expect((await run(['clock'])).stdout).toMatch(/^\d{4}-\d\d-\d\dT[\d:.]+Z\n$/);
  const clockAfter = async (option: string) => JSON.parse((await run(['clock', option, '--json'])).stdout).clock;
  under.service.clock.hold();
  await delay(1_000);
  const before = Date.now();
  const released = await clockAfter('--release');
  expect(released.held).toBe(false);
  expect(Date.parse(released.now), 'it has caught up with the real time').toBeGreaterThanOrEqual(before);
  const held = await clockAfter('--hold');
  const later = await run(['clock', '--advance', '15d']);
  expect(later.stdout).toBe(`${new Date(Date.parse(held.now) + 15 * 86_400_000).toISOString()} (held)\n`);
  expect((await run(['clock', '--release'])).stdout).not.toContain('held');
  for (const args of [
    ['--hold', '--release'],
    ['--advance', 'soon'],
  ]) {
    expect((await run(['clock', ...args])).exitCode).toBe(2);
  }
});
