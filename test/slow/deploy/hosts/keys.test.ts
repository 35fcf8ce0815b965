/**
 * The webhook secrets and the keys of two hosts that share Temporal and a bucket, and nothing else. Tier: slow, 110 CPU s.
 */
import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Worker } from '@temporalio/worker';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { parseOwnedSandboxName } from '../../../../src/addresses/addresses.js';
import { newKeyLine } from '../../../../src/encryption/index.js';
import { unencryptedBundle } from '../../../../src/worker/index.js';
import { deliver, eventBody } from '../../../bridge/bridge-harness.js';
import { shell, worksUntilReleased } from '../../../e2e/stack/fixture.js';
import { createTap, type PassedCall } from '../../../e2e/stack/fixture-tap.js';
import { type Host, noHosts } from './host.js';
import { bridgePort, copySecrets, createHosts, type Hosts, secretFile } from './hosts.js';
import type { rotateSecret } from './rotate-secret.js';

/** Puts the secret that a reference names before the newest one of the file, as a timer on each host may. */
const takeFromStore = `
import { renameSync, writeFileSync } from 'node:fs';
import { createSecretStore, readConfig, readKeyRing, readSecrets } from 'file:///app/dist/src/index.js';
const { encryption, secrets, webhookSecretFile: file } = readConfig();
const store = createSecretStore(secrets, { ring: await readKeyRing(encryption.keysFile) });
const [previous] = await readSecrets(file);
writeFileSync(file + '.new', [await store.get(process.argv[1]), previous].join('\\n') + '\\n', { mode: 0o600 });
renameSync(file + '.new', file);
`;

describe.skipIf(noHosts)(
  `the keys of hosts without a common disk${noHosts ? `, skipped because ${noHosts}` : ''}`,
  { timeout: 1_200_000 },
  () => {
    let made: Hosts | string;
    let hosts: Hosts;
    beforeAll(async () => {
      made = await createHosts();
      if (typeof made !== 'string') hosts = made;
    });
    beforeEach((context) => {
      if (typeof made === 'string') context.skip(made);
    });
    afterAll(() => hosts?.close());

    it.each(['host-a', 'host-b'])('doctor finds nothing wrong on %s', async (name) => {
      const { exitCode, stdout } = await doctor(hostNamed(name));
      const { checks } = JSON.parse(stdout);
      expect(exitCode, stdout).toBe(0);
      const found = ['results', 'secrets', 'encryption', 'workers', 'webhook', 'secret', 'bridge'];
      expect(found.map((one) => statusOf(checks, one))).toEqual(found.map(() => 'ok'));
    });

    it.each([
      ['no key ring', '', { secrets: 'would be unencrypted', encryption: 'has no keys' }],
      ['another key ring', newKeyLine('k2'), { encryption: 'is not in the key ring of the deployment' }],
      ['another key of the same name', newKeyLine('k1'), { encryption: 'is not the key of that id' }],
    ])('doctor names what is wrong on a host with %s, and its worker does not start', async (_, ring, wrong) => {
      const { b } = hosts;
      const settings = { SANDFLOW_ENCRYPTION_KEYS_FILE: ring && b.write('other-keys', ring) };
      const { exitCode, stdout } = await doctor(b, settings);
      const checks: readonly Check[] = JSON.parse(stdout).checks;
      expect(exitCode).toBe(1);
      const failed = checks.filter(({ status }) => status === 'failed');
      expect(Object.fromEntries(failed.map(({ name, message }) => [name, message]))).toEqual(
        Object.fromEntries(Object.entries(wrong).map(([name, text]) => [name, expect.stringContaining(text)])),
      );
      const worker = await b.run(['worker'], settings);
      expect(worker).toMatchObject({ exitCode: 2, stderr: expect.stringContaining(Object.values(wrong)[0] ?? '') });
    });

    it('a command that is killed while it rotates the webhook secret is repeated, and no event is lost', async () => {
      const { a, b, third, service, webhookId } = hosts;
      const [before = ''] = secretsOf(a);
      await a.done(['run', worksUntilReleased, '--id', 'during', '--detach']);
      await prompted('during');
      const { cut } = await cutRotation(() => rotating.kill('SIGKILL'));
      const rotating = a.begin(['webhooks', 'rotate', webhookId]);
      await cut;
      await rotating.ended;
      expect(secretsOf(a), 'nobody has read the new secret').toEqual([before]);
      await release('during');
      await expect
        .poll(() => service.books.deliveries().filter(({ status }) => status === 401).length)
        .toBeGreaterThan(0);

      await a.done(['webhooks', 'rotate', webhookId]);
      const [now = ''] = secretsOf(a);
      expect(secretsOf(a)).toEqual([now, before]);
      expect([await accepts(a, now), await accepts(a, before), await accepts(b, now)]).toEqual([200, 200, 401]);
      copySecrets(a, b);
      for (const host of [a, b]) expect([await accepts(host, now), await accepts(host, before)]).toEqual([200, 200]);
      await completed('during');
      await third.done(['run', shell('echo after'), '--id', 'after-command']);
      await allDelivered();
    });

    it('a worker that is killed while it rotates the webhook secret is followed by the other one, and both hosts take the secret from the bucket', async () => {
      const { a, b, third } = hosts;
      const [before = ''] = secretsOf(a);
      await a.done(['run', worksUntilReleased, '--id', 'rotated', '--detach']);
      await prompted('rotated');
      await b.kill('worker');
      const { cut } = await cutRotation(() => a.kill('worker'));
      const rotated = await startRotation();
      await cut;
      await b.start('worker');
      const { secretRef } = await rotated.result();
      for (const host of [a, b]) {
        const { exitCode, stderr } = await host.script(takeFromStore, [secretRef]);
        expect(exitCode, stderr).toBe(0);
      }
      const [now = ''] = secretsOf(a);
      expect(now).not.toBe(before);
      for (const host of [a, b]) {
        expect(secretsOf(host)).toEqual([now, before]);
        expect([await accepts(host, now), await accepts(host, before)]).toEqual([200, 200]);
      }
      await release('rotated');
      await completed('rotated');
      await a.start('worker');
      await third.done(['run', shell('echo after'), '--id', 'after-worker']);
      await allDelivered();
    });

    interface Check {
      readonly name: string;
      readonly status: string;
      readonly message: string;
    }

    const hostNamed = (name: string) => (name === hosts.a.name ? hosts.a : hosts.b);
    const doctor = (host: Host, settings: Readonly<Record<string, string>> = {}) =>
      host.run(['doctor', '--json', '--bridge', `http://127.0.0.1:${bridgePort}`], settings);
    const statusOf = (checks: readonly Check[], name: string) => checks.find((one) => one.name === name)?.status;
    const secretsOf = (host: Host) => host.read(secretFile).trim().split('\n');
    /** The answer of its bridge to a delivery with this secret. */
    const accepts = async (host: Host, secret: string) =>
      (await deliver(`http://${host.address}:${bridgePort}`, eventBody(), { secret })).status;

    /** The service carries out the next rotation, and its answer is lost. @returns a promise of that, and of `kill` */
    async function cutRotation(kill: () => Promise<void>): Promise<{ readonly cut: Promise<void> }> {
      let isCut = () => {};
      const cut = new Promise<void>((resolve) => {
        isCut = resolve;
      });
      let isOver = false;
      const lose = ({ path }: PassedCall) => {
        if (isOver || !path.endsWith('/rotate')) return true;
        isOver = true;
        void kill().then(isCut);
        return false;
      };
      const tap = await createTap(hosts.service.url, lose);
      onTestFinished(async () => {
        hosts.leadServiceTo();
        await tap.close();
      });
      hosts.leadServiceTo(tap.url);
      return { cut };
    }

    async function startRotation() {
      const { temporal, temporalAddress, webhookId } = hosts;
      const workflowsPath = fileURLToPath(new URL('rotate-secret.ts', import.meta.url));
      const logger = new DefaultLogger('WARN');
      const workflowBundle = await bundleWorkflowCode({ ...unencryptedBundle, workflowsPath, logger });
      const connection = await NativeConnection.connect({ address: temporalAddress });
      const { dataConverter } = hosts;
      const taskQueue = 'rotation';
      const worker = await Worker.create({ connection, taskQueue, workflowBundle, dataConverter });
      const running = worker.run();
      onTestFinished(async () => {
        worker.shutdown();
        await running;
        await connection.close();
      });
      const options = { workflowId: 'rotation', taskQueue, args: [webhookId] as [string] };
      return temporal.workflow.start<typeof rotateSecret>('rotateSecret', options);
    }

    const sandboxOf = (jobId: string) =>
      hosts.service.books.sandboxes().find(({ name }) => parseOwnedSandboxName(name)?.jobId === jobId)?.id ?? 'none';
    const prompted = (jobId: string) =>
      expect.poll(() => hosts.service.books.prompts({ sandboxId: sandboxOf(jobId) })[0]?.status).toBe('running');
    /** Lets the agent of a job finish. */
    const release = (jobId: string) => hosts.api.writeFile(sandboxOf(jobId), { path: 'go', content: '' });

    async function completed(jobId: string): Promise<void> {
      const watched = await hosts.third.done(['jobs', 'watch', jobId, '--json']);
      expect(JSON.parse(watched)).toMatchObject({ outcome: 'completed', left: [] });
    }

    /** Each event was accepted by a bridge at last. */
    async function allDelivered(): Promise<void> {
      const { books } = hosts.service;
      await expect.poll(() => books.summary().queuedDeliveries).toBe(0);
      const last = new Map(books.deliveries().map(({ eventId, status }) => [eventId, status]));
      expect(last.size).toBeGreaterThan(0);
      expect([...last.values()].filter((status) => status !== 200)).toEqual([]);
    }
  },
);
