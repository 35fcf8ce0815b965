/**
 * Replaces the program, with its command lines but small parts: what the supervisor starts, and a client. It
 * records each start and end in `events.jsonl` of the home directory. Runs the compiled supervisor.
 */
import { appendFileSync, existsSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { readConfig } from '../../dist/src/config.js';
import { ensureStack, runSupervisor } from '../../dist/src/supervisor/index.js';

const config = readConfig();
const [role, ...args] = process.argv.slice(2);
const self = fileURLToPath(import.meta.url);
const main = { command: process.execPath, args: [self] };
const note = (what) =>
  appendFileSync(join(config.home, 'events.jsonl'), `${JSON.stringify({ role, what, pid: process.pid })}\n`);
const option = (name) => args[args.indexOf(name) + 1];
const told = new AbortController();
for (const signal of ['SIGTERM', 'SIGINT']) process.once(signal, () => told.abort(signal));

/** The local service has no webhook, and accepts one. */
function answer({ method, url }, response) {
  if (!url?.startsWith('/v1/webhooks')) return response.end('ok');
  const webhook = { id: `wh_${'0'.repeat(24)}`, url: 'http://127.0.0.1/', events: [] };
  if (method === 'POST') note('registers a webhook');
  response.setHeader('content-type', 'application/json');
  response.end(JSON.stringify({ ok: true, webhooks: [], webhook, secret: 'whsec_test' }));
}

async function serve(path) {
  const server = createServer(answer);
  await new Promise((resolve) => server.listen(Number(option('--port')), '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${server.address().port}${path}`, close: () => server.close() };
}

async function part(path) {
  if (existsSync(join(config.home, `${role}-fails`))) {
    process.stderr.write(`the ${role} was told to fail\n`);
    process.exit(1);
  }
  const server = path === undefined ? undefined : await serve(path);
  note('started');
  process.stdout.write(`${JSON.stringify({ ready: true, url: server?.url })}\n`);
  // Without this a worker, which listens on nothing, would end.
  const alive = setInterval(() => undefined, 1000);
  told.signal.addEventListener('abort', () => {
    clearInterval(alive);
    server?.close();
    note('ended');
    process.exit(0);
  });
}

const roles = {
  local: () => part('/v1'),
  bridge: () => part(''),
  worker: () => {
    const { TEMPORAL_ADDRESS, SANDBOX_API_URL, SANDBOX_API_KEY_FILE, SANDFLOW_DEPLOYMENT } = process.env;
    const seen = { TEMPORAL_ADDRESS, SANDBOX_API_URL, SANDBOX_API_KEY_FILE, SANDFLOW_DEPLOYMENT };
    writeFileSync(join(config.home, 'worker-environment.json'), JSON.stringify(seen));
    return part(undefined);
  },
  async supervisor() {
    note('started');
    const ended = await runSupervisor(
      { ...config, idleMs: Number(process.env.TEST_IDLE_MS ?? 10_000) },
      {
        main,
        localProgram: { command: process.execPath, args: [self, 'local'] },
        foreground: process.env.TEST_FOREGROUND === '1',
        log: (line) => process.stderr.write(`${line}\n`),
        signal: told.signal,
      },
    );
    note(ended);
  },
  async client() {
    const handle = await ensureStack(config, {
      main,
      signal: told.signal,
      onProgress: (line) => process.stderr.write(`${line}\n`),
    });
    process.stdout.write(`${JSON.stringify(handle)}\n`);
    const left = new Promise((resolve) => {
      process.stdin.resume().once('end', resolve);
      told.signal.addEventListener('abort', resolve);
    });
    await Promise.race([handle.lost, left]);
    handle.release();
  },
};

try {
  await roles[role]();
  if (['supervisor', 'client'].includes(role)) process.exit(0);
} catch (error) {
  process.stderr.write(`${error.code}: ${error.message}\n`);
  process.exit(1);
}
