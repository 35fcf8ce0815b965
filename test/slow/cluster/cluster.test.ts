/**
 * sandflow on Temporal's server in its four roles over PostgreSQL, each a process. Skipped where PostgreSQL or Temporal's
 * server cannot be had; the first run may build the latter for minutes. Tier: slow, some minutes of two cores each.
 */
import { beforeAll, describe, expect, it, onTestFinished, type TestContext, vi } from 'vitest';
import { unguessableLoopback } from '../../../src/os/free-port.js';
import type { Started } from '../../e2e/cli/program.js';
import { patient } from '../../e2e/stack/fixture.js';
import { createParts } from '../../e2e/stack/fixture-parts.js';
import { missingForAuthority } from '../../setup/private-ca.js';
import { serveApiKeys } from './api-keys.js';
import { createClusterCertificates } from './certificates.js';
import { type Cluster, type ClusterOptions, type Role, roles, startCluster } from './cluster.js';
import { createNamespace } from './namespace.js';
import { type Happening, playNight } from './night.js';
import { type ClusterPrograms, findClusterPrograms } from './programs.js';

const long = { timeout: 3_600_000 };
type Values = Readonly<Record<string, string>>;

let programs: ClusterPrograms | string;
beforeAll(async () => {
  programs = await findClusterPrograms();
}, 3_600_000);

interface StandOptions extends ClusterOptions {
  readonly namespace?: string;
  /** How sandflow reaches the cluster now. */
  readonly ofClients?: () => Values;
  /** How its administrator does. Default: the same. */
  readonly ofAdministrator?: Values;
}

/** A cluster with its namespace, two workers and a bridge. */
async function createStand(context: TestContext, options: StandOptions) {
  const { namespace = 'default', ofClients = () => ({}), ofAdministrator = ofClients() } = options;
  if (typeof programs === 'string') return context.skip(programs);
  const cluster = await startCluster(programs, options);
  onTestFinished(() => cluster.stop());
  const address = { TEMPORAL_ADDRESS: cluster.address, TEMPORAL_NAMESPACE: namespace };
  await createNamespace(namespace, { ...address, ...ofAdministrator });
  const parts = await createParts(() => ({ ...address, ...ofClients() }));
  onTestFinished(() => parts.close());
  onTestFinished(({ task: { result } }) => {
    if (result?.state === 'fail') process.stderr.write(`${cluster.said()}\n${parts.cli.said()}\n`);
  });
  const service = await parts.startService('service', {
    isolation: 'plain',
    timings: { bootMs: 100, archiveMs: 100 },
  });
  const settings = () => parts.environment(service, 'night');
  const workers: Started[] = [await parts.startWorker(settings()), await parts.startWorker(settings())];
  return {
    cluster,
    parts,
    service,
    /** Replaces each worker and the bridge by one with the present settings, as a deployment does. */
    async roll() {
      for (const [at, worker] of workers.entries()) {
        worker.process.kill('SIGTERM');
        expect((await worker.ended).exitCode, worker.stderr()).toBe(0);
        workers[at] = await parts.startWorker(settings());
      }
      await parts.killBridge('SIGTERM');
      await parts.startBridge();
    },
    /** Resolves once a command with these settings is accepted, or refused with these words. */
    async until(answer: 'accepted' | RegExp, own: Values = {}) {
      const env = { ...settings(), SANDFLOW_PATIENCE_SECONDS: '1', ...own };
      const ask = async () => {
        const { exitCode, stderr } = await parts.cli.run(['jobs', 'list'], env);
        if (answer === 'accepted') expect(exitCode, stderr).toBe(0);
        else expect({ exitCode, stderr }).toMatchObject({ exitCode: 3, stderr: expect.stringMatching(answer) });
      };
      await vi.waitFor(ask, patient);
    },
  };
}

const restart = (cluster: Cluster, role: Role, signal: 'SIGTERM' | 'SIGKILL' = 'SIGTERM'): Happening => [
  `${signal} of ${role}`,
  () => cluster.restart(role, signal),
];

describe('a night of jobs, a batch and a cleanup loses, doubles and leaves nothing', () => {
  it('while each role and PostgreSQL end and start again', long, async (context) => {
    const { cluster, parts, service } = await createStand(context, { host: await unguessableLoopback() });
    const events = [
      ...roles.flatMap((role) => [restart(cluster, role), restart(cluster, role, 'SIGKILL')]),
      ...(['fast', 'immediate'] as const).map(
        (mode): Happening => [`${mode} restart of PostgreSQL`, () => cluster.restartDatabase(mode)],
      ),
    ];
    await playNight({ parts, service, events, isFollowed: true });
  });

  it('over client certificates, while all of them are replaced', long, async (context) => {
    const missing = missingForAuthority();
    if (missing) return context.skip(missing);
    const host = await unguessableLoopback();
    const certificates = createClusterCertificates(host);
    onTestFinished(() => certificates.close());
    const { ofClients, ofCluster, ofFirstClient } = certificates;
    const stand = await createStand(context, { host, settings: ofCluster, ofClients: () => ofClients });
    const { cluster, parts, service, roll, until } = stand;
    await until(/TEMPORAL_TLS/, { TEMPORAL_TLS_CLIENT_CERT_PATH: '', TEMPORAL_TLS_CLIENT_KEY_PATH: '' });
    await playNight({
      parts,
      service,
      isFollowed: false,
      events: [
        ['new certificates of the roles', async () => certificates.replaceServers()],
        restart(cluster, 'frontend'),
        [
          'two authorities of clients, and new workers with new certificates',
          async () => {
            certificates.acceptBoth();
            certificates.replaceClients();
            await until('accepted');
            await roll();
          },
        ],
        [
          'a frontend that refuses the first authority',
          async () => {
            certificates.refuseFirst();
            await cluster.restart('frontend', 'SIGTERM');
            await until(/TEMPORAL_TLS/, ofFirstClient);
          },
        ],
        ...roles.filter((role) => role !== 'frontend').map((role) => restart(cluster, role)),
      ],
    });
  });

  it('with an API key over TLS, as in Temporal Cloud, while the key is replaced', long, async (context) => {
    const missing = missingForAuthority();
    if (missing) return context.skip(missing);
    const host = await unguessableLoopback();
    const certificates = createClusterCertificates(host);
    onTestFinished(() => certificates.close());
    const keys = await serveApiKeys(host);
    onTestFinished(() => keys.close());
    const namespace = 'night.a1b2c';
    const withKey = (key: string) => ({ ...certificates.ofTrust, TEMPORAL_API_KEY: key });
    const first = withKey(keys.issue('first', `${namespace}:write`));
    const second = withKey(keys.issue('second', `${namespace}:write`));
    let ofClients = first;
    const stand = await createStand(context, {
      host,
      settings: { ...keys.ofCluster, ...certificates.ofFrontend },
      namespace,
      ofClients: () => ofClients,
      ofAdministrator: withKey(keys.issue('administrator', 'temporal-system:admin')),
    });
    const { cluster, parts, service, roll, until } = stand;
    await until(/check TEMPORAL_API_KEY/, withKey(keys.issue('other', 'other.a1b2c:write')));
    await until(/check TEMPORAL_API_KEY/, { TEMPORAL_API_KEY: '', TEMPORAL_TLS: 'true' });
    await playNight({
      parts,
      service,
      isFollowed: false,
      events: [
        [
          'new workers with a second key',
          async () => {
            await until('accepted', second);
            ofClients = second;
            await roll();
          },
        ],
        [
          'the end of the first key',
          async () => {
            keys.revoke('first');
            await until(/check TEMPORAL_API_KEY/, first);
          },
        ],
        ...roles.map((role) => restart(cluster, role)),
      ],
    });
  });
});
