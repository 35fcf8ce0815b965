import { spawnSync } from 'node:child_process';
import { resolve } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readConfig } from '../../../src/config.js';
import { knownVariables, pathsIn } from '../../../src/settings/environment.js';
import {
  bridgeCommand,
  type ChildCommand,
  localServiceCommand,
  supervisorCommand,
  workerCommand,
} from '../../../src/supervisor/children.js';
import { settingsDigest } from '../../../src/supervisor/control-protocol.js';

const print = 'process.stdout.write(JSON.stringify({ environment: process.env, args: process.argv.slice(1) }))';
const main = { command: process.execPath, args: ['-e', print, '--'] };
const addresses = {
  embeddedTemporal: { address: '127.0.0.1:4000', namespace: 'default' },
  localService: { apiUrl: 'http://127.0.0.1:4001/v1', apiKeyFile: '/home/a/key' },
};

/** The environment that a child with this command line sees. */
function see({ command, args }: ChildCommand, environment: Record<string, string>) {
  const { stdout } = spawnSync(command, args, { env: { PATH: process.env.PATH, ...environment }, encoding: 'utf8' });
  return JSON.parse(stdout) as { environment: Record<string, string>; args: string[] };
}

describe('the command lines of the stack', () => {
  const inherited = { SANDFLOW_HOME: '/home/a', TEMPORAL_API_KEY: 'other', TEMPORAL_PROFILE: 'prod', OTHER: 'kept' };

  it('give a child a configuration that reaches this stack only', () => {
    const config = readConfig({ SANDFLOW_HOME: '/home/a' });
    const { environment } = see(workerCommand(main, config, addresses), inherited);
    const seen = readConfig(environment);
    expect(seen.temporal.connect).toEqual({
      namespace: 'default',
      connectionOptions: { address: '127.0.0.1:4000', apiKey: undefined, tls: false, metadata: undefined },
    });
    expect(seen.sandboxService).toEqual({ apiUrl: 'http://127.0.0.1:4001/v1', apiKeyFile: '/home/a/key' });
    expect(seen.deployment).toBe(config.deployment);
    expect(seen.home).toBe(config.home);
    expect(seen.webhookSecretFile).toBe(config.webhookSecretFile);
    expect(environment.OTHER).toBe('kept');
  });

  it('keep a configured service and Temporal, and show no secret', () => {
    const environment = {
      SANDFLOW_HOME: '/home/a',
      SANDBOX_API_URL: 'https://api.example.com/v1',
      SANDBOX_API_KEY: 'the-secret-key',
      SANDBOX_WEBHOOK_SECRET: 'whsec_secret',
      TEMPORAL_ADDRESS: 'temporal.example.com:7233',
      TEMPORAL_API_KEY: 'the-other-secret',
    };
    const config = readConfig(environment);
    const command = bridgeCommand(main, config, {}, 4002);
    expect(JSON.stringify(command)).not.toMatch(/secret-key|whsec|other-secret/);
    const seen = see(command, environment);
    expect(seen.args).toEqual(['bridge', '--port', '4002', '--drain', '0', '--ready-json']);
    expect(readConfig(seen.environment)).toMatchObject({
      sandboxService: config.sandboxService,
      temporal: config.temporal,
      webhookSecrets: config.webhookSecrets,
      deployment: 'default',
    });
  });
});

describe('a stack that plays the service of a probe', () => {
  const settings = { SANDBOX_API_HEADER_PREFIX: 'X-Box-', SANDBOX_API_OMIT: 'name' };

  it('gives its worker the settings that this service needs, unless they are set', () => {
    const environment = { SANDFLOW_HOME: '/home/a', SANDBOX_API_OMIT: 'ttlSeconds' };
    const config = { ...readConfig(environment), assumed: { file: '/home/a/record.json', settings } };
    const seen = readConfig(see(workerCommand(main, config, addresses), environment).environment);
    expect(seen.sandboxService).toMatchObject({ headerPrefix: 'x-box-', omit: ['ttlSeconds'] });
  });

  it('names the record to the supervisor and to the local service, and only then keeps the settings', () => {
    const environment = { SANDFLOW_HOME: '/home/a', ...settings };
    const config = readConfig(environment);
    const assumed = { file: '/home/a/record.json', settings: {} };
    const options = { port: 1, directory: '/home/a/local', apiKeyFile: '/home/a/key' };
    for (const command of [
      supervisorCommand,
      (...given: [typeof main, typeof config]) => localServiceCommand(...given, options),
    ]) {
      expect(command(main, { ...config, assumed }).args.join(' ')).toContain('--assume /home/a/record.json');
      expect(command(main, config).args).not.toContain('--assume');
    }
    const seen = readConfig(see(workerCommand(main, config, addresses), environment).environment);
    expect(seen.sandboxService).not.toHaveProperty('headerPrefix', expect.anything());
  });
});

it('every relative path means the same to a child, which runs in another folder', () => {
  const paths = { ...pathsIn(Object.fromEntries([...knownVariables.keys()].map((name) => [name, './a/b']))) };
  delete paths.TEMPORAL_CONFIG_FILE;
  for (const name of [
    'TEMPORAL_TLS_CLIENT_CERT_PATH',
    'TEMPORAL_TLS_CLIENT_KEY_PATH',
    'TEMPORAL_TLS_SERVER_CA_CERT_PATH',
  ])
    delete paths[name];
  const environment = {
    ...paths,
    TEMPORAL_ADDRESS: 'temporal.example.com:7233',
    SANDBOX_API_URL: 'https://api.example.com/v1',
  };
  const config = readConfig(environment);
  const seen = see(workerCommand(main, config, {}), environment).environment;
  for (const name of Object.keys(paths)) expect(seen[name], name).toBe(resolve('a/b'));
  expect(readConfig(seen)).toMatchObject({ results: config.results, sandboxService: config.sandboxService });
});

describe('the digest of the settings', () => {
  const base = { SANDBOX_API_URL: 'https://api.example.com/v1', SANDBOX_API_KEY: 'one' };

  it('is the same for the same settings and shows none of them', () => {
    expect(settingsDigest(readConfig(base))).toBe(settingsDigest(readConfig({ ...base, OTHER: 'x' })));
    expect(settingsDigest(readConfig(base))).toMatch(/^[0-9a-f]{64}$/);
  });

  it.each([{ SANDBOX_API_KEY: 'two' }, { SANDFLOW_TASK_QUEUE: 'q' }, { TEMPORAL_ADDRESS: 'a:1' }])(
    'differs with %o',
    (change) => {
      expect(settingsDigest(readConfig({ ...base, ...change }))).not.toBe(settingsDigest(readConfig(base)));
    },
  );
});
