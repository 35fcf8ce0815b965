import { Ajv2019 } from 'ajv/dist/2019.js';
import { describe, expect, test } from 'vitest';
import { grammarProblems } from '../cli-grammar.js';
import { readSource } from '../source-imports.js';
import { built, compose, composeText, endedBefore, ours, serviceOf, services } from './compose-file.js';

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

  test.each(ours.filter(([, { entrypoint }]) => !entrypoint))(
    '%s runs a command of the command line',
    (_, { command }) => {
      expect(grammarProblems(command ?? [])).toEqual([]);
    },
  );

  test('shows only commands of the command line, and services that exist', () => {
    const shown = [...composeText.matchAll(/^# +docker compose (?:exec|run --rm) ([a-z-]+) (?:sandflow )?(.+)$/gm)];
    expect(shown.length).toBeGreaterThan(2);
    for (const [, service = '', line = ''] of shown) {
      expect(ours.map(([name]) => name)).toContain(service);
      const args = [...line.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? '');
      expect(grammarProblems(args)).toEqual([]);
    }
  });

  test.each(services)('%s publishes on loopback only, except for the bridge', (name, { ports = [] }) => {
    const beyond = ports.filter((port) => !port.startsWith('127.0.0.1:'));
    // The UI is where no web page can guess it, or, without that setting, at an address of no machine.
    const ofUi = `\${TEMPORAL_UI_IP:-192.0.2.1}:8233:8080`;
    const elsewhere = { bridge: ['7392:7392'], 'temporal-ui': [ofUi] };
    expect(beyond).toEqual(elsewhere[name as keyof typeof elsewhere] ?? []);
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
    const sources = (service.volumes ?? []).map((volume) => volume.split(':', 1)[0] ?? '');
    for (const file of sources.filter((source) => source.startsWith('./'))) expect(readSource(file)).not.toBe('');
    expect(sources.filter((source) => !source.startsWith('./') && !(source in compose.volumes))).toEqual([]);
    expect((service.secrets ?? []).filter((name) => !(name in compose.secrets))).toEqual([]);
  });

  test('builds each image once, before any service that uses it starts', () => {
    const builders = services.filter(([, { build }]) => build !== undefined).map(([name]) => name);
    expect(builders.sort()).toEqual(['image', 'local-image']);
    for (const [name, { image, pull_policy }] of built) {
      const [builder = ''] = builders.filter((one) => serviceOf(one).image === image);
      expect(pull_policy, name).toBe('never');
      if (name !== builder) expect(endedBefore(name), name).toContain(builder);
    }
    expect(services.filter(([name]) => endedBefore(name).includes('local-image')).map(([name]) => name)).not.toContain(
      'worker',
    );
  });

  test('runs a server of Temporal that is still published, with the tools and the schema of its version', () => {
    const versionOf = (image: string) =>
      new Set(services.flatMap(([, it]) => (it.image.startsWith(`${image}:`) ? [it.image.split(':')[1]] : [])));
    expect(versionOf('temporalio/auto-setup').size).toBe(0);
    expect(versionOf('temporalio/server').size).toBe(1);
    expect(versionOf('temporalio/admin-tools')).toEqual(versionOf('temporalio/server'));
    expect(endedBefore('temporal')).toEqual(['temporal-schema']);
    // Without a client of Temporal in the image.
    expect(serviceOf('temporal').healthcheck?.test[1]).toBe('nc');
  });

  test('keeps closed jobs for a month in each namespace, which is there before it is used', () => {
    const creators = new Map(
      services.flatMap(([name, { command = [], environment = {} }]) =>
        command.join('').includes('namespace create --namespace "$$TEMPORAL_NAMESPACE" --retention 720h')
          ? [[environment.TEMPORAL_NAMESPACE, name] as const]
          : [],
      ),
    );
    expect([...creators.keys()].sort()).toEqual(['default', 'sandflow-local']);
    for (const name of ['worker', 'bridge', 'local-worker', 'local-bridge']) {
      expect(endedBefore(name)).toContain(creators.get(serviceOf(name).environment?.TEMPORAL_NAMESPACE));
    }
  });

  test.each(services)('%s shares the network of no other container, which could take it along', (_, service) => {
    expect(service.network_mode ?? 'none').toBe('none');
  });

  test.each(services)('%s keeps a limited log', (_, { logging }) => {
    expect(logging?.options).toEqual({ 'max-size': '10m', 'max-file': '3' });
  });

  const lasting = services.filter(([name, { restart }]) => restart === 'unless-stopped' && name !== 'temporal-ui');
  test.each(lasting)('%s has a health check, of an address that it serves', (name, { healthcheck, command = [] }) => {
    const [, port] = /127\.0\.0\.1:(\d+)/.exec(healthcheck?.test.join(' ') ?? '') ?? [];
    expect(healthcheck).toBeDefined();
    if (built.some(([own]) => own === name)) expect(command.join(' ')).toContain(port);
  });

  test.each(built)('%s has no capability, and cannot get one', (_, { cap_drop, security_opt }) => {
    expect(cap_drop).toEqual(['ALL']);
    expect(security_opt).toContain('no-new-privileges:true');
  });

  test('needs nothing of a profile without one', () => {
    const inProfile = new Set(services.filter(([, { profiles }]) => profiles).map(([name]) => name));
    const needed = services
      .filter(([name]) => !inProfile.has(name))
      .flatMap(([, service]) => Object.keys(service.depends_on ?? {}));
    expect(needed.filter((name) => inProfile.has(name))).toEqual([]);
  });
});
