/** The parts of a stack one by one, each a process of the program, for tests that stand between two of them. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { vi } from 'vitest';
import { readConfig } from '../../src/config.js';
import type { LocalServiceProfile } from '../../src/local-service/index.js';
import { startEmbeddedServer } from '../../src/temporal/embedded-server.js';
import { findTemporalServer } from '../../src/temporal/find-server.js';
import { freePort } from '../../src/temporal/free-port.js';
import { type CliHome, createCliHome, type Started } from './cli-program.js';
import { patient } from './stack-fixture.js';

export interface LocalService {
  readonly url: string;
  readonly apiKey: string;
}

export interface PartsOfStack {
  readonly cli: CliHome;
  /** Settings of commands and workers that use this Temporal and this service. */
  environment(service: LocalService, taskQueue: string): Readonly<Record<string, string>>;
  /** A service of its own, with a bridge that it delivers to. */
  startService(name: string, profile?: Partial<LocalServiceProfile>): Promise<LocalService>;
  startWorker(environment: Readonly<Record<string, string>>): Promise<Started>;
  close(): Promise<void>;
}

/** A Temporal server in memory, and a home. */
export async function createParts(): Promise<PartsOfStack> {
  const cli = createCliHome();
  const binary = await findTemporalServer({ cacheDirectory: readConfig().cacheDirectory });
  const temporal = await startEmbeddedServer({ binary, logFile: join(cli.home, 'temporal.log') });
  const own = { TEMPORAL_ADDRESS: temporal.address, SANDFLOW_DEPLOYMENT: 'parts' };
  const servers: Started[] = [];

  const serve = async (args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Started> => {
    const started = cli.start([...args, '--ready-json'], { ...own, ...env });
    servers.push(started);
    const ready = () => {
      if (!started.stdout().endsWith('\n')) throw new Error(`${args[0]} is not ready: ${started.stderr()}`);
    };
    await vi.waitFor(ready, patient);
    return started;
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
    async startService(name, profile = {}) {
      const directory = join(cli.home, name);
      const config = join(cli.home, `${name}.json`);
      writeFileSync(config, JSON.stringify({ profile }));
      const url = urlOf(await serve(['local', '--port', '0', '--directory', directory, '--config', config]));
      const service = { url, apiKey: readFileSync(join(directory, 'api-key'), 'utf8').trim() };
      const bridgePort = String(await freePort());
      const env = { ...environment(service, name), SANDBOX_WEBHOOK_SECRET_FILE: join(directory, 'webhook-secrets') };
      const webhook = `http://127.0.0.1:${bridgePort}/webhooks/sandbox`;
      const { exitCode, stderr } = await cli.run(['webhooks', 'ensure', '--url', webhook], env);
      if (exitCode !== 0) throw new Error(`The webhook was not made: ${stderr}`);
      await serve(['bridge', '--port', bridgePort], env);
      return service;
    },
    startWorker: (env) => serve(['worker'], env),
    async close() {
      for (const { process: server } of servers) server.kill('SIGKILL');
      await temporal.stop();
      await cli.close();
    },
  };
}
