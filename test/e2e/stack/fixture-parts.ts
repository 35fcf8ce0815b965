/** The parts of a stack, each as a process of the program, for tests that intercept two of them. */
import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { vi } from 'vitest';
import { ensureWebhook, webhookPath } from '../../../src/bridge/index.js';
import { createSandboxClient } from '../../../src/client/index.js';
import { readConfig } from '../../../src/config.js';
import type { LocalServiceOptions } from '../../../src/local-service/index.js';
import { freePort } from '../../../src/os/free-port.js';
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
    settings?: Pick<LocalServiceOptions, 'profile' | 'faultsEnabled' | 'timings'>,
  ): Promise<LocalService>;
  startWorker(environment: Readonly<Record<string, string>>): Promise<Started>;
  /** Starts the bridge of all services, which `startService` did before. */
  startBridge(): Promise<void>;
  killBridge(): Promise<void>;
  readonly temporalAddress: string;
  readonly bridgeUrl: string;
  /** The file from which the bridge reads its secrets. */
  readonly secretFile: string;
  close(): Promise<void>;
}

/** A Temporal server in memory, and a home. */
export async function createParts(): Promise<PartsOfStack> {
  const cli = createCliHome();
  const binary = await findTemporalServer({ cacheDirectory: readConfig().cacheDirectory });
  const temporal = await startEmbeddedServer({ binary, logFile: join(cli.home, 'temporal.log') });
  const own = { TEMPORAL_ADDRESS: temporal.address, SANDFLOW_DEPLOYMENT: 'parts' };
  const servers: Started[] = [];
  const bridgePort = String(await freePort());
  const secretsOfAll = join(cli.home, 'secrets-of-all');
  let bridge: Promise<Started> | undefined;

  const serve = async (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Started> => {
    const started = cli.start([...args, '--ready-json'], { ...own, ...env });
    servers.push(started);
    const ready = () => {
      if (!started.stdout().endsWith('\n')) throw new Error(`${args[0]} is not ready: ${started.stderr()}`);
    };
    await vi.waitFor(ready, patient);
    return started;
  };
  const startBridge = () => {
    bridge = serve(['bridge', '--port', bridgePort], { SANDBOX_WEBHOOK_SECRET_FILE: secretsOfAll });
    return bridge;
  };
  const urlOf = (started: Started) => (JSON.parse(started.stdout()) as { url: string }).url;
  const environment: PartsOfStack['environment'] = ({ url, apiKey }, taskQueue) => ({
    ...own,
    SANDBOX_API_URL: url,
    SANDBOX_API_KEY: apiKey,
    SANDFLOW_TASK_QUEUE: taskQueue,
  });

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
      await ensureWebhook(client, { url: `http://127.0.0.1:${bridgePort}${webhookPath}`, name, secretFile });
      await client.close();
      appendFileSync(secretsOfAll, readFileSync(secretFile));
      await (bridge ?? startBridge());
      return service;
    },
    startWorker: (env) => serve(['worker'], env),
    async startBridge() {
      await startBridge();
    },
    async killBridge() {
      const started = await bridge;
      started?.process.kill('SIGKILL');
      await started?.ended;
    },
    temporalAddress: temporal.address,
    bridgeUrl: `http://127.0.0.1:${bridgePort}${webhookPath}`,
    secretFile: secretsOfAll,
    async close() {
      for (const { process: server } of servers) server.kill('SIGKILL');
      await temporal.stop();
      await cli.close();
    },
  };
}
