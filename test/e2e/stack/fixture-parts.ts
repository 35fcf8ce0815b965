/** The parts of a stack, each as a process of the program, for tests that intercept two of them. */
import { randomBytes } from 'node:crypto';
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { vi } from 'vitest';
import type { LocalServiceOptions } from '../../../local-service/src/index.js';
import { ensureWebhook, webhookPath } from '../../../src/bridge/index.js';
import { createSandboxClient } from '../../../src/client/index.js';
import { readConfig } from '../../../src/config.js';
import { startEmbeddedServer } from '../../../src/temporal-server/embedded.js';
import { findTemporalServer } from '../../../src/temporal-server/find.js';
import { type CliHome, createCliHome, type Started } from '../cli/program.js';
import { patient } from './fixture.js';

export interface LocalService {
  readonly url: string;
  readonly apiKey: string;
}

export interface PartsOfStack {
  readonly cli: CliHome;
  /** Settings of commands and workers that use this Temporal and this service. */
  environment(service: LocalService, taskQueue: string): Readonly<Record<string, string>>;
  /** A separate service, which delivers to the one bridge. */
  startService(
    name: string,
    settings?: Pick<LocalServiceOptions, 'deviations' | 'faultsEnabled' | 'isolation' | 'timings'>,
  ): Promise<LocalService>;
  startWorker(environment: Readonly<Record<string, string>>): Promise<Started>;
  /** Starts the bridge of all services again, at the same address. */
  startBridge(): Promise<void>;
  killBridge(signal?: NodeJS.Signals): Promise<void>;
  readonly temporalAddress: string;
  readonly bridgeUrl: string;
  /** The file from which the bridge reads its secrets. */
  readonly secretFile: string;
  close(): Promise<void>;
}

/**
 * A Temporal server in memory, and a home.
 * @param elsewhere the settings of another server, asked whenever a process starts; the caller ends it
 */
export async function createParts(elsewhere?: () => Readonly<Record<string, string>>): Promise<PartsOfStack> {
  const cli = createCliHome();
  const temporal = elsewhere ? undefined : await startTemporal(cli);
  const own = () => ({ TEMPORAL_ADDRESS: temporal?.address ?? '', ...elsewhere?.(), SANDFLOW_DEPLOYMENT: 'parts' });
  const servers: Started[] = [];
  const secretsOfAll = join(cli.home, 'secrets-of-all');

  const serve = async (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Started> => {
    const started = cli.start([...args, '--ready-json'], { ...own(), ...env });
    servers.push(started);
    const ready = () => {
      if (!started.stdout().endsWith('\n')) throw new Error(`${args[0]} is not ready: ${started.stderr()}`);
    };
    await vi.waitFor(ready, patient);
    return started;
  };
  const startBridge = (port: string) =>
    serve(['bridge', '--port', port], { SANDBOX_WEBHOOK_SECRET_FILE: secretsOfAll });
  const urlOf = (started: Started) => (JSON.parse(started.stdout()) as { url: string }).url;
  const environment: PartsOfStack['environment'] = ({ url, apiKey }, taskQueue) => ({
    ...own(),
    SANDBOX_API_URL: url,
    SANDBOX_API_KEY: apiKey,
    SANDFLOW_TASK_QUEUE: taskQueue,
  });

  // It listens before there is a service, whose webhook needs its address, and reads the secrets again when they change.
  let hasSecretOfService = false;
  writeFileSync(secretsOfAll, `whsec_${randomBytes(32).toString('base64')}\n`, { mode: 0o600 });
  let bridge = await startBridge('0');
  const bridgePort = new URL(urlOf(bridge)).port;
  const bridgeUrl = `http://127.0.0.1:${bridgePort}${webhookPath}`;

  return {
    cli,
    environment,
    async startService(name, settings = {}) {
      const directory = join(cli.home, name);
      const config = join(cli.home, `${name}.json`);
      writeFileSync(config, JSON.stringify(settings));
      const url = urlOf(await serve(['local', '--port', '0', '--directory', directory, '--config', config]));
      const service = { url, apiKey: readFileSync(join(directory, 'api-key'), 'utf8').trim() };
      const secretFile = join(directory, 'webhook-secrets');
      const client = createSandboxClient({ baseUrl: url, apiKey: service.apiKey });
      await ensureWebhook(client, { url: bridgeUrl, name, secretFile });
      await client.close();
      (hasSecretOfService ? appendFileSync : writeFileSync)(secretsOfAll, readFileSync(secretFile));
      hasSecretOfService = true;
      return service;
    },
    startWorker: (env) => serve(['worker'], env),
    async startBridge() {
      bridge = await startBridge(bridgePort);
    },
    async killBridge(signal = 'SIGKILL') {
      bridge.process.kill(signal);
      await bridge.ended;
    },
    temporalAddress: own().TEMPORAL_ADDRESS,
    bridgeUrl,
    secretFile: secretsOfAll,
    async close() {
      for (const { process: server } of servers) server.kill('SIGKILL');
      await temporal?.stop();
      await cli.close();
    },
  };
}

async function startTemporal(cli: CliHome) {
  const binary = await findTemporalServer({ cacheDirectory: readConfig().cacheDirectory });
  return startEmbeddedServer({ binary, logFile: join(cli.home, 'temporal.log') });
}
