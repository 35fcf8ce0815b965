import { Ajv2019 } from 'ajv/dist/2019.js';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { readConfig } from '../../../src/config.js';
import { grammarProblems } from './cli-grammar.js';
import { readSource } from './source-imports.js';

interface Service {
  readonly image: string;
  readonly build?: string;
  readonly command?: readonly string[];
  readonly environment?: Readonly<Record<string, string>>;
  readonly ports?: readonly string[];
  readonly volumes?: readonly string[];
  readonly secrets?: readonly string[];
  readonly profiles?: readonly string[];
  readonly networks?: readonly string[];
  readonly network_mode?: string;
  readonly depends_on?: Readonly<Record<string, unknown>>;
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
  readonly networks: Readonly<Record<string, unknown>>;
  readonly secrets: Readonly<Record<string, unknown>>;
}

const compose = parse(readSource('docker-compose.yml'), { merge: true }) as Compose;
const services = Object.entries(compose.services);
const ours = services.filter(([, { build }]) => build !== undefined);

/** Violations of the Compose Specification in a file. */
function schemaErrors(file: unknown): string[] {
  // The schema uses "id" like drafts before 2019-09.
  const withoutIds = (key: string, value: unknown) => (key === 'id' && typeof value === 'string' ? undefined : value);
  const schema = JSON.parse(readSource('test/schemas/compose-spec.json'), withoutIds);
  const validate = new Ajv2019({ strict: false, validateFormats: false }).compile(schema);
  return validate(file) ? [] : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

describe('docker-compose.yml', () => {
  test('is valid by the schema of the Compose Specification', () => {
    expect(schemaErrors(compose)).toEqual([]);
  });

  test('is checked by a schema that finds a misspelt field and a wrong type', () => {
    const { worker } = compose.services;
    expect(schemaErrors({ ...compose, services: { worker: { ...worker, comand: [] } } })).not.toEqual([]);
    expect(schemaErrors({ ...compose, services: { worker: { ...worker, stop_grace_period: 30 } } })).not.toEqual([]);
  });

  test('has exactly the services that docs/production.md names', () => {
    const section = /## Docker Compose\n(.*)/s.exec(readSource('docs/production.md'))?.[1] ?? '';
    const named = [...section.matchAll(/^\| `([a-z-]+)`/gm)].map(([, name]) => name);
    expect(named.sort()).toEqual(services.map(([name]) => name).sort());
  });

  test.each(ours)('%s runs a command of the command line', (_, { command = [] }) => {
    expect(grammarProblems(command)).toEqual([]);
  });

  test.each(services)('%s publishes on loopback only, except for the bridge', (name, { ports = [] }) => {
    const beyond = ports.filter((port) => !port.startsWith('127.0.0.1:'));
    expect(beyond).toEqual(name === 'bridge' ? ['7392:7392'] : []);
    // Not even the bridge: a public port serves no metrics.
    for (const [, metrics = ''] of (compose.services[name]?.command ?? []).join(' ').matchAll(/--metrics \S+:(\d+)/g)) {
      expect(ports).toContain(`127.0.0.1:${metrics}:${metrics}`);
    }
  });

  test.each(services)('%s has no secret in its settings', (_, { environment = {} }) => {
    const secret = /PASSWORD|PWD|SECRET|KEY|TOKEN/;
    const literal = ([name, value]: [string, string]) =>
      secret.test(name) && !value.startsWith('${') && !(name.endsWith('_FILE') && value.startsWith('/'));
    expect(Object.entries(environment).filter(literal)).toEqual([]);
  });

  test.each(ours)('%s sets only variables that the configuration reads', (_, { environment = {} }) => {
    const config = readSource('src/config.ts');
    const unread = Object.keys(environment).filter((name) => !name.startsWith('TEMPORAL_') && !config.includes(name));
    expect(unread).toEqual([]);
  });

  test.each(services)('%s has a pinned image and refers to existing names', (_, service) => {
    expect(service.image).toMatch(/:\d+\.\d+/);
    expect(Object.keys(service.depends_on ?? {}).filter((name) => !(name in compose.services))).toEqual([]);
    const named = (service.volumes ?? []).map((volume) => volume.split(':', 1)[0] ?? '');
    expect(named.filter((name) => !(name in compose.volumes))).toEqual([]);
    expect((service.secrets ?? []).filter((name) => !(name in compose.secrets))).toEqual([]);
  });

  test('needs nothing of a profile without one', () => {
    const inProfile = new Set(services.filter(([, { profiles }]) => profiles).map(([name]) => name));
    const needed = services
      .filter(([name]) => !inProfile.has(name))
      .flatMap(([, service]) => Object.keys(service.depends_on ?? {}));
    expect(needed.filter((name) => inProfile.has(name))).toEqual([]);
  });
});

describe('the profile `local`', () => {
  /** The networks of a service, including those of a service whose network it shares. */
  const networksOf = (name: string): readonly string[] => {
    const { networks = ['default'], network_mode: mode = '' } = compose.services[name] ?? { image: '' };
    return mode.startsWith('service:') ? networksOf(mode.slice('service:'.length)) : networks;
  };
  const inProfile = services.filter(([, { profiles = [] }]) => profiles.includes('local')).map(([name]) => name);
  const others = services.map(([name]) => name).filter((name) => !inProfile.includes(name));
  const settingOf = (name: string, setting: string) => compose.services[name]?.environment?.[setting];

  test.each([
    'SANDFLOW_TASK_QUEUE',
    'TEMPORAL_NAMESPACE',
    'SANDFLOW_DEPLOYMENT',
    'SANDBOX_API_URL',
    'SANDBOX_API_KEY_FILE',
  ])('has its own %s', (setting) => {
    const values = (names: readonly string[]) =>
      new Set(names.map((name) => settingOf(name, setting)).filter((value) => value !== undefined));
    expect(values(inProfile).size).toBe(1);
    expect([...values(inProfile)].filter((value) => values(others).has(value))).toEqual([]);
  });

  test('creates its Temporal namespace before it is used', () => {
    const namespace = settingOf('local-worker', 'TEMPORAL_NAMESPACE');
    expect(compose.services['local-namespace']?.command?.join('')).toContain(`create --namespace ${namespace} `);
    for (const name of ['local-worker', 'local-bridge']) {
      expect(compose.services[name]?.depends_on).toMatchObject({
        'local-namespace': { condition: 'service_completed_successfully' },
      });
    }
  });

  test('runs sandboxes without access to Temporal and its database', () => {
    const reached = (from: string) =>
      services
        .map(([name]) => name)
        .filter((name) => networksOf(name).some((network) => networksOf(from).includes(network)));
    expect(reached('local').sort()).toEqual(['local', 'local-bridge', 'local-gate', 'local-webhook', 'local-worker']);
    expect(reached('postgresql').sort()).toEqual(['postgresql', 'temporal']);
    const named = services.flatMap(([name]) => networksOf(name));
    expect(named.filter((network) => !(network in compose.networks))).toEqual([]);
  });

  test('lets sandboxes read no secret except the key of their own service', () => {
    const volumesOf = (name: string) =>
      (compose.services[name]?.volumes ?? []).map((volume) => volume.split(':', 1)[0]);
    expect(compose.services.local?.secrets).toBeUndefined();
    expect(Object.keys(compose.services.local?.environment ?? {})).toEqual(['SANDFLOW_HOME']);
    const shared = services.filter(
      ([name]) => name !== 'local' && volumesOf(name).some((one) => volumesOf('local').includes(one)),
    );
    for (const [, { volumes = [] }] of shared) {
      expect(volumes).toContain('sandflow-local:/var/lib/sandflow-local:ro');
      expect(volumes.filter((volume) => volume.endsWith(':/var/lib/sandflow'))).toEqual([
        'sandflow-local-work:/var/lib/sandflow',
      ]);
    }
    expect(shared.map(([name]) => name).sort()).toEqual(['local-bridge', 'local-webhook', 'local-worker']);
  });

  test('treats a service with a missing address as an error, not as a local one', () => {
    const { environment = {} } = compose.services.worker ?? { image: '' };
    // An unset variable has the default of its placeholder.
    const unset = (value: string) => value.replace(/^\$\{\w+:-(.*)\}$/, '$1');
    const forgotten = Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, unset(value)]));
    expect(forgotten).toMatchObject({ SANDBOX_API_URL: '', SANDFLOW_ENCRYPTION_KEYS_FILE: '' });
    expect(readConfig(forgotten).noLocalService).toMatch(/SANDBOX_API_KEY_FILE is set without SANDBOX_API_URL/);
  });
});

describe('Dockerfile', () => {
  const text = readSource('Dockerfile');

  test('uses the oldest Node that the package supports', () => {
    const { engines } = JSON.parse(readSource('package.json')) as { engines: { node: string } };
    const oldest = engines.node.replace('>=', '');
    const images = [...text.matchAll(/^FROM node:([\d.]+)-/gm)].map(([, version]) => version);
    expect(images).toEqual([oldest, oldest]);
  });

  test('installs what isolates the sandboxes of the local service', () => {
    expect(text).toMatch(/apt-get install .*\bbubblewrap\b/);
  });

  test('does not run as root', () => {
    expect([...text.matchAll(/^USER (\w+)$/gm)].at(-1)?.[1]).toBe('node');
  });

  test('copies everything that the build compiles, and nothing that .dockerignore excludes', () => {
    const { include } = JSON.parse(readSource('tsconfig.build.json')) as { include: string[] };
    const copied = [...text.matchAll(/^COPY (?!--)(.+) \S+$/gm)].flatMap(([, sources = '']) => sources.split(' '));
    expect(copied).toEqual(expect.arrayContaining(include));
    const kept = readSource('.dockerignore').split('\n');
    expect(copied.filter((source) => !kept.includes(`!${source}`))).toEqual([]);
  });
});
