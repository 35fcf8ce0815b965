/** The example of a worker of your own, as its page says to run it, in a deployment that requires encryption. */
import { execFileSync, spawn } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readConfig } from '../../../../src/config.js';
import { type CliHome, createCliHome } from '../../../e2e/cli/program.js';
import { repository } from '../../../unit/house/source-imports.js';
import { listeningPorts } from './listening-ports.js';

/** The command of the example, and what it prints. */
const canary = 'Hello from';
const packages = ['@temporalio', '@types', 'typescript'];
/** A workflow that cannot read what the stack sends to it never ends. */
const longestRunMs = 300_000;

describe('the example of a worker of your own', () => {
  let cli: CliHome;
  let folder: string;
  let ended: { readonly exitCode: number | null; readonly stdout: string; readonly stderr: string };
  const opened = new Set<string>();

  beforeAll(async () => {
    cli = createCliHome();
    folder = mkdtempSync(join(tmpdir(), 'sandflow-own-worker-'));
    for (const name of ['src', 'package.json', 'tsconfig.json'])
      cpSync(join(repository, 'examples/own-worker', name), join(folder, name), { recursive: true });
    mkdirSync(join(folder, 'node_modules/.bin'), { recursive: true });
    for (const name of packages)
      symlinkSync(join(repository, 'node_modules', name), join(folder, 'node_modules', name));
    symlinkSync(repository, join(folder, 'node_modules/sandflow'));
    symlinkSync(join(repository, 'dist/src/cli/main.js'), join(folder, 'node_modules/.bin/sandflow'));
    execFileSync(process.execPath, [join(repository, 'node_modules/typescript/bin/tsc')], { cwd: folder });

    const keys = join(cli.home, 'keys');
    writeFileSync(keys, (await cli.run(['encryption', 'new-key'])).stdout, { mode: 0o600 });
    const { cacheDirectory } = readConfig();
    const settings = { SANDFLOW_ENCRYPTION_KEYS_FILE: keys, SANDFLOW_REQUIRE_ENCRYPTED: 'true' };
    const inherited = Object.entries(process.env).filter(([name]) => !/^(?:SANDBOX_|SANDFLOW_|TEMPORAL_)/.test(name));
    const env = {
      ...Object.fromEntries(inherited),
      SANDFLOW_HOME: cli.home,
      SANDFLOW_CACHE: cacheDirectory,
      ...settings,
    };
    const worker = spawn(process.execPath, ['dist/main.js'], {
      cwd: folder,
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: longestRunMs,
      killSignal: 'SIGKILL',
    });
    const looking = setInterval(() => {
      for (const { host, port } of listeningPorts(worker.pid === undefined ? [] : [worker.pid]))
        opened.add(`${host}:${port}`);
    }, 50);
    const exit = new Promise<number | null>((resolve) => worker.once('close', resolve));
    const [stdout, stderr, exitCode] = await Promise.all([text(worker.stdout), text(worker.stderr), exit]);
    clearInterval(looking);
    ended = { exitCode, stdout, stderr };
  });
  afterAll(async () => {
    await cli?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  it('opens no port', () => {
    expect(ended).toMatchObject({ exitCode: 0, stdout: expect.stringContaining(canary) });
    expect([...opened]).toEqual([]);
  });

  it('leaves nothing unencrypted in Temporal, the result store and the logs of workers', () => {
    const files = readdirSync(cli.home, { recursive: true, encoding: 'utf8' }).filter((path) =>
      /^(temporal\.db.*|results\/.*|logs\/(worker|temporal)\.log)$/.test(path),
    );
    expect(files).toEqual(expect.arrayContaining(['temporal.db', 'logs/worker.log']));
    const found = files.filter((path) => {
      const bytes = readFileSync(join(cli.home, path));
      return [canary, Buffer.from(canary).toString('base64').slice(0, -2)].some((each) => bytes.includes(each));
    });
    expect(found).toEqual([]);
  });
});
