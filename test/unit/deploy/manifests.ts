/** Reads `deploy/kubernetes` as kubectl does, and validates it by the schemas of Kubernetes. */
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { Ajv } from 'ajv';
import { parse, parseAllDocuments } from 'yaml';
import { readSource, repository } from '../house/source-imports.js';

export interface KubernetesObject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly data?: Readonly<Record<string, string>>;
  // biome-ignore lint/suspicious/noExplicitAny: a schema says what it holds, and each test what it reads
  readonly spec?: any;
}

export interface Container {
  readonly name: string;
  readonly image: string;
  readonly args: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value: string }[];
  readonly envFrom?: readonly { readonly configMapRef: { readonly name: string } }[];
  readonly ports: readonly { readonly name: string; readonly containerPort: number }[];
  readonly startupProbe: Probe;
  readonly livenessProbe: Probe;
  readonly readinessProbe: Probe;
  readonly securityContext: unknown;
  readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string; readonly readOnly?: boolean }[];
}

interface Probe {
  readonly httpGet: { readonly path: string; readonly port: string };
  readonly periodSeconds: number;
  readonly timeoutSeconds: number;
  readonly failureThreshold?: number;
}

export interface Volume {
  readonly name: string;
  readonly projected?: {
    readonly defaultMode: number;
    readonly sources: readonly { readonly secret: { readonly name: string } }[];
  };
  readonly persistentVolumeClaim?: { readonly claimName: string };
}

export interface PodSpec {
  readonly terminationGracePeriodSeconds: number;
  readonly securityContext: { readonly runAsUser: number; readonly runAsGroup: number; readonly fsGroup: number };
  readonly containers: readonly [Container];
  readonly volumes: readonly Volume[];
}

/** A part of the installation: the pod of a Deployment, with its only container. */
export interface Part {
  readonly name: string;
  readonly pod: PodSpec;
  readonly container: Container;
  /** The environment of the container, without that of the image. */
  readonly env: Readonly<Record<string, string>>;
}

const folder = 'deploy/kubernetes';

/** kubectl reads YAML 1.1, where 0440 is octal. */
const yaml = { version: '1.1', merge: true } as const;

const readAll = (text: string) => parseAllDocuments(text, yaml).map((one) => one.toJS() as KubernetesObject);

/** The objects of the base, without what kustomize does to them. */
export function baseObjects(): readonly KubernetesObject[] {
  const { resources } = parse(readSource(`${folder}/base/kustomization.yaml`)) as { resources: string[] };
  return resources.flatMap((file) => readAll(readSource(`${folder}/base/${file}`)));
}

/** The objects of a kustomization, as `kubectl apply --kustomize` would send them. */
export function render(kustomization: 'base' | 'example'): readonly KubernetesObject[] {
  return readAll(execFileSync('kubectl', ['kustomize', join(repository, folder, kustomization)], { encoding: 'utf8' }));
}

export function partsIn(objects: readonly KubernetesObject[]): readonly Part[] {
  const settings = new Map(
    objects.filter(({ kind }) => kind === 'ConfigMap').map((one) => [one.metadata.name, one.data]),
  );
  return objects
    .filter(({ kind }) => kind === 'Deployment')
    .map(({ spec }) => {
      const pod = spec.template.spec as PodSpec;
      const [container] = pod.containers;
      const shared = (container.envFrom ?? []).map(({ configMapRef: { name } }) => settings.get(name));
      const own = (container.env ?? []).map(({ name, value }) => [name, value]);
      return { name: container.name, pod, container, env: Object.assign({}, ...shared, Object.fromEntries(own)) };
    });
}

type Definition = Record<string, unknown> & {
  readonly 'x-kubernetes-group-version-kind'?: readonly { group: string; version: string; kind: string }[];
};

let ajv: Ajv | undefined;
const definitionOf = new Map<string, string>();

/** Makes of the definitions a schema that refuses unknown fields, as the server does. */
function compile(): Ajv {
  const document = JSON.parse(readSource('test/schemas/kubernetes.json')) as {
    definitions: Record<string, Definition>;
  };
  // The document calls it a string.
  const either = { type: ['string', 'integer'] };
  for (const [name, definition] of Object.entries(document.definitions)) {
    if (name.endsWith('.IntOrString')) document.definitions[name] = either;
    else if (definition.properties) definition.additionalProperties = false;
    for (const { group, version, kind } of definition['x-kubernetes-group-version-kind'] ?? [])
      definitionOf.set(`${group ? `${group}/` : ''}${version} ${kind}`, name);
  }
  return new Ajv({ strict: false, validateFormats: false, allErrors: true }).addSchema({ $id: 'k8s', ...document });
}

/** What an object has against the schema of its kind. */
export function schemaProblems(object: KubernetesObject): string[] {
  ajv ??= compile();
  const { apiVersion, kind, metadata } = object;
  const name = definitionOf.get(`${apiVersion} ${kind}`);
  if (name === undefined) return [`there is no schema of ${apiVersion} ${kind}`];
  const validate = ajv.getSchema(`k8s#/definitions/${name}`);
  if (validate?.(object) === true) return [];
  return (validate?.errors ?? []).map(
    ({ instancePath, message, params }) =>
      `${kind} ${metadata.name}${instancePath} ${message} ${JSON.stringify(params)}`,
  );
}
