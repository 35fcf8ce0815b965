/** A PostgreSQL server of a test. Its processes end with the test, and it runs as a user without rights. */
import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, openSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { vi } from 'vitest';
import { boundByKernel } from '../../../src/os/spawn-bound-to-parent.js';
import { startProgram } from '../../../src/os/start-program.js';
import { patient } from '../../e2e/stack/fixture.js';

/** How `pg_ctl stop -m` ends the server: `fast` closes its connections, `immediate` is a crash. */
const stopSignals = { fast: 'SIGINT', immediate: 'SIGQUIT' } as const;
export type StopMode = keyof typeof stopSignals;

export interface Postgres {
  readonly user: string;
  readonly password: string;
  readonly pid: number;
  /** @returns the answer, a line for each row, its columns separated by bars */
  ask(query: string): string;
  /** Ends the server, and starts it again with its data. Resolves when it accepts connections. */
  restart(mode: StopMode): Promise<void>;
  stop(): Promise<void>;
}

export interface PostgresOptions {
  /** The folder of its programs. */
  readonly programs: string;
  /** A folder that does not exist, in one that everybody may enter. */
  readonly folder: string;
  /** The address of loopback at which it listens, on its own port. */
  readonly host: string;
}

export async function startPostgres({ programs, folder, host }: PostgresOptions): Promise<Postgres> {
  const program = (name: string) => join(programs, name);
  const [user, password] = ['temporal', randomBytes(16).toString('hex')];
  const [data, passwordFile] = [join(folder, 'data'), join(folder, 'password')];
  mkdirSync(folder, { mode: 0o700 });
  writeFileSync(passwordFile, password, { mode: 0o600 });
  // PostgreSQL refuses to run as root.
  const owner = process.getuid?.() === 0 ? 'postgres' : undefined;
  if (owner) {
    const [uid = 0, gid = 0] = ['-u', '-g'].map((which) => Number(execFileSync('id', [which, owner])));
    for (const path of [folder, passwordFile]) chownSync(path, uid, gid);
  }
  chmodSync(folder, 0o700);
  const asOwner = owner ? ['setpriv', '--reuid', owner, '--regid', owner, '--init-groups', '--'] : ['env'];
  const initialize = [
    '-D',
    data,
    '-U',
    user,
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--no-locale',
    '-E',
    'UTF8',
  ];
  const [file = '', ...before] = asOwner;
  execFileSync(file, [...before, program('initdb'), ...initialize], { stdio: 'ignore' });

  const settings = { listen_addresses: host, unix_socket_directories: '', max_connections: '200' };
  const args = ['-D', data, ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])];
  const log = openSync(join(folder, '..', 'postgres.log'), 'a');
  const start = async () => {
    // A change of the user would undo what binds it to this process.
    const bound = boundByKernel(program('postgres'), args);
    if (!bound) throw new Error('setpriv is missing');
    const server = startProgram(file, [...before, bound.file, ...bound.args], {
      stdio: ['ignore', log, log],
      detached: true,
    });
    const ended = once(server, 'exit');
    await vi.waitFor(() => execFileSync(program('pg_isready'), ['-q', '-h', host, '-U', user]), patient);
    return { server, ended };
  };
  let running = await start();
  const stop = async (mode: StopMode) => {
    running.server.kill(stopSignals[mode]);
    await running.ended;
  };
  return {
    user,
    password,
    get pid() {
      return running.server.pid ?? 0;
    },
    ask(query) {
      const args = ['-h', host, '-U', user, '-d', 'temporal', '-Atc', query];
      const env = { ...process.env, PGPASSWORD: password };
      return execFileSync(program('psql'), args, { env, encoding: 'utf8' }).trim();
    },
    async restart(mode) {
      await stop(mode);
      running = await start();
    },
    stop: () => stop('immediate'),
  };
}
