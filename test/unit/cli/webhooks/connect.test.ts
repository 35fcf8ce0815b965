import { readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { apiKey, startService } from '../../../../local-service/test/service/service-under-test.js';
import { readSecrets } from '../../../../src/bridge/index.js';
import { checkBridge, checkWebhook } from '../../../../src/cli/doctor/check-webhook.js';
import { parseSandboxWebhookEvent } from '../../../../src/contract/records/webhook-events.js';
import { sandboxEventTypes } from '../../../../src/contract/workflow-safe/states.js';
import { verifyDelivery } from '../../../../src/webhook/index.js';
import { cli } from '../in-process.js';
import { temporaryDirectory } from '../temporary-directory.js';

/** Answers as the bridge does, with the secrets of a file. */
async function bridgeWith(secretFile: string): Promise<string> {
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request
      .on('data', (chunk: Buffer) => chunks.push(chunk))
      .on('end', async () => {
        if (request.method === 'GET') return response.end('ready\n');
        const rawBody = Buffer.concat(chunks);
        const secrets = await readSecrets(secretFile);
        const verified = verifyDelivery({ headers: request.headers, rawBody, secrets, nowMs: Date.now() });
        const event = verified.ok ? parseSandboxWebhookEvent(JSON.parse(rawBody.toString())) : verified.reason;
        response.writeHead(verified.ok ? 200 : 401).end(`${String(event)}\n`);
      });
  });
  return listening(server);
}

async function listening(server: ReturnType<typeof createServer>): Promise<string> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function setUp() {
  const under = await startService();
  const home = await temporaryDirectory();
  const secretFile = join(home, 'webhook-secrets');
  // With both configured no stack is started, as on a machine that runs a worker and a bridge of its own.
  const env = {
    SANDFLOW_HOME: home,
    SANDBOX_API_URL: under.service.url,
    SANDBOX_API_KEY: apiKey,
    TEMPORAL_ADDRESS: '127.0.0.1:1',
  };
  const connect = async (url: string, ...more: string[]) => {
    const { exitCode, stdout } = await cli(['webhooks', 'connect', '--url', url, '--json', ...more], { env });
    return { exitCode, ...JSON.parse(stdout) };
  };
  const listed = async () => (await under.call('GET', '/webhooks')).body.webhooks;
  const path = '/webhooks/sandbox';
  return { under, home, secretFile, env, connect, listed, path };
}

test('setting up is one command: it registers the bridge, keeps its secret and tries both, and may be repeated', async () => {
  const { connect, listed, secretFile, path, env } = await setUp();
  const bridge = await bridgeWith(secretFile);
  const first = await connect(`${bridge}${path}`);
  expect(first).toMatchObject({
    exitCode: 0,
    action: 'created',
    secretFile,
    check: { result: 'accepted' },
    others: [],
  });
  expect(await connect(`${bridge}${path}`)).toMatchObject({
    exitCode: 0,
    action: 'adopted',
    webhookId: first.webhookId,
  });
  expect(await listed()).toHaveLength(1);

  // The public URL changes, as with a new tunnel: the registration follows, with its secret.
  const moved = await bridgeWith(secretFile);
  expect(await connect(`${moved}${path}`)).toMatchObject({ exitCode: 0, action: 'moved', webhookId: first.webhookId });
  expect(await listed()).toMatchObject([{ id: first.webhookId, url: `${moved}${path}` }]);

  // The secret is lost, here or because another home made the registration: it is replaced.
  await rm(secretFile);
  expect(await connect(`${moved}${path}`)).toMatchObject({
    exitCode: 0,
    action: 'rotated',
    webhookId: first.webhookId,
  });
  expect(await readFile(secretFile, 'utf8')).toMatch(/^whsec_/);
  const { stdout, stderr } = await cli(['webhooks', 'connect', '--url', `${moved}${path}`], { env });
  expect(stdout).toBe('');
  expect(stderr).toMatch(/^registration +wh\S+ delivers to .* \(adopted\)$/m);
  expect(stderr).toMatch(/^secret +kept in /m);
  expect(stderr).not.toContain('whsec_');
});

test('setting up reports a bridge with another secret, and a page that is no bridge', async () => {
  const { connect, home, path } = await setUp();
  const other = join(home, 'secrets-of-another-machine');
  await writeFile(other, 'whsec_of_another_machine\n');
  const refused = await connect(`${await bridgeWith(other)}${path}`);
  expect(refused).toMatchObject({ exitCode: 1, action: 'created', check: { result: 'refused' }, error: null });
  const page = await listening(createServer((_request, response) => response.end('<html>Welcome</html>')));
  expect(await connect(`${page}${path}`)).toMatchObject({ exitCode: 1, check: { result: 'no_bridge' } });
});

test('a registration that works is moved only to a URL where a bridge accepts a delivery, and keeps its secret until then', async () => {
  const { connect, listed, secretFile, path, env, home } = await setUp();
  const url = `${await bridgeWith(secretFile)}${path}`;
  const { webhookId } = await connect(url);
  const secret = await readFile(secretFile, 'utf8');
  const dead = `http://127.0.0.1:1${path}`;
  const unmoved = { exitCode: 1, webhookId, url, check: { result: 'no_bridge' }, error: null };
  expect(await connect(dead)).toMatchObject({ ...unmoved, action: 'adopted' });
  // Without a bridge at the URL, nothing can come of a new secret.
  expect(await connect(dead, '--rotate')).toMatchObject({ ...unmoved, action: 'adopted' });
  expect(await readFile(secretFile, 'utf8')).toBe(secret);
  const other = join(home, 'secrets-of-another-machine');
  await writeFile(other, '');
  const elsewhere = `${await bridgeWith(other)}${path}`;
  expect(await connect(elsewhere)).toMatchObject({ ...unmoved, check: { result: 'refused' } });
  expect(await listed()).toMatchObject([{ id: webhookId, url }]);
  const { stderr } = await cli(['webhooks', 'connect', '--url', dead], { env });
  expect(stderr).toContain(`${webhookId} delivers to ${url} (as before, not to ${dead})`);
  expect(stderr).toContain(`sandflow api PATCH /webhooks/${webhookId} --field url=URL`);

  await writeFile(other, secret);
  expect(await connect(elsewhere)).toMatchObject({ exitCode: 0, action: 'moved', webhookId, url: elsewhere });
  expect(await listed()).toMatchObject([{ id: webhookId, url: elsewhere }]);
});

test('--no-test registers before the bridge runs: it may be repeated, sends nothing, and neither moves a registration nor replaces a secret', async () => {
  const { connect, listed, secretFile, path, env } = await setUp();
  const early = `http://127.0.0.1:1${path}`;
  const first = await connect(early, '--no-test');
  expect(first).toMatchObject({ exitCode: 0, action: 'created', url: early, check: null, error: null });
  const secret = await readFile(secretFile, 'utf8');
  expect(await connect(early, '--no-test')).toMatchObject({ exitCode: 0, action: 'adopted' });

  // It cannot know whether a bridge answers there, so it moves nothing.
  const url = `${await bridgeWith(secretFile)}${path}`;
  const second = await connect(url, '--no-test');
  expect(second).toMatchObject({ exitCode: 0, action: 'created', others: [{ id: first.webhookId, url: early }] });
  expect((await listed()).map((one: { url: string }) => one.url).sort()).toEqual([early, url].sort());
  expect(await readFile(secretFile, 'utf8')).not.toBe(secret);
  // The bridge runs now, with the secret that was kept.
  expect(await connect(url)).toMatchObject({ exitCode: 0, action: 'adopted', check: { result: 'accepted' } });

  await rm(secretFile);
  expect(await connect(url, '--no-test')).toMatchObject({ exitCode: 2, error: { code: 'webhook_secret_unknown' } });
  expect(await connect(url, '--no-test', '--rotate')).toMatchObject({ exitCode: 0, action: 'rotated' });
  const { exitCode, stderr } = await cli(['webhooks', 'connect', '--no-test', '--url', url], { env });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: expect.stringMatching(/^check +none$/m) });
  expect(stderr).not.toMatch(/warning|whsec_/);
});

test('setting up needs the public URL of a bridge that it does not know', async () => {
  const { env } = await setUp();
  expect(await cli(['webhooks', 'connect'], { env })).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('--url https://…/webhooks/sandbox'),
  });
});

test('doctor names the registration that is not the bridge of the stack, the other secret, and the cure', async () => {
  const { secretFile, path, connect, env } = await setUp();
  const bridge = await bridgeWith(secretFile);
  await connect(`${bridge}${path}`);
  const webhooks = [{ id: 'wh_1', url: `${bridge}${path}`, events: [] }];
  const reads = { listWebhooks: async () => ({ type: 'webhook.list', webhooks }) } as never;
  const { check } = await checkWebhook(reads, env.SANDBOX_API_URL, 'http://127.0.0.1:9');
  expect(check).toMatchObject({ status: 'failed', mend: 'Run `sandflow webhooks connect`.' });
  expect(check.message).toContain('listens at http://127.0.0.1:9');
  const none = { listWebhooks: async () => ({ type: 'webhook.list', webhooks: [] }) } as never;
  expect((await checkWebhook(none, 'https://api.example.com/v1')).check.mend).toContain('--url https://YOUR-BRIDGE');

  const config = { webhookSecrets: [], webhookSecretFile: secretFile };
  expect(await checkBridge(bridge, config)).toMatchObject({ status: 'ok' });
  await writeFile(secretFile, 'whsec_new\n');
  expect(await checkBridge(bridge, { ...config, webhookSecretFile: secretFile })).toMatchObject({ status: 'ok' });
  expect(await checkBridge(bridge, { webhookSecrets: ['whsec_old'], webhookSecretFile: '/none' })).toMatchObject({
    status: 'failed',
    message: expect.stringContaining('another secret'),
  });
});

test('doctor tells of deliveries that another secret signed, and how to replace the secret', async () => {
  const page = await listening(createServer((_request, response) => response.end('ready\nrefused signatures: 2\n')));
  expect(await checkBridge(page)).toMatchObject({
    status: 'warning',
    message: expect.stringContaining('refused 2 deliveries'),
    mend: expect.stringMatching(/webhooks connect.*--rotate.*webhooks rotate/),
  });
  const foreign = await listening(
    createServer(({ method }, response) =>
      response.end(method === 'POST' ? 'missing_headers\n' : 'ready\nrefused signatures: no\n'),
    ),
  );
  expect(await checkBridge(foreign)).toMatchObject({ status: 'ok' });
});

test('doctor tells of a clock that makes the bridge refuse what the service has signed', async () => {
  const line = 'refused timestamps: 1';
  const page = await listening(createServer((_request, response) => response.end(`ready\n${line}\n`)));
  expect(await checkBridge(page)).toMatchObject({
    status: 'warning',
    message: expect.stringMatching(/refused a delivery .* clock of the bridge differ by more than 300 s/),
    mend: expect.stringContaining('NTP'),
  });
});

test.each([
  ['bad_signature', 'another secret', 'copy the secret'],
  ['stale_timestamp', 'differ by more than 300 s', 'Set the clock'],
  ['missing_headers', 'not all headers', 'proxy'],
  ['malformed_headers', 'malformed', 'proxy'],
  ['unauthorized', 'another secret', 'copy the secret'],
  ['no_secret', 'no secret yet', 'copy the secret'],
])('a test delivery that a bridge refuses as %s is told so, with what helps', async (answer, why, help) => {
  const page = await listening(
    createServer(({ method }, response) => {
      response.writeHead(method === 'GET' ? 200 : answer === 'no_secret' ? 503 : 401);
      response.end(method === 'GET' ? 'ready\n' : `${answer}\n`);
    }),
  );
  const check = await checkBridge(page, { webhookSecrets: ['whsec_one'], webhookSecretFile: '/none' });
  expect(check).toMatchObject({ status: 'failed', message: expect.stringContaining(why) });
  expect(check.mend).toContain(help);
});

test('a path that leads to no bridge is told at the registration, and by doctor', async () => {
  const { home, env, secretFile } = await setUp();
  // A balancer that passes on monitors only.
  const balancer = await listening(
    createServer(({ method, url }, response) => {
      const isPage = method === 'GET' && url === '/sandflow/readyz';
      response.writeHead(isPage ? 200 : 404).end(isPage ? 'ready\n' : 'not_found\n');
    }),
  );
  const wrong = `${balancer}/sandflow/webhooks`;
  const { exitCode, stderr } = await cli(['webhooks', 'connect', '--no-test', '--url', wrong], { env });
  expect({ exitCode, stderr }).toEqual({
    exitCode: 0,
    stderr: expect.stringMatching(/^warning: A bridge receives deliveries at …\/webhooks\/sandbox.*404/m),
  });
  const webhooks = [{ id: 'wh_1', url: wrong, events: [] }];
  const reads = { listWebhooks: async () => ({ type: 'webhook.list', webhooks }) } as never;
  const { check } = await checkWebhook(reads, env.SANDBOX_API_URL);
  expect(check).toMatchObject({ status: 'failed' });
  expect(check.message).toContain(`No registered URL ends with /webhooks/sandbox: ${wrong}.`);

  const right = [{ id: 'wh_1', url: `${balancer}/sandflow/webhooks/sandbox/`, events: [...sandboxEventTypes] }];
  const rightReads = { listWebhooks: async () => ({ type: 'webhook.list', webhooks: right }) } as never;
  const { check: registered, bridgeUrl } = await checkWebhook(rightReads, env.SANDBOX_API_URL);
  expect({ status: registered.status, bridgeUrl }).toEqual({ status: 'ok', bridgeUrl: `${balancer}/sandflow` });
  const without = { webhookSecrets: [], webhookSecretFile: join(home, 'none') };
  for (const config of [without, { ...without, webhookSecretFile: secretFile }]) {
    const { status, message } = await checkBridge(bridgeUrl, config);
    expect(status).toBe('failed');
    expect(message).toContain('404 not_found');
  }
});
