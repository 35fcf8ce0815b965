/** Secrets planted in every possible place, and searched in every place that a run of the command line writes to. */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { startService } from '../../../../local-service/test/service/service-under-test.js';
import { createCliHome } from '../../../e2e/cli/program.js';
import { patient, shell } from '../../../e2e/stack/fixture.js';
import { listeningPorts } from './listening-ports.js';

/** None of them is part of another, and none occurs by chance. */
const canaries = {
  apiKey: 'canary-of-the-api-key-7f3a91',
  webhookSecret: 'whsec_canaryofthewebhook5b20c4',
  secretFile: 'canary-of-a-secret-file-c81e02',
  environment: 'canary-of-an-environment-90d3be',
  desktopUrl: 'canary-of-the-desktop-44af17',
  token: 'canary-of-a-token-e6b905',
};
/** The result store contains it, as documented. It is nowhere else. */
const setupCanary = 'canary-of-a-setup-script-2d7c58';
/** A control: the search finds this prompt. */
const control = 'canary-of-a-prompt-ab61d9';

type Found = Record<string, readonly string[]>;

function foundIn(places: Readonly<Record<string, Buffer | string>>, texts: Readonly<Record<string, string>>): Found {
  const found: [string, string[]][] = Object.entries(texts).map(([name, text]) => [
    name,
    Object.entries(places).flatMap(([place, content]) => (content.includes(text) ? [place] : [])),
  ]);
  return Object.fromEntries(found.filter(([, where]) => where.length > 0));
}

/** Every file of the home: histories, logs, results, reports, state of the supervisor. */
function filesOf(folder: string): Record<string, Buffer> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const files = names.filter((name) => statSync(join(folder, name), { throwIfNoEntry: false })?.isFile());
  return Object.fromEntries(files.map((name) => [name, readFileSync(join(folder, name))]));
}

/** The arguments of every process of the machine, as often as possible. */
function watchArguments(): { readonly seen: Set<string>; stop(): void } {
  const seen = new Set<string>();
  const timer = setInterval(() => {
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      try {
        seen.add(readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
      } catch {
        // The process has ended.
      }
    }
  }, 100);
  return { seen, stop: () => clearInterval(timer) };
}

/** Forwards everything, and gives every sandbox addresses with secrets in them, as the real service does. */
async function withSecretAddresses(serviceUrl: string): Promise<string> {
  const secrets = {
    desktopUrl: `https://desktop.example/${canaries.desktopUrl}`,
    url: `https://sandbox.example/?_token=${canaries.token}`,
  };
  const { origin, pathname } = new URL(serviceUrl);
  const server = createServer(async (incoming, outgoing) => {
    const chunks: Buffer[] = [];
    for await (const chunk of incoming) chunks.push(chunk as Buffer);
    const { host: _, connection: __, 'content-length': ___, 'transfer-encoding': ____, ...headers } = incoming.headers;
    const answer = await fetch(`${origin}${incoming.url}`, {
      method: incoming.method ?? 'GET',
      headers: headers as Record<string, string>,
      ...(chunks.length > 0 && { body: Buffer.concat(chunks) }),
    });
    const type = answer.headers.get('content-type') ?? '';
    const text = await answer.text();
    const addSecrets = (name: string, value: unknown) =>
      name !== '' && typeof value === 'object' && value !== null && 'createdAt' in value && 'state' in value
        ? { ...value, ...secrets }
        : value;
    const body = type.startsWith('application/json') ? JSON.stringify(JSON.parse(text, addSecrets)) : text;
    outgoing.writeHead(answer.status, { 'content-type': type }).end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}${pathname}`;
}

/** The metrics of every process of the home, by port, as long as it is reached: a port of another kind has none. */
async function metricsOf(pids: readonly number[]): Promise<string> {
  const texts = listeningPorts(pids).map(async ({ host, port }) => {
    const answer = await fetch(`http://${host}:${port}/metrics`, { signal: AbortSignal.timeout(10_000) });
    return answer.ok ? await answer.text() : '';
  });
  return (await Promise.allSettled(texts)).map((text) => (text.status === 'fulfilled' ? text.value : '')).join('\n');
}

it('no secret is in a history, a log, an error, a metric, a report, a result or an argument of a whole run', async () => {
  const { service } = await startService({ apiKey: canaries.apiKey, isolation: 'auto' });
  service.setup.createEnvironment({
    name: 'secretive',
    envContents: `TOKEN=${canaries.environment}`,
    secretFiles: [{ path: '.npmrc', contents: canaries.secretFile }],
    passSecrets: true,
  });
  const cli = createCliHome();
  onTestFinished(() => cli.close());
  const env = {
    SANDBOX_API_URL: await withSecretAddresses(service.url),
    SANDBOX_API_KEY: canaries.apiKey,
    SANDBOX_WEBHOOK_SECRET: canaries.webhookSecret,
  };
  const processes = watchArguments();
  onTestFinished(processes.stop);
  const stack = cli.start(['up', '--foreground', '--ready-json'], env);
  await vi.waitFor(() => expect(stack.stdout()).toContain('"ready":true'), patient);
  const said = JSON.parse(stack.stdout()) as { bridgeUrl: string; temporalAddress: string; isolation: unknown };
  const { bridgeUrl, temporalAddress } = said;
  expect(said.isolation, stack.stderr()).toEqual(JSON.parse(JSON.stringify(service.isolation)));
  // A worker and a bridge beside those of the stack, which serve no metrics.
  const beside = { ...env, TEMPORAL_ADDRESS: temporalAddress };
  const worker = cli.start(['worker', '--metrics', '127.0.0.1:0', '--ready-json'], beside);
  const bridge = cli.start(['bridge', '--port', '0', '--metrics', '127.0.0.1:0', '--ready-json'], beside);
  await vi.waitFor(
    () => expect([worker.stdout(), bridge.stdout()].join(), cli.said()).toMatch(/ready.*ready/s),
    patient,
  );
  await service.seed({
    version: 1,
    webhooks: [bridgeUrl, (JSON.parse(bridge.stdout()) as { url: string }).url].map((url, index) => ({
      name: `bridge ${index}`,
      url: `${url}/webhooks/sandbox`,
      events: ['sandbox.ready', 'sandbox.archived', 'sandbox.error', 'sandbox.hydrated'],
      secret: canaries.webhookSecret,
    })),
  });

  const printed: Record<string, string> = {};
  const run = async (...args: string[]): Promise<string> => {
    const { stdout, stderr } = await cli.run(args, env);
    printed[args.join(' ').slice(0, 60)] = `${stdout}${stderr}`;
    return stdout;
  };
  const prompt = shell(`test -s ~/.npmrc && test -n "$TOKEN" && echo "both are there, ${control}"`);
  // From a file, and long enough to be seen: the arguments of this command line are searched too.
  const scripts = mkdtempSync(join(tmpdir(), 'sandflow-canaries-'));
  onTestFinished(() => rmSync(scripts, { recursive: true }));
  await writeFile(join(scripts, 'setup.sh'), `: ${setupCanary}\nsleep 2\n`);
  const setup = ['--environment', 'secretive', '--setup', `@${join(scripts, 'setup.sh')}`];
  const done = await run('run', prompt, '--id', 'one', ...setup, '--get', 'none', '--json', '--end', 'keep');
  const { sandboxId, prompts } = JSON.parse(done);
  expect(prompts[0].result).toContain('both are there');
  const missing = ['--sandbox', 'bx_22222222', '--no-check'];
  await run('run', prompt, '--id', 'two', ...missing, '--deadline', '5s', '--watch-deadline', '20s');
  await writeFile(join(cli.home, 'items.jsonl'), `${JSON.stringify({ id: 'a', prompt })}\n`);
  await run('fanout', 'items.jsonl', '--id', 'batch', '--source', sandboxId, '--allow-stale');
  for (const args of [
    'jobs show one',
    'jobs list',
    'jobs logs one',
    'fanout show batch',
    'fanout results batch',
    'webhooks list',
    'doctor',
  ])
    await run(...args.split(' '));
  for (const format of [[], ['--json']]) {
    await run('sandboxes', ...format);
    await run('sandboxes', 'show', sandboxId, ...format);
    await run('stops', 'explain', sandboxId, ...format);
    await run('jobs', 'show', 'one', ...format);
  }
  await run('stop', sandboxId);
  const metrics = await metricsOf(cli.alive());
  for (const name of ['sandflow_bridge_deliveries_total{', 'temporal_request{', 'service_requests{'])
    expect(metrics, 'the metrics that are searched').toContain(name);
  printed.metrics = metrics;
  for (const one of [worker, bridge, stack]) {
    one.process.kill('SIGTERM');
    await one.ended;
  }
  for (const [name, one] of Object.entries({ worker, bridge, stack })) {
    printed[name] = `${one.stdout()}${one.stderr()}`;
  }

  const files = filesOf(cli.home);
  const everywhere = { ...printed, ...files, arguments: [...processes.seen].join('\n') };
  expect(foundIn(everywhere, canaries)).toEqual({});
  const controlIn = foundIn(everywhere, { control }).control;
  const reports = Object.keys(files).filter((name) => name.endsWith('.html'));
  expect(reports).toHaveLength(1);
  expect(controlIn).toEqual(expect.arrayContaining(['temporal.db', 'arguments', ...reports]));
  const setupIn = foundIn(everywhere, { setupCanary }).setupCanary ?? [];
  expect(setupIn).toEqual([expect.stringMatching(/^results\/.*inputs/)]);
}, 500_000);
