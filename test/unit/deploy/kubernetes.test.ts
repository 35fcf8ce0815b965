import { spawnSync } from 'node:child_process';
import { describe, expect, test } from 'vitest';
import { defaultMaxActivities } from '../../../activities/index.js';
import { followTaskQueue } from '../../../src/addresses/addresses.js';
import { webhookPath } from '../../../src/bridge/index.js';
import { readConfig, settingVariables } from '../../../src/config.js';
import { grammarProblems } from '../house/cli-grammar.js';
import { readSource } from '../house/source-imports.js';
import { baseObjects, partsIn, render, schemaProblems } from './manifests.js';

const objects = baseObjects();
const ofKind = (kind: string) => objects.filter((one) => one.kind === kind);
const parts = partsIn(objects).map((part) => [part.name, part] as const);
const [worker, bridge] = ['worker', 'bridge'].map((name) => new Map(parts).get(name));
const deployments = ofKind('Deployment');
const noKubectl = spawnSync('kubectl', ['version', '--client']).status !== 0;

/** The value of an option of a container's command. */
const optionIn = (args: readonly string[], option: string) => args[args.indexOf(option) + 1] ?? '';
const listening = ['--port', '--metrics', '--health'];
const portsIn = (args: readonly string[]) =>
  args.flatMap((word, at) => (listening.includes(word) ? [Number(args[at + 1]?.split(':').at(-1))] : []));
/** The components of the Deployments whose pods a selector matches. */
const selected = (labels: Readonly<Record<string, string>>) =>
  deployments
    .filter(({ spec }) => Object.entries(labels).every(([name, of]) => spec.template.metadata.labels[name] === of))
    .map(({ spec }) => spec.template.metadata.labels['app.kubernetes.io/component'] as string);

describe('the manifests of Kubernetes', () => {
  test.each(objects.map((one) => [`${one.kind} ${one.metadata.name}`, one] as const))(
    '%s is valid by the schema of its kind',
    (_, object) => {
      expect(schemaProblems(object)).toEqual([]);
    },
  );

  test('are checked by a schema that finds a misspelt field, a wrong type and a missing field', () => {
    const [deployment] = deployments;
    const { spec } = deployment ?? { spec: {} };
    const changed = (fields: object) => schemaProblems({ ...objects[0], ...deployment, ...fields } as never);
    expect(changed({ spec: { ...spec, replica: 2 } }).join()).toContain('replica');
    expect(changed({ spec: { ...spec, replicas: 'two' } }).join()).toContain('integer');
    expect(changed({ spec: { ...spec, selector: undefined } }).join()).toContain('selector');
    expect(changed({ kind: 'Deploymant' }).join()).toContain('no schema');
  });

  test.skipIf(noKubectl).each(['base', 'example'] as const)('%s renders to valid objects', (kustomization) => {
    const rendered = render(kustomization);
    expect(rendered.flatMap(schemaProblems)).toEqual([]);
    const names = (all: typeof objects) => all.map(({ kind, metadata }) => `${kind} ${metadata.name}`).sort();
    expect(names(rendered)).toEqual(names(objects));
    const outside = rendered.filter(({ kind, metadata }) => kind !== 'Namespace' && !('namespace' in metadata));
    expect(outside).toEqual([]);
  });

  test('run a worker, a bridge and a codec server', () => {
    expect(parts.map(([name]) => name).sort()).toEqual(['bridge', 'codec-server', 'worker']);
  });

  test('select exactly one part with each Service, budget and network policy', () => {
    for (const { spec } of ofKind('Service')) expect(selected(spec.selector)).toHaveLength(1);
    for (const { spec } of ofKind('PodDisruptionBudget')) expect(selected(spec.selector.matchLabels)).toHaveLength(1);
    const guarded = ofKind('NetworkPolicy').flatMap(({ spec }) => selected(spec.podSelector.matchLabels));
    expect(guarded.sort()).toEqual(parts.map(([name]) => name).sort());
    for (const { spec } of deployments) expect(selected(spec.selector.matchLabels)).toHaveLength(1);
  });

  test('let a node be emptied: no budget forbids the end of a pod', () => {
    const autoscaled = ofKind('HorizontalPodAutoscaler')[0]?.spec;
    expect(autoscaled.minReplicas).toBeGreaterThan(1);
    for (const { spec } of ofKind('PodDisruptionBudget')) {
      const [component] = selected(spec.selector.matchLabels);
      const replicas =
        component === 'worker'
          ? autoscaled.minReplicas
          : deployments.find(({ metadata }) => metadata.labels?.['app.kubernetes.io/component'] === component)?.spec
              .replicas;
      expect(replicas - (spec.minAvailable ?? replicas - spec.maxUnavailable)).toBeGreaterThan(0);
    }
  });

  test('scale workers by the slots of the queues that they serve', () => {
    const { scaleTargetRef, metrics } = ofKind('HorizontalPodAutoscaler')[0]?.spec ?? {};
    expect(scaleTargetRef.name).toBe('sandflow-worker');
    const queues = metrics.map(
      ({ pods }: { pods: { metric: { selector: { matchLabels: { task_queue: string } } } } }) =>
        pods.metric.selector.matchLabels.task_queue,
    );
    const taskQueue = worker?.env.SANDFLOW_TASK_QUEUE ?? '';
    expect(queues).toEqual([followTaskQueue(taskQueue), taskQueue]);
    expect(deployments.find(({ metadata }) => metadata.name === 'sandflow-worker')?.spec.replicas).toBeUndefined();
  });

  test('want another worker before one has no place for a young prompt, or for another call', () => {
    const places = [
      numberIn('activities/prompt/follow-prompt.ts', /youngAtMost = (\d+)/),
      // The rest is for stops.
      (3 / 4) * defaultMaxActivities,
    ];
    const targets = ofKind('HorizontalPodAutoscaler')[0]?.spec.metrics.map(
      ({ pods }: { pods: { target: { averageValue: string } } }) => Number(pods.target.averageValue),
    );
    // Kubernetes does nothing about a tenth more.
    for (const [at, target] of targets.entries()) expect(1.1 * target).toBeLessThan(places[at] ?? 0);
  });

  test('expose the webhook to the world, and nothing else', () => {
    const [ingress] = ofKind('Ingress');
    const paths = ingress?.spec.rules.flatMap(({ http }: { http: { paths: object[] } }) => http.paths);
    const backend = { service: { name: 'sandflow-bridge', port: { name: 'webhooks' } } };
    expect(paths).toEqual([{ path: webhookPath, pathType: 'Exact', backend }]);
    for (const { spec } of ofKind('Service')) expect(spec.type ?? 'ClusterIP').toBe('ClusterIP');
  });

  test('keep secrets out of settings', () => {
    const values = ofKind('ConfigMap').flatMap(({ data = {} }) => Object.entries(data));
    const secret = /PASSWORD|SECRET|KEY|TOKEN/;
    expect(values.filter(([name, value]) => secret.test(name) && !value.startsWith('/'))).toEqual([]);
    expect(ofKind('Secret')).toEqual([]);
  });

  test('are of the version of the package', () => {
    const { version } = JSON.parse(readSource('package.json')) as { version: string };
    for (const [, { container }] of parts) expect(container.image).toBe(`sandflow:${version}`);
    expect(readSource('deploy/kubernetes/example/kustomization.yaml')).toContain(`newTag: ${version}\n`);
  });
});

describe.each(parts)('the %s in Kubernetes', (name, { pod, container, env }) => {
  const annotations = deployments.find(({ spec }) => spec.template.spec === pod)?.spec.template.metadata.annotations;
  const named = new Map(container.ports.map((port) => [port.name, port.containerPort]));

  test('runs a command of the command line', () => {
    expect(container.args[0]).toBe(name);
    expect(grammarProblems(container.args)).toEqual([]);
  });

  test('has only settings that sandflow reads, and accepts', () => {
    expect(Object.keys(env).filter((one) => !settingVariables.includes(one))).toEqual([]);
    expect(() => readConfig(env)).not.toThrow();
  });

  test('listens on the ports that it names, on all addresses of the pod', () => {
    expect([...named.values()].sort()).toEqual(portsIn(container.args).sort());
    const hosts = [...container.args.join(' ').matchAll(/--(?:host |metrics |health )([\d.]+)/g)].map(
      ([, host]) => host,
    );
    expect(new Set(hosts)).toEqual(new Set(['0.0.0.0']));
    for (const { spec } of ofKind('Service')) {
      if (!selected(spec.selector).includes(name)) continue;
      for (const { targetPort } of spec.ports) expect([...named.keys()]).toContain(targetPort);
    }
    for (const { spec } of ofKind('NetworkPolicy')) {
      if (!selected(spec.podSelector.matchLabels).includes(name)) continue;
      const entered = spec.ingress.flatMap(({ ports }: { ports: { port: number }[] }) => ports.map(({ port }) => port));
      // The kubelet asks for the health.
      expect(entered.sort()).toEqual(portsIn(container.args.filter((word) => word !== '--health')).sort());
    }
    const metrics = optionIn(container.args, '--metrics').split(':')[1];
    if (container.args.includes('--metrics')) expect(annotations).toMatchObject({ 'prometheus.io/port': metrics });
  });

  test('is asked for its health on a port that it names', () => {
    const { startupProbe, livenessProbe, readinessProbe } = container;
    for (const { httpGet } of [startupProbe, livenessProbe, readinessProbe]) {
      expect([...named.keys()]).toContain(httpGet.port);
      expect(httpGet.port).not.toBe('metrics');
    }
    // What Kubernetes restarts must not depend on Temporal.
    for (const { httpGet } of [startupProbe, livenessProbe]) expect(httpGet.path).toBe('/healthz');
  });

  test('is a user that nobody knows, in a container that it cannot change', () => {
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } });
    expect(pod.securityContext.runAsUser).toBeGreaterThan(10_000);
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    expect(pod).toMatchObject({ automountServiceAccountToken: false, enableServiceLinks: false });
  });

  test('gets exactly the secrets that its settings name, as files that only its group reads', () => {
    const sources = pod.volumes.flatMap(({ projected }) => projected?.sources ?? []);
    for (const { projected } of pod.volumes) if (projected) expect(projected.defaultMode).toBe(0o440);
    const { mountPath, readOnly } = container.volumeMounts.find((mount) => mount.name === 'secrets') ?? {};
    expect(readOnly).toBe(true);
    const files = sources.map(({ secret }) => `${mountPath}/${secret.name.replace('sandflow-', '')}`).sort();
    const needed = {
      worker: [env.SANDBOX_API_KEY_FILE, env.SANDFLOW_ENCRYPTION_KEYS_FILE],
      bridge: [env.SANDBOX_WEBHOOK_SECRET_FILE, env.SANDFLOW_ENCRYPTION_KEYS_FILE],
      'codec-server': [env.SANDFLOW_ENCRYPTION_KEYS_FILE, optionIn(container.args, '--token-file')],
    };
    expect(files).toEqual([...(needed[name as keyof typeof needed] ?? [])].sort());
    const readme = readSource('deploy/kubernetes/README.md');
    for (const { secret } of sources) expect(readme).toContain(`secret generic ${secret.name} `);
  });
});

test('the worker keeps results and secrets on a volume that all workers share', () => {
  const mount = worker?.container.volumeMounts.find(({ name }) => name === 'store')?.mountPath;
  expect(worker?.env).toMatchObject({ SANDFLOW_HOME: mount, SANDFLOW_RESULTS: `${mount}/results` });
  const claim = worker?.pod.volumes.find(({ name }) => name === 'store')?.persistentVolumeClaim?.claimName;
  const [store] = ofKind('PersistentVolumeClaim');
  expect(store).toMatchObject({ metadata: { name: claim }, spec: { accessModes: ['ReadWriteMany'] } });
});

const numberIn = (file: string, pattern: RegExp) =>
  Number(pattern.exec(readSource(file))?.[1]?.replaceAll('_', '') ?? Number.NaN);

test.each([
  ['Kubernetes', worker?.pod.terminationGracePeriodSeconds],
  ['systemd', numberIn('deploy/systemd/sandflow-worker@.service', /^TimeoutStopSec=(\d+)$/m)],
  ['Compose', numberIn('docker-compose.yml', /^ {2}command: \[worker,.*?^ {2}stop_grace_period: (\d+)s$/ms)],
] as const)('a worker in %s has 5 s more than it needs to drain at most', (_, graceSeconds) => {
  const activitiesMs = 1_000 * numberIn('src/worker/queues.ts', /defaultGraceTime = '(\d+) seconds'/);
  // It is never cut, and an activity may begin it until its time is over.
  const callMs = numberIn('activities/retry/send-at-most-once.ts', /longestCallMs = ([\d_]+)/);
  expect(1_000 * (graceSeconds ?? 0)).toBeGreaterThanOrEqual(activitiesMs + callMs + 5_000);
});

test('the bridge has 5 s more than it needs to drain at most', () => {
  const acceptsMs = 1_000 * Number.parseInt(optionIn(bridge?.container.args ?? [], '--drain'), 10);
  const closesMs = numberIn('src/bridge/create-bridge.ts', /closeGraceMs = ([\d_]+)/);
  const graceMs = 1_000 * (bridge?.pod.terminationGracePeriodSeconds ?? 0);
  expect(graceMs).toBeGreaterThanOrEqual(acceptsMs + closesMs + 5_000);
});

test('the bridge accepts deliveries until the failed readiness has taken it out of its Service', () => {
  const { args = [], readinessProbe } = bridge?.container ?? {};
  const {
    periodSeconds,
    timeoutSeconds,
    failureThreshold = 1,
  } = readinessProbe ?? { periodSeconds: 0, timeoutSeconds: 0 };
  const noticedMs = 1_000 * (periodSeconds * failureThreshold + timeoutSeconds);
  expect(1_000 * Number.parseInt(optionIn([...args], '--drain'), 10)).toBeGreaterThan(noticedMs);
});
