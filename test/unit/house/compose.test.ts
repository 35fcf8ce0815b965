import { Ajv2019 } from 'ajv/dist/2019.js';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
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
  readonly depends_on?: Readonly<Record<string, unknown>>;
}

interface Compose {
  readonly services: Readonly<Record<string, Service>>;
  readonly volumes: Readonly<Record<string, unknown>>;
  readonly secrets: Readonly<Record<string, unknown>>;
}

const compose = parse(readSource('docker-compose.yml'), { merge: true }) as Compose;
const services = Object.entries(compose.services);
const ours = services.filter(([, { build }]) => build !== undefined);

/** What the Compose Specification says against a file. */
function schemaErrors(file: unknown): string[] {
  // It calls its parts "id" as drafts before 2019-09 did.
  const withoutIds = (key: string, value: unknown) => (key === 'id' && typeof value === 'string' ? undefined : value);
  const schema = JSON.parse(readSource('test/schemas/compose-spec.json'), withoutIds);
  const validate = new Ajv2019({ strict: false, validateFormats: false }).compile(schema);
  return validate(file) ? [] : (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
}

describe('docker-compose.yml', () => {
  test('is a Compose file by the schema of the Compose Specification', () => {
    expect(schemaErrors(compose)).toEqual([]);
  });

  test('the schema finds a misspelt field and a wrong type', () => {
    const { worker } = compose.services;
    expect(schemaErrors({ ...compose, services: { worker: { ...worker, comand: [] } } })).not.toEqual([]);
    expect(schemaErrors({ ...compose, services: { worker: { ...worker, stop_grace_period: 30 } } })).not.toEqual([]);
  });

  test('has the services that the README names, and no others', () => {
    const section = /### With Docker Compose\n(.*?)\n##/s.exec(readSource('README.md'))?.[1] ?? '';
    const named = [...section.matchAll(/^\| `([a-z-]+)`/gm)].map(([, name]) => name);
    expect(named.sort()).toEqual(services.map(([name]) => name).sort());
  });

  test.each(ours)('%s runs a command of the command line', (_, { command = [] }) => {
    expect(grammarProblems(command)).toEqual([]);
  });

  test.each(services)('%s publishes on loopback only, but for the bridge', (name, { ports = [] }) => {
    const beyond = ports.filter((port) => !port.startsWith('127.0.0.1:'));
    expect(beyond).toEqual(name === 'bridge' ? ['7392:7392'] : []);
  });

  test.each(services)('%s has no secret in its settings', (_, { environment = {} }) => {
    const secret = /PASSWORD|PWD|SECRET|KEY|TOKEN/;
    const literal = ([name, value]: [string, string]) =>
      secret.test(name) && !value.startsWith('${') && !(name.endsWith('_FILE') && value.startsWith('/'));
    expect(Object.entries(environment).filter(literal)).toEqual([]);
  });

  test.each(ours)('%s sets only what the configuration reads', (_, { environment = {} }) => {
    const config = readSource('src/config.ts');
    const unread = Object.keys(environment).filter((name) => !name.startsWith('TEMPORAL_') && !config.includes(name));
    expect(unread).toEqual([]);
  });

  test.each(services)('%s has a pinned image and refers to what exists', (_, service) => {
    expect(service.image).toMatch(/:\d+\.\d+/);
    expect(Object.keys(service.depends_on ?? {}).filter((name) => !(name in compose.services))).toEqual([]);
    const named = (service.volumes ?? []).map((volume) => volume.split(':', 1)[0] ?? '');
    expect(named.filter((name) => !(name in compose.volumes))).toEqual([]);
    expect((service.secrets ?? []).filter((name) => !(name in compose.secrets))).toEqual([]);
  });

  test('what runs without a profile needs nothing of one', () => {
    const inProfile = new Set(services.filter(([, { profiles }]) => profiles).map(([name]) => name));
    const needed = services
      .filter(([name]) => !inProfile.has(name))
      .flatMap(([, service]) => Object.keys(service.depends_on ?? {}));
    expect(needed.filter((name) => inProfile.has(name))).toEqual([]);
  });
});

describe('Dockerfile', () => {
  const text = readSource('Dockerfile');

  test('uses the oldest Node that the package serves', () => {
    const { engines } = JSON.parse(readSource('package.json')) as { engines: { node: string } };
    const oldest = engines.node.replace('>=', '');
    const images = [...text.matchAll(/^FROM node:([\d.]+)-/gm)].map(([, version]) => version);
    expect(images).toEqual([oldest, oldest]);
  });

  test('does not run as root', () => {
    expect([...text.matchAll(/^USER (\w+)$/gm)].at(-1)?.[1]).toBe('node');
  });

  test('copies all that the build compiles, and nothing that .dockerignore leaves out', () => {
    const { include } = JSON.parse(readSource('tsconfig.build.json')) as { include: string[] };
    const copied = [...text.matchAll(/^COPY (?!--)(.+) \S+$/gm)].flatMap(([, sources = '']) => sources.split(' '));
    expect(copied).toEqual(expect.arrayContaining(include));
    const kept = readSource('.dockerignore').split('\n');
    expect(copied.filter((source) => !kept.includes(`!${source}`))).toEqual([]);
  });
});
