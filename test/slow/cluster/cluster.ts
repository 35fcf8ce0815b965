/**
 * Temporal's server in its four roles, a process each, over PostgreSQL. It has an address of loopback of its own, so that
 * every port is the usual one. Its settings are the variables of docker-compose.yml, and its dynamic configuration is the
 * file of that.
 */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { vi } from 'vitest';
import { spawnBoundToParent } from '../../../src/os/spawn-bound-to-parent.js';
import { patient } from '../../e2e/stack/fixture.js';
import { repository } from '../../unit/house/source-imports.js';
import { type StopMode, startPostgres } from './postgres.js';
import type { ClusterPrograms } from './programs.js';

/** The port of each role. */
const ports = { frontend: 7233, history: 7234, matching: 7235, worker: 7239 } as const;
const metricsPort = 9090;
export type Role = keyof typeof ports;
export const roles = Object.keys(ports) as readonly Role[];

type Values = Readonly<Record<string, string>>;

export interface Cluster {
  /** `host:port` of the frontend. */
  readonly address: string;
  /** Ends the process of a role, and starts it again. Resolves when it listens. */
  restart(role: Role, signal: 'SIGTERM' | 'SIGKILL'): Promise<void>;
  restartDatabase(mode: StopMode): Promise<void>;
  /** The ids of the processes that serve now: the roles, and the first process of PostgreSQL. */
  pids(): { readonly roles: readonly number[]; readonly postgres: number };
  /** The metrics of the frontend, as Prometheus reads them. */
  metrics(): Promise<string>;
  /** Asks PostgreSQL. @returns a line for each row, its columns separated by bars */
  askDatabase(query: string): string;
  /** The end of each log, for the message of a failed test. */
  said(): string;
  stop(): Promise<void>;
}

export interface ClusterOptions {
  /** Its address of loopback. */
  readonly host: string;
  /** Settings beside those of docker-compose.yml. */
  readonly settings?: Values;
}

export async function startCluster(
  programs: ClusterPrograms,
  { host, settings = {} }: ClusterOptions,
): Promise<Cluster> {
  const folder = mkdtempSync(join(tmpdir(), 'sandflow-cluster-'));
  chmodSync(folder, 0o711);
  const logOf = (name: string) => join(folder, `${name}.log`);
  const postgres = await startPostgres({ programs: programs.postgres, folder: join(folder, 'postgres'), host });
  const metricsAddress = `${host}:${metricsPort}`;
  const running = new Map<Role, Awaited<ReturnType<typeof start>>>();
  const stop = async () => {
    for (const { server, ended } of running.values()) {
      server.kill('SIGKILL');
      await ended;
    }
    await postgres.stop();
    rmSync(folder, { recursive: true, force: true });
  };
  const env = {
    PATH: process.env.PATH,
    DB: 'postgres12',
    DB_PORT: '5432',
    POSTGRES_SEEDS: host,
    POSTGRES_USER: postgres.user,
    POSTGRES_PWD: postgres.password,
    BIND_ON_IP: host,
    TEMPORAL_BROADCAST_ADDRESS: host,
    DYNAMIC_CONFIG_FILE_PATH: join(repository, 'deploy/compose/temporal.yaml'),
    LOG_LEVEL: 'warn',
    ...settings,
  };

  function createTables(): void {
    const { user, password } = postgres;
    const sql = { SQL_PLUGIN: 'postgres12', SQL_HOST: host, SQL_PORT: '5432', SQL_USER: user, SQL_PASSWORD: password };
    const schemas = { temporal: 'temporal', temporal_visibility: 'visibility' };
    for (const [database, schema] of Object.entries(schemas)) {
      const tool = (...args: string[]) =>
        execFileSync(programs.sqlTool, ['--database', database, ...args], { env: { ...env, ...sql }, stdio: 'pipe' });
      tool('create');
      tool('setup-schema', '--version', '0.0');
      tool('update-schema', '--schema-name', `postgresql/v12/${schema}`);
    }
  }

  async function start(role: Role) {
    // Its own parts call this one, without a key.
    const services = role === 'frontend' && 'USE_INTERNAL_FRONTEND' in env ? [role, 'internal-frontend'] : [role];
    const log = openSync(logOf(role), 'a');
    const args = ['--allow-no-auth', 'start', ...services.flatMap((name) => ['--service', name])];
    const own = role === 'frontend' ? { ...env, PROMETHEUS_ENDPOINT: metricsAddress } : env;
    const server = spawnBoundToParent(programs.server, args, { env: own, cwd: folder, stdio: ['ignore', log, log] });
    closeSync(log);
    const ended = once(server, 'exit');
    await vi.waitFor(async () => {
      if (server.exitCode !== null) throw new Error(`The ${role} ended: ${tail(logOf(role))}`);
      await listens(host, ports[role]);
    }, patient);
    return { server, ended };
  }

  try {
    createTables();
    for (const role of roles) running.set(role, await start(role));
  } catch (error) {
    await stop();
    throw error;
  }
  return {
    address: `${host}:${ports.frontend}`,
    async restart(role, signal) {
      const { server, ended } = running.get(role) ?? {};
      server?.kill(signal);
      await ended;
      running.set(role, await start(role));
    },
    restartDatabase: (mode) => postgres.restart(mode),
    pids: () => ({ roles: [...running.values()].map(({ server }) => server.pid ?? 0), postgres: postgres.pid }),
    metrics: async () => (await fetch(`http://${metricsAddress}/metrics`)).text(),
    askDatabase: (query) => postgres.ask(query),
    said: () => [...roles, 'postgres'].map((name) => `${name}:\n${tail(logOf(name))}`).join('\n'),
    stop,
  };
}

const tail = (file: string) => readFileSync(file, 'utf8').slice(-3_000);

async function listens(host: string, port: number): Promise<void> {
  const socket = connect(port, host);
  try {
    await once(socket, 'connect');
  } finally {
    socket.destroy();
  }
}
