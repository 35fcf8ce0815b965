/** Each part of `deploy/kubernetes` as a process with the settings of its manifest. No cluster is started. */
import { randomBytes } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { defaultPayloadConverter } from '@temporalio/common';
import { afterAll, afterEach, beforeAll, describe, expect, inject, it } from 'vitest';
import { createLocalService, type LocalService } from '../../../local-service/src/index.js';
import { createPayloadCodec, newKeyLine, parseKeyRing } from '../../../src/encryption/index.js';
import { deliver, eventBody, newOwned } from '../../bridge/bridge-harness.js';
import { arm, armed, reportOf, shell } from '../../e2e/stack/fixture.js';
import { baseObjects, type KubernetesObject, type Part, partsIn } from '../../unit/deploy/manifests.js';
import { slotsUsed } from './autoscaler.js';
import { noPods, type Pod, type PodOptions, startPod } from './pod.js';
import { sharedVolume } from './volumes.js';

const objects = baseObjects();
const parts = new Map(partsIn(objects).map((part) => [part.name, part]));
const partOf = (name: string): Part => {
  const part = parts.get(name);
  if (!part) throw new Error(`The manifests have no ${name}.`);
  return part;
};
const autoscaler = objects.find(({ kind }) => kind === 'HorizontalPodAutoscaler') as KubernetesObject;
const manifestUser = partOf('worker').pod.securityContext;
/** OpenShift chooses a number for each namespace, and the group 0. */
const openShiftUser = { runAsUser: 1_000_680_000, runAsGroup: 0, fsGroup: 1_000_680_000 };

const keyLine = newKeyLine('k1');
const codec = createPayloadCodec(parseKeyRing(keyLine));
const jobIds = ['a', 'b', 'c', 'd'];
const webhookSecret = `whsec_${randomBytes(32).toString('base64')}`;
const token = randomBytes(32).toString('hex');
const apiKey = 'sk_of_the_test_0123456789';
const secrets = {
  'sandflow-api-key': { 'api-key': `${apiKey}\n` },
  'sandflow-encryption-keys': { 'encryption-keys': keyLine },
  'sandflow-webhook-secrets': { 'webhook-secrets': `${webhookSecret}\n` },
  'sandflow-codec-token': { 'codec-token': `${token}\n` },
};

describe.skipIf(noPods)(`the parts in Kubernetes${noPods ? `, skipped because ${noPods}` : ''}`, () => {
  let folder: string;
  let service: LocalService;
  let connection: Connection;
  let client: Client;
  let stores = 0;
  const pods: Pod[] = [];
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'sandflow-pods-'));
    service = await createLocalService({
      directory: join(folder, 'service'),
      apiKey,
      port: 0,
      isolation: 'plain',
      faultsEnabled: true,
      timings: { bootMs: 50, archiveMs: 50 },
    });
    await service.listen();
    connection = await Connection.connect({ address: inject('temporalAddress') });
    client = new Client({ connection });
  });
  afterEach(async () => {
    for (const pod of pods.splice(0)) {
      await pod.kill('SIGKILL');
      await pod.ended;
    }
  });
  afterAll(async () => {
    await connection?.close();
    await service?.close();
    rmSync(folder, { recursive: true, force: true });
  });

  /** A deployment with a task queue and a volume of its own. */
  function installation(user: Partial<Pick<PodOptions, 'security' | 'homeVariable'>> = {}) {
    const name = `k${randomBytes(4).toString('hex')}`;
    stores += 1;
    const claims = {
      'sandflow-store': sharedVolume(join(folder, `store-${stores}`), (user.security ?? manifestUser).fsGroup),
    };
    const settings = {
      TEMPORAL_ADDRESS: inject('temporalAddress'),
      SANDBOX_API_URL: service.url,
      SANDFLOW_DEPLOYMENT: name,
    };
    return {
      deployment: name,
      async start(part: string) {
        const env = part === 'codec-server' ? {} : { ...settings, SANDFLOW_TASK_QUEUE: name };
        const pod = await startPod(partOf(part), { secrets, claims, settings: env, folder, ...user });
        pods.push(pod);
        return pod;
      },
    };
  }

  it.each([
    ['the user of the manifests', {}],
    ['a user of OpenShift', { security: openShiftUser, homeVariable: '/' }],
  ])('complete a job and end within their grace period, as %s', async (_, user) => {
    const { start } = installation(user);
    const all = [await start('worker'), await start('bridge'), await start('codec-server')] as const;
    const [worker] = all;
    const run = await worker.exec(['run', shell('echo through'), '--json']);
    expect(reportOf(run), run.stderr).toMatchObject({ outcome: 'completed', prompts: [{ result: 'through\n' }] });
    for (const pod of all)
      expect([await pod.probe('startupProbe'), await pod.probe('livenessProbe')]).toEqual([200, 200]);
    const ends = await Promise.all(all.map((pod) => pod.terminate()));
    expect(ends.map(({ exitCode }) => exitCode)).toEqual([0, 0, 0]);
  });

  it('a worker that ends under load gives its jobs to the next one, and its metrics are what the autoscaler reads', async () => {
    const { start, deployment } = installation();
    const first = await start('worker');
    const waits = shell('while [ ! -e go ]; do sleep 0.1; done; echo through');
    for (const id of jobIds)
      expect(await first.exec(['run', waits, '--id', id, '--detach'])).toMatchObject({ exitCode: 0 });
    const ours = () => service.books.sandboxes().filter(({ name }) => name.startsWith(`sf-${deployment}-`));
    const prompts = () => ours().flatMap(({ id }) => service.books.prompts({ sandboxId: id }));
    await expect.poll(() => prompts().filter(({ status }) => status === 'running').length).toBe(jobIds.length);
    const { pods: scaled } = autoscaler.spec.metrics[0];
    const slots = async () =>
      slotsUsed(await (await fetch(`${first.urlOf('metrics')}/metrics`)).text(), scaled.metric, deployment);
    await expect.poll(slots).toBe(jobIds.length);
    const ended = await first.terminate();
    expect(ended.exitCode, ended.stderr).toBe(0);
    const second = await start('worker');
    for (const { id } of ours()) await release(id);
    for (const id of jobIds) {
      const watched = await second.exec(['jobs', 'watch', id, '--json']);
      expect(reportOf(watched)).toMatchObject({ outcome: 'completed', prompts: [{ result: 'through\n' }] });
    }
    expect(prompts()).toHaveLength(jobIds.length);
  });

  it('a worker that waits for a late answer to a prompt ends within its grace period, and the prompt is sent once', async () => {
    const { start, deployment } = installation();
    const first = await start('worker');
    // The call has a limit of 30 s, and a worker that ends does not cut it: nobody would know whether the prompt was sent.
    const fault = { kind: 'latency', endpoint: 'sendPrompt', ms: 32_000 } as const;
    await arm({ url: service.url, apiKey }, [fault]);
    expect(await first.exec(['run', shell('echo through'), '--id', 'late', '--detach'])).toMatchObject({ exitCode: 0 });
    const isSent = async () => (await armed({ url: service.url, apiKey })).every(({ remaining }) => remaining === 0);
    await expect.poll(isSent).toBe(true);
    const ended = await first.terminate();
    expect(ended.exitCode, ended.stderr).toBe(0);
    const watched = await (await start('worker')).exec(['jobs', 'watch', 'late', '--json']);
    expect(reportOf(watched)).toMatchObject({ outcome: 'completed', prompts: [{ result: 'through\n' }] });
    const ours = service.books.sandboxes().filter(({ name }) => name.startsWith(`sf-${deployment}-`));
    expect(ours.flatMap(({ id }) => service.books.prompts({ sandboxId: id }))).toHaveLength(1);
  });

  it('a bridge that ends under deliveries is no longer ready, and loses none that it accepted', async () => {
    const { start } = installation();
    await start('worker');
    const bridge = await start('bridge');
    const url = bridge.urlOf('webhooks');
    const owners = await Promise.all(
      [1, 2, 3, 4].map(async () => {
        const owned = newOwned();
        await client.workflow.start('waiter', { workflowId: owned.workflowId, taskQueue: 'nobody-polls' });
        return owned;
      }),
    );
    const accepted: string[] = [];
    // Each delivery uses the connection of an earlier one, as those of an Ingress do. They end when the bridge refuses.
    const senders = owners.map(async ({ name }) => {
      for (;;) {
        const body = eventBody({ name });
        const answer = await deliver(url, body, { secret: webhookSecret }).catch(() => undefined);
        if (answer?.status !== 200) return answer?.status;
        accepted.push(body.id);
        await setTimeout(100);
      }
    });
    await expect.poll(() => accepted.length).toBeGreaterThan(20);
    const termination = bridge.terminate();
    await expect.poll(() => bridge.probe('readinessProbe')).toBe(503);
    const before = accepted.length;
    await expect
      .poll(() => accepted.length, { message: 'it serves until the Ingress has heard' })
      .toBeGreaterThan(before + 20);
    const ended = await termination;
    expect(ended.exitCode, ended.stderr).toBe(0);
    expect(await Promise.all(senders), 'until then it accepts each').toEqual(owners.map(() => undefined));
    const kept = await Promise.all(owners.map(({ workflowId }) => signalsTo(workflowId)));
    expect(accepted.filter((id) => !kept.flat().includes(id))).toEqual([]);
    for (const { workflowId } of owners) await client.workflow.getHandle(workflowId).terminate();
  });

  it('a bridge follows a change of its Secret', async () => {
    const { start } = installation();
    await start('worker');
    const bridge = await start('bridge');
    const changed = `whsec_${randomBytes(32).toString('base64')}`;
    const sent = () => deliver(bridge.urlOf('webhooks'), eventBody(), { secret: changed });
    expect(await sent()).toMatchObject({ status: 401 });
    bridge.changeSecret('webhook-secrets', `${changed}\n${webhookSecret}\n`);
    expect(await sent()).toMatchObject({ status: 200 });
  });

  it('the codec server decodes for the token of its Secret', async () => {
    const codecServer = await installation().start('codec-server');
    const call = async (given: string) => {
      const headers = { authorization: `Bearer ${given}`, 'content-type': 'application/json' };
      const [payload] = await codec.encode([defaultPayloadConverter.toPayload('hello')]);
      const body = JSON.stringify({
        payloads: [{ metadata: base64(payload?.metadata ?? {}), ...base64({ data: payload?.data }) }],
      });
      const answer = await fetch(`${codecServer.urlOf('codec')}/decode`, { method: 'POST', headers, body });
      return { status: answer.status, text: await answer.text() };
    };
    expect(await call(token)).toMatchObject({ status: 200, text: expect.stringContaining(btoa('"hello"')) });
    expect(await call('another token')).toMatchObject({ status: 401 });
  });

  /** Lets the agent of a sandbox finish. */
  async function release(sandboxId: string): Promise<void> {
    const answer = await fetch(`${service.url}/sandboxes/${sandboxId}/files`, {
      method: 'PUT',
      headers: { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ path: 'go', content: '' }),
    });
    expect(answer.ok).toBe(true);
  }

  /** The ids of the events in the encrypted signals to a workflow. */
  async function signalsTo(workflowId: string): Promise<string[]> {
    const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
    const sealed = (events ?? []).flatMap(
      ({ workflowExecutionSignaledEventAttributes: signalled }) => signalled?.input?.payloads ?? [],
    );
    const payloads = await codec.decode(sealed);
    return payloads.map((payload) => defaultPayloadConverter.fromPayload<{ id: string }>(payload).id);
  }
});

function base64(fields: Readonly<Record<string, Uint8Array | null | undefined>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, bytes]) => [name, Buffer.from(bytes ?? []).toString('base64')]),
  );
}
