import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { Setting } from '../../../../src/cli/config/show-config.js';
import { settingVariables } from '../../../../src/config.js';
import { cli } from '../in-process.js';
import { temporaryDirectory } from '../temporary-directory.js';

let home: string;
let cwd: string;
beforeEach(async () => {
  home = await temporaryDirectory();
  cwd = await temporaryDirectory();
});

/** Nothing listens there, and nothing is waited for. */
const nowhere = {
  SANDBOX_API_URL: 'http://127.0.0.1:9/v1',
  SANDBOX_API_KEY: 'canary-of-the-key',
  SANDBOX_WEBHOOK_SECRET: 'whsec_canary-of-the-secret',
  SANDFLOW_TEMPORAL_UI: 'http://127.0.0.1:9/ui',
  TEMPORAL_ADDRESS: '127.0.0.1:9',
  TEMPORAL_API_KEY: 'canary-of-temporal',
  TEMPORAL_GRPC_META_TOKEN: 'canary-of-the-header',
  SANDFLOW_PATIENCE_SECONDS: '0.1',
};
const run = (args: readonly string[], env: Readonly<Record<string, string>>) =>
  cli(args, { cwd, env: { SANDFLOW_HOME: home, ...env } });

async function settingsOf(env: Readonly<Record<string, string>>) {
  const { stdout } = await run(['config', '--json'], env);
  const { settings } = JSON.parse(stdout) as { settings: Setting[] };
  return Object.fromEntries(settings.map(({ name, value, from }) => [name, [value, from]]));
}

const files = () => writeFile(join(cwd, 'sandflow.json'), JSON.stringify({ fanout: { concurrency: 5 } }));

describe('sandflow config', () => {
  it('says of each setting whether it comes from the environment, the project or is built in', async () => {
    await files();
    expect(await settingsOf({ ...nowhere, SANDFLOW_DEPLOYMENT: 'env' })).toMatchObject({
      home: [home, 'environment SANDFLOW_HOME'],
      apiUrl: ['http://127.0.0.1:9/v1', 'environment SANDBOX_API_URL'],
      apiKey: ['(set)', 'environment SANDBOX_API_KEY'],
      webhookSecret: ['(set)', 'environment SANDBOX_WEBHOOK_SECRET'],
      temporalApiKey: ['(set)', 'environment TEMPORAL_API_KEY'],
      TEMPORAL_GRPC_META_TOKEN: ['(set)', 'environment TEMPORAL_GRPC_META_TOKEN'],
      temporalAddress: ['127.0.0.1:9', 'environment TEMPORAL_ADDRESS'],
      temporalUi: ['http://127.0.0.1:9/ui', 'environment SANDFLOW_TEMPORAL_UI'],
      temporalNamespace: ['default', 'built-in'],
      deployment: ['env', 'environment SANDFLOW_DEPLOYMENT'],
      taskQueue: ['sandflow', 'built-in'],
      idleSeconds: ['300', 'built-in'],
      'fanout.concurrency': ['5', join(cwd, 'sandflow.json')],
    });
  });

  it('prints no secret, for people and as JSON', async () => {
    await files();
    for (const args of [['config'], ['config', '--json']]) {
      const { stdout, stderr } = await run(args, nowhere);
      expect(stdout).toMatch(/apiKey\b.{1,80}\(set\)/);
      expect(stdout).toMatch(/apiKey\b.{1,80}environment SANDBOX_API_KEY/);
      expect(stdout + stderr).not.toContain('canary');
    }
  });

  it.each(['http://user:canary@127.0.0.1:9/v1', 'http://127.0.0.1:9/v1?token=canary', 'http://127.0.0.1:9/v1#canary'])(
    'refuses a service URL that holds a secret, %s, and does not repeat it',
    async (url) => {
      const ended = await run(['config', '--json'], { ...nowhere, SANDBOX_API_URL: url });
      expect(ended).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('SANDBOX_API_URL must not hold') });
      expect(ended.stdout + ended.stderr).not.toContain('canary');
    },
  );

  it.each([
    [{ TEMPORAL_ADDRESS: 'http://u:CANARY@127.0.0.1:1' }, 'TEMPORAL_ADDRESS must be host:port'],
    [{ TEMPORAL_ADDRESS: 'CANARY@127.0.0.1:1' }, 'TEMPORAL_ADDRESS must be host:port'],
    [{ SANDFLOW_TEMPORAL_UI: 'http://u:CANARY@127.0.0.1:1' }, 'SANDFLOW_TEMPORAL_UI must not hold a user name'],
  ])('refuses an address of Temporal that holds a secret, %j, and does not repeat it', async (address, said) => {
    const ended = await run(['config', '--json'], { ...nowhere, ...address });
    expect(ended).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(said) });
    expect(ended.stdout + ended.stderr).not.toContain('CANARY');
  });

  it("names Temporal's own configuration file", async () => {
    const file = join(home, 'temporal.toml');
    await writeFile(file, '[profile.default]\naddress = "127.0.0.1:9"\nnamespace = "mine"\n');
    const { TEMPORAL_ADDRESS: _, ...others } = nowhere;
    const env = { ...others, TEMPORAL_CONFIG_FILE: file };
    expect(await settingsOf(env)).toMatchObject({
      temporalAddress: ['127.0.0.1:9', "Temporal's configuration file"],
      temporalNamespace: ['mine', "Temporal's configuration file"],
    });
    await writeFile(file, '[profile.default]\naddress = "127.0.0.1:9/CANARY"\n');
    const ended = await run(['config'], env);
    expect(ended).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining("The address in Temporal's configuration file must be host:port"),
    });
    expect(ended.stdout + ended.stderr).not.toContain('CANARY');
  });

  it('widens no other row for a long value', async () => {
    const { stdout } = await run(['config'], { SANDFLOW_RESULTS: join(home, 'x'.repeat(90)) });
    const wide = stdout.split('\n').filter((line) => line.length > 80 && !line.includes(home));
    expect(wide).toEqual([]);
  });
});

describe('sandflow doctor', () => {
  const checkOf = async (env: Readonly<Record<string, string>>) => {
    const { exitCode, stdout } = await run(['doctor', '--json'], env);
    const { checks } = JSON.parse(stdout) as { checks: { name: string }[] };
    return { exitCode, ...checks.find(({ name }) => name === 'settings') };
  };

  it('warns of a variable whose name is mistyped, and names the right one', async () => {
    expect(await checkOf({ ...nowhere, SANDFLOW_DEPLOYMNT: 'x' })).toMatchObject({
      status: 'warning',
      message: 'The environment sets SANDFLOW_DEPLOYMNT, which is not a setting.',
      mend: 'Did you mean SANDFLOW_DEPLOYMENT?',
    });
  });

  it('reports no findings after Ctrl-C', async () => {
    const interrupt = new AbortController();
    interrupt.abort('SIGINT');
    const ended = await cli(['doctor'], {
      cwd,
      env: { SANDFLOW_HOME: home, ...nowhere },
      interrupted: interrupt.signal,
    });
    expect(ended).toEqual({ exitCode: 130, stdout: '', stderr: expect.stringContaining('Interrupted.') });
  });

  it('knows every variable of docs/configuration.md', async () => {
    const page = await readFile(new URL('../../../../docs/configuration.md', import.meta.url), 'utf8');
    const documented = [...page.matchAll(/^\| `((?:SANDBOX|SANDFLOW|TEMPORAL)_.*?) \|/gm)].flatMap(([, cell = '']) =>
      [...cell.matchAll(/[A-Z_]{6,}/g)].map(([variable]) => variable),
    );
    expect(documented.length).toBeGreaterThan(20);
    expect(settingVariables).toEqual(expect.arrayContaining(documented));
  });

  it('reports a project file that cannot be read as a failed check, and makes the other checks', async () => {
    await writeFile(join(cwd, 'sandflow.json'), '{"run": {"modl": "m1"}}');
    expect(await checkOf(nowhere)).toMatchObject({
      exitCode: 1,
      status: 'failed',
      message: expect.stringContaining(`${join(cwd, 'sandflow.json')}: run.modl: unknown field; the fields are `),
    });
  });
});
