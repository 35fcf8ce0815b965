/**
 * The API server of Kubernetes admits `deploy/kubernetes`, with its own defaults, and the pods of the Deployments. No
 * node and no controller runs. Tier: all. Half a minute, for a server that `docs/maintainers/long-tests.md` builds.
 */
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { baseObjects, type KubernetesObject, partsIn } from '../../unit/deploy/manifests.js';
import { readSource, repository } from '../../unit/house/source-imports.js';
import { type ApiServer, noApiServer, startApiServer } from './api-server.js';

const example = ['--kustomize', join(repository, 'deploy/kubernetes/example')];
const inNamespace = ['--namespace', 'sandflow'];
const objects = baseObjects();
const parts = partsIn(objects).map(({ name, pod }) => [name, pod] as const);

describe.skipIf(noApiServer)(
  `the API server of Kubernetes${noApiServer ? `, skipped because ${noApiServer}` : ''}`,
  () => {
    let folder: string;
    let server: ApiServer;
    const read = (kind: string, name: string) => {
      const { text } = server.kubectl([...inNamespace, 'get', kind, name, '--output', 'json']);
      return JSON.parse(text) as KubernetesObject;
    };
    const done = (args: readonly string[], input?: string) => {
      const { status, text } = server.kubectl(args, input);
      expect(status, text).toBe(0);
      return text;
    };

    beforeAll(async () => {
      folder = mkdtempSync(join(tmpdir(), 'sandflow-kubernetes-'));
      server = await startApiServer(folder);
    });
    afterAll(async () => {
      await server?.close();
      rmSync(folder, { recursive: true, force: true });
    });

    it('admits every object by the steps of the README, without a warning', () => {
      mkdirSync(join(folder, 'base'));
      copyFileSync(join(repository, 'deploy/kubernetes/base/namespace.yaml'), join(folder, 'base/namespace.yaml'));
      for (const name of ['api-key', 'encryption-keys', 'webhook-secrets', 'codec-token'])
        writeFileSync(join(folder, name), 'of the test\n');
      const commands = [...readSource('deploy/kubernetes/README.md').matchAll(/^ {3}kubectl (.+)$/gm)];
      expect(commands).toHaveLength(5);
      for (const [, words = ''] of commands) done(words.split(' '));
      done(['apply', '--server-side', '--dry-run=server', ...example]);
      done(['apply', '--dry-run=server', ...example]);
      const applied = done(['apply', ...example]);
      expect(applied.match(/ (?:created|configured|unchanged)$/gm)).toHaveLength(objects.length);
    });

    it('keeps what the manifests say, beside its own defaults', () => {
      for (const { kind, metadata, spec } of objects) {
        if (kind === 'ConfigMap' || kind === 'Namespace') continue;
        const kept = JSON.parse(JSON.stringify(read(kind, metadata.name).spec));
        // The example sets these.
        if (kind !== 'Ingress' && kind !== 'PersistentVolumeClaim') expect(kept).toMatchObject(withoutImages(spec));
      }
    });

    it('gives the autoscaler the growth that the tests of it assume', () => {
      expect(read('HorizontalPodAutoscaler', 'sandflow-worker').spec.behavior).toMatchObject({
        scaleUp: {
          stabilizationWindowSeconds: 0,
          selectPolicy: 'Max',
          policies: [
            { type: 'Pods', value: 4, periodSeconds: 15 },
            { type: 'Percent', value: 100, periodSeconds: 15 },
          ],
        },
        scaleDown: { selectPolicy: 'Max' },
      });
    });

    it('changes nothing when the same is applied again, and leaves the number of workers to the autoscaler', () => {
      done([...inNamespace, 'scale', 'deployment/sandflow-worker', '--replicas', '4']);
      const generations = () => {
        const kinds = 'deployments,horizontalpodautoscalers,poddisruptionbudgets,networkpolicies,ingresses';
        return done([
          ...inNamespace,
          'get',
          kinds,
          '--output',
          'custom-columns=:kind,:metadata.name,:metadata.generation',
        ]);
      };
      const before = generations();
      done(['apply', ...example]);
      expect(generations()).toBe(before);
      expect(read('Deployment', 'sandflow-worker').spec.replicas).toBe(4);
    });

    it.each(parts)(
      'admits the pod of the %s under the standard of its namespace, and no pod that may become root',
      (name, pod) => {
        // The controller that makes it does not run.
        server.kubectl([...inNamespace, 'create', 'serviceaccount', 'default']);
        const create = (spec: object) => {
          const object = { apiVersion: 'v1', kind: 'Pod', metadata: { name: `one-${name}` }, spec };
          return server.kubectl(
            [...inNamespace, 'create', '--dry-run=server', '--filename', '-'],
            JSON.stringify(object),
          );
        };
        const admitted = create(pod);
        expect(admitted.status, admitted.text).toBe(0);
        const refused = create({ ...pod, securityContext: { ...pod.securityContext, runAsNonRoot: false } });
        expect(refused.text).toContain('violates PodSecurity "restricted');
      },
    );

    it('refuses a field that it does not know', () => {
      const [deployment] = objects.filter(({ kind }) => kind === 'Deployment');
      const misspelt = JSON.stringify({ ...deployment, spec: { ...deployment?.spec, replica: 2 } });
      const { status, text } = server.kubectl(
        [...inNamespace, 'apply', '--dry-run=server', '--filename', '-'],
        misspelt,
      );
      expect(status, text).not.toBe(0);
      expect(text).toContain('replica');
    });
  },
);

/** The example sets the images, and the server leaves out an empty list. */
function withoutImages(spec: unknown): object {
  return JSON.parse(
    JSON.stringify(spec, (key, value) =>
      key === 'image' || (Array.isArray(value) && value.length === 0) ? undefined : value,
    ),
  );
}
