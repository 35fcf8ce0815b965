/** Writes test/schemas/kubernetes.json from Kubernetes' OpenAPI document: the definitions that our manifests use, without descriptions. */
import { readFileSync, writeFileSync } from 'node:fs';

const kinds = [
  'apps.v1.Deployment',
  'autoscaling.v2.HorizontalPodAutoscaler',
  'core.v1.ConfigMap',
  'core.v1.Namespace',
  'core.v1.PersistentVolumeClaim',
  'core.v1.Service',
  'networking.v1.Ingress',
  'networking.v1.NetworkPolicy',
  'policy.v1.PodDisruptionBudget',
];
const unused = /^(?:description|x-kubernetes-(?!group-version-kind).*)$/;

const { definitions } = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const kept = {};
function keep(name) {
  if (name in kept) return;
  const { properties, ...rest } = definitions[name];
  kept[name] = withoutNotes(rest);
  if (properties)
    kept[name].properties = Object.fromEntries(Object.entries(properties).map(([one, of]) => [one, withoutNotes(of)]));
  for (const [, referred] of JSON.stringify(definitions[name]).matchAll(/"#\/definitions\/([^"]+)"/g)) keep(referred);
}

function withoutNotes(value) {
  if (Array.isArray(value)) return value.map(withoutNotes);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !unused.test(name))
      .map(([name, of]) => [name, withoutNotes(of)]),
  );
}

for (const kind of kinds) keep(`io.k8s.api.${kind}`);
const lines = Object.keys(kept)
  .sort()
  .map((name) => `${JSON.stringify(name)}:${JSON.stringify(kept[name])}`);
writeFileSync(
  new URL('../test/schemas/kubernetes.json', import.meta.url),
  `{"definitions":{\n${lines.join(',\n')}\n}}\n`,
);
