/** The programs of a cluster: those that are installed, or Temporal's built from its Go module of the version in docker-compose.yml. */
import { execFile, execFileSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { readConfig } from '../../../src/config.js';
import { readSource } from '../../unit/house/source-imports.js';

export interface ClusterPrograms {
  readonly server: string;
  readonly sqlTool: string;
  /** The folder of `initdb`, `postgres` and `pg_isready`. */
  readonly postgres: string;
}

const [, version = ''] = /image: temporalio\/server:(\S+)/.exec(readSource('docker-compose.yml')) ?? [];
const buildFlags = ['-buildvcs=false', '-ldflags=-s -w'];
/** Where Debian keeps the programs of PostgreSQL, which it does not put on the PATH. */
const debianFolder = '/usr/lib/postgresql';

/**
 * Finds `temporal-server` and `temporal-sql-tool` on the PATH, or builds them once into the cache, which takes minutes.
 * @returns a sentence that names what cannot be had here
 */
export async function findClusterPrograms(): Promise<ClusterPrograms | string> {
  if (process.platform !== 'linux') return 'a cluster needs Linux';
  const initdb = [...onPath(), ...debianFolders()].map((folder) => join(folder, 'initdb')).find(existsSync);
  if (initdb === undefined) return 'PostgreSQL is neither on the PATH nor in its folder of Debian';
  // A link on the PATH leads to the folder of all of them.
  const postgres = dirname(realpathSync(initdb));
  const named = ['temporal-server', 'temporal-sql-tool'].map((name) =>
    onPath()
      .map((folder) => join(folder, name))
      .find((file) => existsSync(file) && isOurVersion(file)),
  );
  const [server, sqlTool] = named;
  if (server !== undefined && sqlTool !== undefined) return { server, sqlTool, postgres };
  const built = join(readConfig().cacheDirectory, `temporal-cluster-${version}`);
  const failed = existsSync(built) ? undefined : await build(built);
  return failed ?? { server: join(built, 'server'), sqlTool: join(built, 'sql'), postgres };
}

const onPath = () => (process.env.PATH ?? '').split(delimiter);

function debianFolders(): string[] {
  const versions = existsSync(debianFolder) ? readdirSync(debianFolder) : [];
  return versions.sort((one, other) => Number(other) - Number(one)).map((one) => join(debianFolder, one, 'bin'));
}

function isOurVersion(program: string): boolean {
  return execFileSync(program, ['--version'], { encoding: 'utf8' }).trim().endsWith(` version ${version}`);
}

/** @returns why it could not be built */
async function build(folder: string): Promise<string | undefined> {
  mkdirSync(join(folder, '..'), { recursive: true });
  const unfinished = mkdtempSync(`${folder}-`);
  const packages = ['cmd/server', 'cmd/tools/sql'].map((path) => `go.temporal.io/server/${path}@v${version}`);
  try {
    const env = { ...process.env, GOBIN: unfinished, CGO_ENABLED: '0', GOFLAGS: '-mod=mod' };
    await promisify(execFile)('nice', ['-n', '19', 'go', 'install', ...buildFlags, ...packages], { env });
    renameSync(unfinished, folder);
    return undefined;
  } catch (error) {
    rmSync(unfinished, { recursive: true });
    const { stderr = '' } = error as { readonly stderr?: string };
    const why = stderr.trim().split('\n').at(-1) || 'go is not on the PATH';
    return `temporal-server ${version} is not on the PATH, and cannot be built: ${why}`;
  }
}
