/**
 * Two hosts with a worker and a bridge each, and a third for people. They share Temporal, the service and a bucket, which run on this
 * machine and listen on loopback: at the gateway of each host, ports lead there. The service delivers to one address, which leads to both
 * bridges in turn, as a balancer without checks does. So each event may come to either, both must have every secret, and the repetition
 * of a delivery comes to the other one. With a registration for each bridge, each would have a secret of its own, and every event come twice.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Client } from '@temporalio/client';
import type { DataConverter } from '@temporalio/common';
import { createLocalService, type LocalService } from '../../../../local-service/src/index.js';
import { createSandboxClient, type SandboxClient } from '../../../../src/client/index.js';
import { readConfig } from '../../../../src/config.js';
import { createPayloadCodec, newKeyLine, parseKeyRing } from '../../../../src/encryption/index.js';
import { connectTemporal } from '../../../../src/temporal/connect.js';
import { startEmbeddedServer } from '../../../../src/temporal-server/embedded.js';
import { findTemporalServer } from '../../../../src/temporal-server/find.js';
import { testKey } from '../../../unit/s3/aws-settings.js';
import { startSeaweed } from '../../unit/s3/seaweed.js';
import type { Contained } from '../pod.js';
import { createHost, type Host } from './host.js';
import { alternate, forward } from './links.js';

export const deployment = 'two';
/** In a bucket of the server. */
const stores = 's3://results/hosts';
const ports = { temporal: 7233, service: 7391, bucket: 8333 } as const;
export const bridgePort = 7392;

const parts = {
  worker: ['worker'],
  bridge: ['bridge', '--host', '0.0.0.0', '--port', `${bridgePort}`, '--drain', '0s'],
} as const;
type Part = keyof typeof parts;

export interface WorkingHost extends Host {
  start(part: Part): Promise<void>;
  /** With SIGKILL. */
  kill(part: Part): Promise<void>;
}

export interface Hosts {
  readonly a: WorkingHost;
  readonly b: WorkingHost;
  /** Has neither worker nor bridge. */
  readonly third: Host;
  readonly service: LocalService;
  readonly api: SandboxClient;
  readonly temporalAddress: string;
  /** That of the workers. */
  readonly dataConverter: DataConverter;
  readonly temporal: Client;
  readonly webhookId: string;
  /** From now on the hosts call the service at this URL. Default: its own. */
  leadServiceTo(url?: string): void;
  close(): Promise<void>;
}

/**
 * Starts all of it, with both workers and both bridges.
 * @returns why it cannot be had, if the server of the bucket is neither here nor to be downloaded
 */
export async function createHosts(): Promise<Hosts | string> {
  const closing: (() => unknown)[] = [];
  const close = async () => {
    for (const end of closing.splice(0).reverse()) await end();
  };
  const keep = <T extends { close(): unknown }>(opened: T): T => {
    closing.push(() => opened.close());
    return opened;
  };
  try {
    return { ...(await start(keep)), close };
  } catch (error) {
    await close();
    if (error instanceof Error && 'cmd' in error && String(error.cmd).includes('seaweedfs')) {
      return 'SeaweedFS cannot be downloaded';
    }
    throw error;
  }
}

async function start(keep: <T extends { close(): unknown }>(opened: T) => T): Promise<Omit<Hosts, 'close'>> {
  const folder = mkdtempSync(join(tmpdir(), 'sandflow-hosts-'));
  keep({ close: () => rmSync(folder, { recursive: true, force: true }) });
  const bucket = keep(await startSeaweed());
  const binary = await findTemporalServer({ cacheDirectory: readConfig().cacheDirectory });
  const server = await startEmbeddedServer({ binary, logFile: join(folder, 'temporal.log') });
  keep({ close: () => server.stop() });
  const apiKey = 'sk_of_the_hosts_0123456789';
  const service = keep(
    await createLocalService({
      directory: join(folder, 'service'),
      apiKey,
      isolation: 'plain',
      faultsEnabled: true,
      timings: { bootMs: 100, archiveMs: 100, hydrationMs: 100, deleteMs: 2_000 },
    }),
  );
  await service.listen();
  const api = keep(createSandboxClient({ baseUrl: service.url, apiKey }));

  const keyLine = newKeyLine('k1');
  const settings = (gateway: string) => ({
    TEMPORAL_ADDRESS: `${gateway}:${ports.temporal}`,
    SANDBOX_API_URL: `http://${gateway}:${ports.service}/v1`,
    SANDBOX_API_ALLOW_HTTP: 'true',
    SANDBOX_API_KEY: apiKey,
    SANDFLOW_DEPLOYMENT: deployment,
    SANDFLOW_RESULTS: stores,
    SANDFLOW_SECRETS: stores,
    SANDFLOW_ENCRYPTION_KEYS_FILE: '/srv/host/keys',
    AWS_ENDPOINT_URL_S3: `http://${gateway}:${ports.bucket}`,
    AWS_REGION: 'us-east-1',
    AWS_ACCESS_KEY_ID: testKey.id,
    AWS_SECRET_ACCESS_KEY: testKey.secret,
  });
  let serviceUrl = service.url;
  const hosts: Host[] = [];
  const toService: { cut(): void }[] = [];
  for (const [at, name] of ['host-a', 'host-b', 'third'].entries()) {
    const host = keep(await createHost({ name, uid: 20_101 + at, below: folder, settings }));
    host.write('keys', keyLine);
    for (const [port, url] of [
      [ports.temporal, () => `http://${server.address}`],
      [ports.service, () => serviceUrl],
      [ports.bucket, () => bucket.endpoint],
    ] as const) {
      const led = keep(await forward({ host: host.gateway, port }, url));
      if (port === ports.service) toService.push(led);
    }
    hosts.push(host);
  }
  const [a, b, third] = hosts as [Host, Host, Host];
  const balancer = keep(await alternate([a, b].map(({ address }) => ({ host: address, port: bridgePort }))));
  // The address is of this machine, so the test delivery cannot come from a host.
  const connect = ['webhooks', 'connect', '--no-test', '--json', '--url', `${balancer.url}/webhooks/sandbox`];
  const { webhookId } = JSON.parse(await a.done(connect));
  copySecrets(a, b);
  const working = [a, b].map(withParts) as [WorkingHost, WorkingHost];
  // A bridge waits for the keys of a worker.
  for (const host of working) {
    await host.start('worker');
    await host.start('bridge');
  }
  const dataConverter = { payloadCodecs: [createPayloadCodec(parseKeyRing(keyLine))] };
  const temporal = await connectTemporal({ address: server.address }, { dataConverter });
  keep({ close: () => temporal.connection.close() });
  return {
    ...{ a: working[0], b: working[1], third, service, api, webhookId },
    ...{ temporal, temporalAddress: server.address, dataConverter },
    leadServiceTo(url = service.url) {
      serviceUrl = url;
      for (const { cut } of toService) cut();
    },
  };
}

export const secretFile = 'state/webhook-secrets';

/** As an operator copies the file of webhook secrets from one host to another. */
export function copySecrets(from: Host, to: Host): void {
  to.write(secretFile, from.read(secretFile));
}

function withParts(host: Host): WorkingHost {
  const running = new Map<Part, Contained>();
  return {
    ...host,
    async start(part) {
      running.set(part, await host.serve(parts[part]));
    },
    async kill(part) {
      await running.get(part)?.kill('SIGKILL');
      await running.get(part)?.ended;
      running.delete(part);
    },
  };
}
